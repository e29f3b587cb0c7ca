package global_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire/dist"
)

// cluster is a set of nodes that share names: all of them ours and in memory, or some of them Erlang nodes.
type cluster struct {
	*clustertest.Cluster
	t    testing.TB
	with node.Distribution // of our nodes
	port int               // of the port mapper by which nodes find Erlang nodes, if there are any
	log  *logtest.Text     // of all our nodes; it is shown if the test fails
}

func newCluster(t testing.TB) *cluster {
	c := &cluster{Cluster: clustertest.NewCluster(t), t: t, log: new(logtest.Text)}
	c.with = node.Distribution{Published: global.Join(global.Config{}), Cookie: erltest.Cookie}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of our nodes:\n%s", c.log)
		}
	})
	return c
}

// newErlangCluster returns a cluster that Erlang nodes can join: it has a port mapper of its own, and sockets.
func newErlangCluster(t testing.TB) *cluster {
	c, cfg := newCluster(t), epmdtest.Serve(t, "127.0.0.1")
	c.port, c.with.Finder, c.with.Transport = cfg.Port, &discovery.EPMD{Config: cfg}, dist.TCP{}
	return c
}

// start starts a published node.
func (c *cluster) start(name string) *node.Node {
	c.t.Helper()
	cfg := c.ConfigWith(name, c.with)
	cfg.Log = c.log.Logger().With("node", name)
	return nodetest.Start(c.t, cfg)
}

// erl starts an Erlang node that is visible.
func (c *cluster) erl(name string, args ...string) *erltest.Node {
	c.t.Helper()
	return erltest.Start(c.t, erltest.Options{Name: name + "@127.0.0.1", EPMD: c.port, Args: args})
}

// connect connects two nodes and waits until they have the same names.
func (c *cluster) connect(a *node.Node, to node.Atom) {
	c.t.Helper()
	require.NoError(c.t, a.Connect(testkit.Context(c.t), to))
	require.NoError(c.t, global.Sync(testkit.Context(c.t), a, to))
}

// mesh waits until each of nodes shares names with all other nodes, and with the given others.
func (c *cluster) mesh(others []node.Atom, nodes ...*node.Node) {
	c.t.Helper()
	all := slices.Clone(others)
	for _, n := range nodes {
		all = append(all, n.Name())
	}
	slices.Sort(all)
	for _, n := range nodes {
		want := slices.DeleteFunc(slices.Clone(all), func(a node.Atom) bool { return a == n.Name() })
		testkit.Until(c.t, func() string {
			s, err := global.Look(context.Background(), n)
			switch {
			case err != nil:
				return err.Error()
			case !slices.Equal(s.Known, want):
				return "known to " + string(n.Name()) + ": " + join(s.Known)
			case !slices.Equal(sorted(s.Synced), want):
				return "in sync with " + string(n.Name()) + ": " + join(s.Synced)
			case !s.Quiet:
				return string(n.Name()) + " is busy"
			}
			return ""
		})
	}
}

func sorted(all []node.Atom) []node.Atom { return slices.Sorted(slices.Values(all)) }

func join(all []node.Atom) (text string) {
	for _, a := range all {
		text += " " + string(a)
	}
	return text
}

// sleeper starts a process that ends when it gets a message.
func sleeper(t testing.TB, n *node.Node) node.PID {
	t.Helper()
	pid, err := n.Spawn(node.ProcessFunc(func(p *node.Process) error { p.Receive(); return nil }))
	require.NoError(t, err)
	return pid
}
