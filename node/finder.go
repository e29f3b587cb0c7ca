package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Finder finds nodes.
type Finder interface {
	// Find returns the ways to reach a node, at least one, in no particular order.
	Find(ctx context.Context, name Atom) ([]Endpoint, error)
	// Announce makes a node known until stop is called, which waits for what it has
	// to. ctx bounds the first attempt only.
	Announce(ctx context.Context, me Announcement) (stop func(), err error)
}

// Announcement is what a node has others know of it.
type Announcement struct {
	Name      Atom
	Creation  uint32
	Endpoints []Endpoint // by the addresses of its listeners: an unspecified host (0.0.0.0, ::) is all of them
}

// Endpoint is one way to reach a node.
type Endpoint struct {
	Protocol string // its name; "": the one that all nodes speak, Erlang's by default
	Addr     string // host:port; without a host, that of the node's name
}

// String returns what [ParseEndpoint] reads.
func (e Endpoint) String() string {
	if e.Protocol == "" {
		return e.Addr
	}
	return e.Protocol + "://" + e.Addr
}

// ParseEndpoint reads HOST:PORT, :PORT or either after PROTOCOL://.
func ParseEndpoint(s string) (Endpoint, error) {
	protocol, addr, ok := strings.Cut(s, "://")
	if !ok {
		protocol, addr = "", s
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return Endpoint{}, fmt.Errorf("node: endpoint %q: want HOST:PORT or PROTOCOL://HOST:PORT: %w", s, err)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return Endpoint{}, fmt.Errorf("node: endpoint %q: %q is not a port", s, port)
	}
	if ok && protocol == "" {
		return Endpoint{}, fmt.Errorf("node: endpoint %q: the protocol before :// is missing", s)
	}
	return Endpoint{protocol, addr}, nil
}

// at returns e with the host filled in.
func (e Endpoint) at(host string) (Endpoint, error) {
	h, port, err := net.SplitHostPort(e.Addr)
	if err != nil {
		return e, err
	}
	if h == "" {
		e.Addr = net.JoinHostPort(host, port)
	}
	return e, nil
}

// port returns the port of e, 0: it has none.
func (e Endpoint) port() uint16 {
	_, port, err := net.SplitHostPort(e.Addr)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseUint(port, 10, 16)
	return uint16(n)
}

// Static finds nodes without EPMD: at places that are known beforehand. Its zero
// value finds none. It must not be changed while it is in use.
type Static struct {
	// Nodes says where some nodes are.
	Nodes map[Atom][]Endpoint
	// Port is that of all other nodes, each at the host of its name. Set it, and
	// Distribution.Listen to the same port, where OTP nodes have -erl_epmd_port or
	// releases ERL_DIST_PORT: one node a host, then. 0: there are no others.
	Port int
	// Protocol is what they speak there. Default: what all nodes speak.
	Protocol string
	// Next is asked for nodes that are not found so, and told of this one: a node
	// may know some peers and find others through EPMD. Nil: nobody.
	Next Finder
}

// ErrUnknownNode says that nothing is known of where a node is.
var ErrUnknownNode = errors.New("node: address unknown")

// Find is part of Finder.
func (s *Static) Find(ctx context.Context, name Atom) ([]Endpoint, error) {
	_, host, ok := strings.Cut(string(name), "@")
	if !ok || host == "" {
		return nil, fmt.Errorf("node: cannot find %s: not a node name, want name@host", name)
	}
	if known, ok := s.Nodes[name]; ok {
		all := make([]Endpoint, len(known))
		for i, e := range known {
			var err error
			if all[i], err = e.at(host); err != nil {
				return nil, fmt.Errorf("node: cannot find %s: %w", name, err)
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
