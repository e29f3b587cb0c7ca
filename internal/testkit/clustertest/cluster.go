// Package clustertest makes nodes within the program for the tests of what is between nodes: their protocols, discovery,
// transports and connections. A Cluster has a set of each; Memory is a protocol that encodes nothing.
//
// Tests of what programs do on several nodes use the Cluster of node/nodetest. With this package, nodetest.Timeout is
// testkit.Limit.
package clustertest

import (
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire/dist"
)

func init() { nodetest.Timeout = testkit.Limit }

// A Cluster makes nodes that find only each other. They are connected by Pipes within the program, without sockets, so they
// can run in a bubble of testing/synctest.
//
//	c := clustertest.NewCluster(t)
//	a, b := c.Start("a"), c.Start("b")
//	c.Connect(a, b)
//
// Its fields may be changed before a node is started. A test that needs sockets sets the Transport of a node to dist.TCP.
type Cluster struct {
	Places    *Places         // where the nodes are
	Pipes     *Pipes          // their transport
	Protocols []dist.Protocol // of the nodes; nil for a node's defaults
	Memory    *Memory         // the only one of Protocols in a NewMemoryCluster
	Log       *slog.Logger    // of nodes without their own; nil for the output of the test

	t     testing.TB
	speak []string // by name, if Protocols is nil
}

// NewCluster returns a Cluster whose nodes use the default protocols: "native", or "erlang" with nodes that do not support
// it.
func NewCluster(t testing.TB) *Cluster {
	return &Cluster{Places: &Places{}, Pipes: NewPipes(t), t: t}
}

// NewMemoryCluster returns a Cluster whose nodes use Memory, which encodes nothing: for tests of a node's handling of
// frames, independent of their encoding.
func NewMemoryCluster(t testing.TB) *Cluster {
	c := NewCluster(t)
	c.Memory = NewMemory()
	c.Protocols = []dist.Protocol{c.Memory}
	return c
}

// EachProtocol runs a scenario with a cluster for each protocol of a node; the nodes of a cluster use only that one.
func EachProtocol(t *testing.T, f func(t *testing.T, c *Cluster)) {
	t.Helper()
	for _, name := range []string{"native", "erlang"} {
		t.Run(name, func(t *testing.T) {
			c := NewCluster(t)
			c.Speak(name)
			f(t, c)
		})
	}
}

// Speak makes nodes that are started later use these protocols, with the settings of their Distribution, such as its Types.
func (c *Cluster) Speak(names ...string) { c.speak = names }

// Config returns the configuration of a node. A name without a host is at 127.0.0.1.
func (c *Cluster) Config(name string) node.Config { return c.ConfigWith(name, node.Distribution{}) }

// ConfigWith is Config with the fields that are set in d. Fields that d leaves out are as in the other nodes.
func (c *Cluster) ConfigWith(name string, d node.Distribution) node.Config {
	if !strings.Contains(name, "@") {
		name += "@127.0.0.1"
	}
	if d.Cookie == "" {
		d.Cookie = "secret"
	}
	if d.Finder == nil {
		d.Finder = c.Places
	}
	if d.Transport == nil {
		d.Transport = c.Pipes
	}
	if d.Protocols == nil {
		d.Protocols = c.Protocols
	}
	if d.Protocols == nil && c.speak != nil {
		var err error
		d.Protocols, err = d.ProtocolsByName(c.speak...)
		require.NoError(c.t, err)
	}
	return nodetest.Config(c.t, node.Config{Name: node.Atom(name), Workers: 2, Log: c.Log, Distribution: &d})
}

// Start starts a node that is stopped at the end of the test.
func (c *Cluster) Start(name string) *node.Node {
	c.t.Helper()
	return c.StartWith(name, node.Distribution{})
}

// StartWith starts a node with the configuration of ConfigWith.
func (c *Cluster) StartWith(name string, d node.Distribution) *node.Node {
	c.t.Helper()
	return nodetest.Start(c.t, c.ConfigWith(name, d))
}

// StartLogged is StartWith, and also returns the node's log.
func (c *Cluster) StartLogged(name string, d node.Distribution) (*node.Node, *logtest.Text) {
	c.t.Helper()
	cfg, log := c.ConfigWith(name, d), &logtest.Text{}
	cfg.Log = log.Logger()
	return nodetest.Start(c.t, cfg), log
}

// Connect connects all of the nodes to each other.
func (c *Cluster) Connect(nodes ...*node.Node) {
	c.t.Helper()
	for i, a := range nodes {
		for _, b := range nodes[i+1:] {
			require.NoError(c.t, a.Connect(testkit.Context(c.t), b.Name()))
			require.NoError(c.t, b.Ping(testkit.Context(c.t), a.Name()))
		}
	}
}

// Dial connects from host to a node's listener for protocol. The connection is closed at the end of the test.
func (c *Cluster) Dial(n *node.Node, protocol, host string) net.Conn {
	c.t.Helper()
	for _, e := range n.Endpoints() {
		if e.Protocol == protocol {
			conn, err := c.Pipes.At(host).Dial(testkit.Context(c.t), e.Addr, n.Name())
			require.NoError(c.t, err)
			c.t.Cleanup(func() { conn.Close() })
			return conn
		}
	}
	require.Failf(c.t, "no such protocol", "%s does not speak %s", n.Name(), protocol)
	return nil
}
