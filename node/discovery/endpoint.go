package discovery

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Endpoint is one way to reach a node.
type Endpoint struct {
	Protocol string // its name; "": the one that all nodes speak, Erlang's by default
	Addr     string // host:port; without a host, the one in the node's name
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
		return Endpoint{}, fmt.Errorf("discovery: endpoint %q: want HOST:PORT or PROTOCOL://HOST:PORT: %w", s, err)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return Endpoint{}, fmt.Errorf("discovery: endpoint %q: %q is not a port", s, port)
	}
	if ok && protocol == "" {
		return Endpoint{}, fmt.Errorf("discovery: endpoint %q: the protocol before :// is missing", s)
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

// port returns the port of e, or 0 if it has none.
func (e Endpoint) port() uint16 {
	_, port, err := net.SplitHostPort(e.Addr)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseUint(port, 10, 16)
	return uint16(n)
}
