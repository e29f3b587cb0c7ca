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
	Protocols []dist.Protocol   // the preferred one first; the last is the one that all nodes support
	Listen    string            // host:port for the last of them, or "-" for nowhere, except those of Listeners
	Listeners map[string]string // for other protocols, by name
}

// Check returns an error if an address belongs to no protocol, or a protocol is listed twice.
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

// Of returns the listen address of p, or "-" for nowhere.
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

// firstStep is the time within which a peer must send its name if the connect timeout has its default; it scales with that.
// Over TLS, whose handshake comes first and takes as long as the machine needs, it is the connect timeout.
const firstStep = 2 * time.Second

// FirstStep returns the time within which a peer must send its name, for the timeout connect, whose default is usual.
func FirstStep(t dist.Transport, connect, usual time.Duration) time.Duration {
	if encrypts(t) {
		return connect
	}
	return max(firstStep, time.Duration(float64(connect)*float64(firstStep)/float64(usual)))
}
