package peers

import (
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/actornode/actornode/wire/dist"
)

// Addresses says where a node listens for each of its protocols.
type Addresses struct {
	Protocols []dist.Protocol   // the preferred one first; the last is the one that all nodes speak
	Listen    string            // host:port for the last of them; "-": nowhere, but for those of Listeners
	Listeners map[string]string // for others, by the name of the protocol
}

// Check reports an address that belongs to no protocol, and a protocol that is there twice.
func (a Addresses) Check() error {
	var names []string
	for _, p := range a.Protocols {
		if slices.Contains(names, p.Name()) {
			return fmt.Errorf("node: Distribution.Protocols lists %s twice", p.Name())
		}
		names = append(names, p.Name())
	}
	for name := range a.Listeners {
		if !slices.Contains(names, name) {
			return fmt.Errorf("node: Distribution.Listeners has an address for %q, which is not one of Distribution.Protocols: %q", name,
				names)
		}
	}
	return nil
}

// Of returns where a protocol is listened for, "-": nowhere.
func (a Addresses) Of(p dist.Protocol) (string, error) {
	if addr := a.Listeners[p.Name()]; addr != "" {
		return addr, nil
	}
	if p == a.Protocols[len(a.Protocols)-1] || a.Listen == "-" {
		return a.Listen, nil
	}
	host, _, err := net.SplitHostPort(a.Listen)
	if err != nil {
		return "", fmt.Errorf("node: Distribution.Listen %q: want host:port: %w", a.Listen, err)
	}
	return net.JoinHostPort(host, "0"), nil
}

// firstStep is how long a peer may take to say its name, if the time for a connection has its
// default; it grows with that. Over TLS, whose handshake comes before and takes what the machine
// takes for it, it is the time for a connection.
const firstStep = 2 * time.Second

// FirstStep returns it, for connections that may take connect, which is usual by default.
func FirstStep(t dist.Transport, connect, usual time.Duration) time.Duration {
	if encrypts(t) {
		return connect
	}
	return max(firstStep, time.Duration(float64(connect)*float64(firstStep)/float64(usual)))
}
