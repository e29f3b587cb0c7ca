package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Static finds nodes without EPMD: at places that are known beforehand. Its zero
// value finds none. It must not be changed while it is in use.
type Static struct {
	// Nodes says where some nodes are: host:port. Without a host (":4370") it is
	// that of the node's name.
	Nodes map[Atom]string
	// Port is that of all other nodes, each at the host of its name. Set it, and
	// Distribution.Listen to the same port, where OTP nodes have -erl_epmd_port or
	// releases ERL_DIST_PORT: one node a host, then. 0: there are no others.
	Port int
	// Next is asked for nodes that are not found so, and told of this one: a node
	// may know some peers and find others through EPMD. Nil: nobody.
	Next Finder
}

// ErrUnknownNode says that nothing is known of where a node is.
var ErrUnknownNode = errors.New("node: nothing says where it is")

// Find is part of Finder.
func (s *Static) Find(ctx context.Context, name Atom) (string, error) {
	_, nameHost, ok := strings.Cut(string(name), "@")
	if !ok || nameHost == "" {
		return "", fmt.Errorf("node: cannot find %s: it is no name of a node, name@host", name)
	}
	if addr, ok := s.Nodes[name]; ok {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			return "", fmt.Errorf("node: cannot find %s: %w", name, err)
		}
		if host == "" {
			host = nameHost
		}
		return net.JoinHostPort(host, port), nil
	}
	switch {
	case s.Port != 0:
		return net.JoinHostPort(nameHost, strconv.Itoa(s.Port)), nil
	case s.Next != nil:
		return s.Next.Find(ctx, name)
	}
	return "", fmt.Errorf("%w: %s", ErrUnknownNode, name)
}

// Announce is part of Finder. It tells nobody but Next.
func (s *Static) Announce(ctx context.Context, name Atom, port int, creation uint32) (stop func(), err error) {
	if s.Next != nil {
		return s.Next.Announce(ctx, name, port, creation)
	}
	return func() {}, nil
}

// portOf returns the port of a listener's address; 0: it has none, and what is
// announced is the name alone.
func portOf(a net.Addr) int {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.Port
	}
	return 0
}
