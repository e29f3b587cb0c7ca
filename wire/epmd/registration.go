package epmd

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// NodeType says what kind of node a registration is of.
type NodeType byte

const (
	Visible NodeType = 77 // an ordinary node; what every erl sends, hidden or not
	Hidden  NodeType = 72 // a C node or other library that is not part of the mesh
)

// Version is the version of the distribution protocol since OTP 23. A port
// mapper gives 32-bit creations to nodes that know it, 2-bit ones to others.
const Version = 6

// Sizes that a port mapper accepts (measured at OTP 25) and [Server] with it.
const (
	MaxNameRunes = 255  // of a name, in characters
	MaxName      = 1020 // of a name, in bytes
	MaxExtra     = 1020 // of a registration's extra, in bytes
	MaxRequest   = 3057 // of a request, in bytes, its length field not counted
)

// maxFrame is the longest request that the length field can say.
const maxFrame = 1<<16 - 1

// Registration is what a port mapper knows of a live node.
//
// In a request (after its tag) and in an answer to [OpPort] (before it, after
// tag and result) it is laid out as
//
//	2     1     1         2        2       2     Nlen  2     Elen
//	Port  Type  Protocol  Highest  Lowest  Nlen  Name  Elen  Extra
//
// but for the Name, which comes as is in both.
type Registration struct {
	Name     string   // the node's name before the @, UTF-8
	Port     uint16   // where the node listens for distribution, TCP
	Type     NodeType // Client.Register sends Visible for 0
	Protocol byte     // 0 is TCP over IPv4 or IPv6, and the only one known
	Highest  uint16   // highest distribution version; Client.Register sends Version if both are 0
	Lowest   uint16   // lowest distribution version
	Extra    []byte   // for others to read in Lookup; real port mappers take at most MaxExtra bytes

	// Creation tells this life of the node from others of its name. It is not
	// sent: the port mapper answers a registration with one. Where it is not 0
	// when a registration is asked for, the caller has chosen its own and the one
	// in the answer is ignored. It is 0 in what Lookup returns.
	Creation uint32
}

// regFixed is the size of a registration without name and extra.
const regFixed = 2 + 1 + 1 + 2 + 2 + 2 + 2

func (r Registration) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, r.Port)
	b = append(b, byte(r.Type), r.Protocol)
	b = binary.BigEndian.AppendUint16(b, r.Highest)
	b = binary.BigEndian.AppendUint16(b, r.Lowest)
	b = binary.BigEndian.AppendUint16(b, uint16(len(r.Name)))
	b = append(b, r.Name...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(r.Extra)))
	return append(b, r.Extra...)
}

// parseRegistration reads a registration off the front of b and returns the
// rest. All that can be wrong with it here is that b is too short.
func parseRegistration(b []byte) (r Registration, rest []byte, err error) {
	const head = regFixed - 2
	if len(b) < head {
		return r, b, ErrShort
	}
	name := int(binary.BigEndian.Uint16(b[8:]))
	if len(b) < regFixed+name {
		return r, b, ErrShort
	}
	extra := int(binary.BigEndian.Uint16(b[head+name:]))
	if len(b) < regFixed+name+extra {
		return r, b, ErrShort
	}
	r = Registration{
		Name:     string(b[head : head+name]),
		Port:     binary.BigEndian.Uint16(b),
		Type:     NodeType(b[2]),
		Protocol: b[3],
		Highest:  binary.BigEndian.Uint16(b[4:]),
		Lowest:   binary.BigEndian.Uint16(b[6:]),
	}
	rest = b[regFixed+name:]
	if extra > 0 {
		r.Extra = slices.Clone(rest[:extra])
	}
	return r, rest[extra:], nil
}

// wide reports whether the node gets a 32-bit creation in an ALIVE2_X_RESP.
func (r Registration) wide() bool { return r.Highest >= Version }

// withDefaults fills in what a zero field stands for in Client.Register.
func (r Registration) withDefaults() Registration {
	if r.Type == 0 {
		r.Type = Visible
	}
	if r.Highest == 0 && r.Lowest == 0 {
		r.Highest, r.Lowest = Version, Version
	}
	r.Extra = slices.Clone(r.Extra)
	return r
}

// checkName returns ErrName if no port mapper would take name.
func checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: the name is empty", ErrName)
	case strings.ContainsRune(name, 0) || strings.ContainsRune(name, '\n') || strings.ContainsRune(name, '@'):
		return fmt.Errorf("%w: %q contains NUL, newline or @", ErrName, name)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: %q is not UTF-8", ErrName, name)
	case utf8.RuneCountInString(name) > MaxNameRunes:
		return fmt.Errorf("%w: longer than %d characters", ErrName, MaxNameRunes)
	}
	return nil
}
