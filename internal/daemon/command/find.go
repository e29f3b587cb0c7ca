package command

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/actornode/actornode/internal/wire/epmdclient"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire/epmd"
)

// defaultNode is the target if nothing else is known.
const defaultNode = "go@127.0.0.1"

// soleNode returns the name of the default target on this host.
func (c *client) soleNode(ctx context.Context, env environment, mapper epmd.Config) (string, error) {
	port, _ := env.lookup("ERL_DIST_PORT")
	switch {
	case len(c.peers) == 1:
		name, _, err := parsePeer(c.peers[0])
		return string(name), err
	case c.noEPMD || port != "" || len(c.peers) > 0:
		return defaultNode, nil
	}
	names, err := mappedNames(ctx, mapper)
	if err != nil && !errors.Is(err, epmd.ErrUnreachable) {
		return "", fail(exitUnreachable, err, "no node is given: use --node NAME; the port mapper (EPMD) of this host did not answer")
	}
	ours := names
	if len(names) > 1 {
		ours = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !isOurs(ctx, mapper, name) })
	}
	switch {
	case len(names) == 0:
		return defaultNode, nil
	case len(ours) == 1:
		return ours[0], nil
	}
	return "", fail(exitUsage, nil, "several nodes run on this host: %s; choose one with --node NAME or ACTORNODE_NODE",
		strings.Join(names, ", "))
}

// mappedNames returns the names of the nodes of this host, without the host, in alphabetical order.
func mappedNames(ctx context.Context, mapper epmd.Config) ([]string, error) {
	m, err := epmdclient.NewClient(mapper)
	if err != nil {
		return nil, err
	}
	entries, err := m.Names(ctx, "")
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	slices.Sort(names)
	return names, nil
}

// isOurs reports whether a node of this host has registered the native protocol with the port mapper, which Erlang's nodes
// do not.
func isOurs(ctx context.Context, mapper epmd.Config, name string) bool {
	m, err := epmdclient.NewClient(mapper)
	if err != nil {
		return false
	}
	r, err := m.Lookup(ctx, "", name)
	return err == nil && (len(r.Extra) > 0 || r.Hidden)
}

// hostsFor returns the possible full names of the node called name: name itself, or, if it has no host, name with each name
// and address of this host. Only the node knows its full name, which it tells in the handshake.
func hostsFor(name string) []node.Atom {
	if strings.Contains(name, "@") {
		return []node.Atom{node.Atom(name)}
	}
	hosts := []string{"127.0.0.1"}
	if h, err := os.Hostname(); err == nil {
		short, _, _ := strings.Cut(h, ".")
		hosts = append(hosts, short, h)
	}
	hosts = append(hosts, "localhost", "::1")
	var all []node.Atom
	for _, h := range hosts {
		if at := node.Atom(name + "@" + h); !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	return all
}

// ownHost returns the host for the name of a node that connects to the node at: the host of at if that is this host, else
// the name of this host. Both are long or both are short names, since these do not mix.
func ownHost(at node.Atom) string {
	_, host, _ := cutName(at)
	own, err := os.Hostname()
	if err != nil {
		return host
	}
	short, _, _ := strings.Cut(own, ".")
	switch {
	case isHere(host), host == own:
		return host
	case !isLong(host):
		return short
	case isLong(own):
		return own
	}
	if conn, err := net.Dial("udp", net.JoinHostPort(host, "9")); err == nil { // sends nothing, only determines the route
		defer conn.Close()
		own, _, _ = net.SplitHostPort(conn.LocalAddr().String())
		return own
	}
	return host
}

// isHere reports whether host is an address of this host.
func isHere(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	addrs, err := net.InterfaceAddrs()
	if ip == nil || err != nil {
		return false
	}
	return ip.IsLoopback() || slices.ContainsFunc(addrs, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}

// cutName splits NAME@HOST.
func cutName(at node.Atom) (name, host string, ok bool) { return strings.Cut(string(at), "@") }
