package discovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/actornode/actornode/wire"
)

// Static finds nodes without EPMD: at addresses that are known beforehand. Its zero value finds none. It must not be
// changed while it is in use.
type Static struct {
	// Nodes says where some nodes are.
	Nodes map[wire.Atom][]Endpoint
	// Port is the port of all other nodes, each on the host in its name. Set it, and node.Distribution.Listen to the
	// same port, where OTP nodes have -erl_epmd_port or releases ERL_DIST_PORT: each host then has one node. 0: there
	// are no others.
	Port int
	// Protocol is the protocol at Port. Default: what all nodes speak.
	Protocol string
	// Next is asked for nodes that Nodes and Port do not give, and told of this one: a node may know some peers and
	// find others through EPMD. Nil: nobody.
	Next Finder
}

// ErrUnknownNode says that the address of a node is unknown.
var ErrUnknownNode = errors.New("discovery: address unknown")

// Find is part of Finder.
func (s *Static) Find(ctx context.Context, name wire.Atom) ([]Endpoint, error) {
	_, host, ok := strings.Cut(string(name), "@")
	if !ok || host == "" {
		return nil, fmt.Errorf("discovery: cannot find %s: not a node name, want name@host", name)
	}
	if known, ok := s.Nodes[name]; ok {
		all := make([]Endpoint, len(known))
		for i, e := range known {
			var err error
			if all[i], err = e.at(host); err != nil {
				return nil, fmt.Errorf("discovery: cannot find %s: %w", name, err)
			}
		}
		return all, nil
	}
	switch {
	case s.Port != 0:
		return []Endpoint{{s.Protocol, net.JoinHostPort(host, strconv.Itoa(s.Port))}}, nil
	case s.Next != nil:
		return s.Next.Find(ctx, name)
	}
	return nil, fmt.Errorf("%w: %s", ErrUnknownNode, name)
}

// Announce is part of Finder. It tells nobody but Next.
func (s *Static) Announce(ctx context.Context, a Announcement) (stop func(), err error) {
	if s.Next != nil {
		return s.Next.Announce(ctx, a)
	}
	return func() {}, nil
}

// List is part of Lister: the nodes of Nodes, and what Next lists.
func (s *Static) List(ctx context.Context) ([]wire.Atom, error) {
	if s.Next == nil {
		return slices.Sorted(maps.Keys(s.Nodes)), nil
	}
	return chain{&Static{Nodes: s.Nodes}, s.Next}.List(ctx)
}

// Watch is part of Watcher: only the list of Next changes.
func (s *Static) Watch(changed func()) (stop func()) { return watchOf(s.Next, changed) }
