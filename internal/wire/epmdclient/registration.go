package epmdclient

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/actornode/actornode/internal/wire/epmdserver"
)

// ErrName means that no node can have this name.
var ErrName = errors.New("epmd: invalid node name")

// errHungUp means that the port mapper closed the connection without an answer, as it does for requests that it does not
// understand or allow.
var errHungUp = errors.New("epmd: the connection was closed without an answer")

// Registration is a port mapper's record of a live node.
type Registration struct {
	Name     string // the node's name before the @: UTF-8, 1 to 255 characters
	Port     uint16 // where the node listens for distribution, TCP
	Hidden   bool   // a C node or other library that is not part of the mesh; never set by erl
	Protocol byte   // 0 is TCP over IPv4 or IPv6, and the only one known
	Highest  uint16 // highest version of the distribution protocol; 6 is registered if both are 0
	Lowest   uint16 // lowest version
	Extra    []byte // for others to read in Lookup; real port mappers take at most 1,020 bytes

	// Creation distinguishes this incarnation of the node from others of its name. It is not
	// sent: the port mapper answers a registration with one. If it is not 0 in a request for a registration, the caller has
	// chosen its own and the one in the answer is ignored. It is 0 in the result of Lookup.
	Creation uint32
}

// Entry is a live node in a list of names.
type Entry struct {
	Name string
	Port uint16
}

// withDefaults fills in the defaults of Client.Register.
func (r Registration) withDefaults() Registration {
	if r.Highest == 0 && r.Lowest == 0 {
		r.Highest, r.Lowest = epmdserver.Version, epmdserver.Version
	}
	r.Extra = slices.Clone(r.Extra)
	return r
}

// message returns r as it is sent.
func (r Registration) message() epmdserver.Registration {
	kind := epmdserver.Visible
	if r.Hidden {
		kind = epmdserver.Hidden
	}
	return epmdserver.Registration{Name: r.Name, Port: r.Port, Type: kind, Protocol: r.Protocol,
		Highest: r.Highest, Lowest: r.Lowest, Extra: r.Extra}
}

// received is the reverse of message.
func received(r epmdserver.Registration) Registration {
	return Registration{Name: r.Name, Port: r.Port, Hidden: r.Type == epmdserver.Hidden, Protocol: r.Protocol,
		Highest: r.Highest, Lowest: r.Lowest, Extra: r.Extra}
}

// checkName returns ErrName if no port mapper would accept name.
func checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: the name is empty", ErrName)
	case strings.ContainsRune(name, 0) || strings.ContainsRune(name, '\n') || strings.ContainsRune(name, '@'):
		return fmt.Errorf("%w: %q contains NUL, newline or @", ErrName, name)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: %q is not UTF-8", ErrName, name)
	case utf8.RuneCountInString(name) > epmdserver.MaxNameRunes:
		return fmt.Errorf("%w: longer than %d characters", ErrName, epmdserver.MaxNameRunes)
	}
	return nil
}
