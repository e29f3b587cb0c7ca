package node

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/epmd"
	"github.com/actornode/actornode/wire/erldist"
	"github.com/actornode/actornode/wire/etf"
)

// defaults fills in the concrete protocol and the way to find nodes. Nowhere else
// are they named.
func (d *Distribution) defaults() {
	if len(d.Protocols) == 0 {
		d.Protocols = []wire.Protocol{&erldist.Protocol{Foreign: foreignTerm}}
	}
	if d.Finder == nil {
		d.Finder = &EPMD{}
	}
	if d.Transport == nil {
		d.Transport = wire.TCP{}
	}
}

// EPMD finds nodes as Erlang does: by the port mapper of their hosts. The zero
// value works.
type EPMD struct {
	// Config of the port mapper's client. Default: port 4369, on each node's host.
	Config epmd.Config
}

// Find is part of Finder.
func (e *EPMD) Find(ctx context.Context, name Atom) (string, error) {
	c, err := epmd.NewClient(e.Config)
	if err != nil {
		return "", err
	}
	alive, host, _ := strings.Cut(string(name), "@")
	r, err := c.Lookup(ctx, host, alive)
	if err != nil {
		return "", fmt.Errorf("node: cannot find %s: %w", name, err)
	}
	return net.JoinHostPort(host, strconv.Itoa(int(r.Port))), nil
}

// Announce is part of Finder. If no port mapper answers on this host, this node
// is one from now on. As erl does, it announces hidden nodes like others: who is
// hidden is said in the handshake.
func (e *EPMD) Announce(ctx context.Context, name Atom, port int, creation uint32) (stop func(), err error) {
	c, err := epmd.NewClient(e.Config)
	if err != nil {
		return nil, err
	}
	alive, _, _ := strings.Cut(string(name), "@")
	k, err := c.Keep(ctx, epmd.Registration{Name: alive, Port: uint16(port), Highest: 6, Lowest: 6, Creation: creation})
	if err != nil {
		return nil, err
	}
	return k.Stop, nil
}

// foreignTerm is what stands for a Go value on the wire that is no term: what its
// type says of itself, see package etf.
func foreignTerm(v any) (any, error) { return etf.ToTerm(v) }

// convert reads a term into a Go value, as the value's type and tags say; see
// package etf.
func convert(term, into any) error { return etf.FromTerm(term, into) }
