package command

import (
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

// A running daemon takes over limits. A limit below the present number ends nothing: the next one is refused.
func TestReloadLimits(t *testing.T) {
	t.Parallel()
	p := newReloadingProgram(t)
	p.write("limits: {connections: 1, connections_per_source: 1}\n")
	p.start(p.home, p.file())
	p.up()
	most := func(name string, want int) {
		t.Helper()
		require.Contains(t, page(t, p.http, "/metrics"), fmt.Sprintf("actornode_limit{limit=%q} %d\n", name, want))
	}
	connect := func(name node.Atom) (*node.Node, error) {
		n := nodetest.Start(t, node.Config{Name: name, Distribution: &node.Distribution{Cookie: "secret", Listen: "-",
			Finder: p.finder()}})
		return n, n.Connect(testkit.Context(t), "go@127.0.0.1")
	}
	most("connections", 1)
	a, err := connect("a@127.0.0.1")
	require.NoError(t, err)
	_, err = connect("b@127.0.0.1")
	require.Error(t, err)

	p.write("limits: {connections: 2, connections_per_source: 2, monitors: 7, pg_groups: 9, http: 3, memory: 3GiB}\n")
	p.hangUp(`"changed":"limits.connections limits.connections_per_source limits.monitors limits.pg_groups`,
		`limits.http limits.memory"`)
	for name, want := range map[string]int{"connections": 2, "monitors": 7, "pg_groups": 9, "http": 3} {
		most(name, want)
	}
	require.Contains(t, page(t, p.http, "/metrics"), "go_gc_gomemlimit_bytes 3.221225472e+09")
	b, err := connect("c@127.0.0.1")
	require.NoError(t, err)

	p.write("limits: {connections: 1, connections_per_source: 1, processes: 5000}\n")
	p.hangUp(`"settings":"limits.processes"`)
	most("connections", 1)
	for _, n := range []*node.Node{a, b} {
		require.NoError(t, n.Ping(testkit.Context(t), "go@127.0.0.1"))
	}
	_, err = connect("d@127.0.0.1")
	require.Error(t, err)
}

// A running daemon connects to the nodes that its new configuration has it join.
func TestReloadJoin(t *testing.T) {
	t.Parallel()
	p := newReloadingProgram(t)
	p.write("")
	p.start(p.home, p.file())
	p.up()
	p.hangUp(`"changed":""`)
	b := nodetest.Start(t, node.Config{Name: "b@127.0.0.1", Distribution: &node.Distribution{Cookie: "secret", Listen: "127.0.0.1:0",
		Finder: p.finder()}})
	p.write(fmt.Sprintf("discovery: {join: [b@127.0.0.1], peers: {b@127.0.0.1: %q}}\n", b.Addr().String()))
	p.hangUp(`"changed":"discovery.peers discovery.join"`)
	connected(t, b)
}

// connected waits until n is connected to the daemon.
func connected(t *testing.T, n *node.Node) {
	t.Helper()
	testkit.Until(t, func() string {
		if nodes := n.AllNodes(); !slices.Equal(nodes, []node.Atom{"go@127.0.0.1"}) {
			return fmt.Sprint("connected to ", nodes)
		}
		return ""
	})
}

// A running daemon connects to nodes that it finds by DNS at other ports than before.
func TestReloadDNS(t *testing.T) {
	t.Parallel()
	p := newReloadingProgram(t)
	b := nodetest.Start(t, node.Config{Name: "b@127.0.0.1", Distribution: &node.Distribution{Cookie: "secret", Listen: "127.0.0.1:0",
		Finder: p.finder()}})
	_, port, err := net.SplitHostPort(b.Addr().String())
	require.NoError(t, err)
	found := func(port string) {
		p.write(fmt.Sprintf("discovery: {mesh: true, dns: {host: localhost, base: b, at: [\":%s\"], ttl: 100ms}}\n", port))
	}
	found("1") // no process listens there
	p.start(p.home, p.file())
	p.up()
	p.hangUp(`"changed":""`)
	require.Empty(t, b.AllNodes())
	found(port)
	p.hangUp(`"changed":"discovery.dns.at"`)
	connected(t, b)
	require.Contains(t, page(t, p.http, "/metrics"), "actornode_dns_")
}
