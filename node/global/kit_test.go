package global_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/epmdtest"
	"github.com/actornode/actornode/internal/erltest"
	"github.com/actornode/actornode/internal/logtest"
	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/global"
)

// cluster is where nodes of a test find each other: a port mapper of its own.
type cluster struct {
	t    testing.TB
	port int
	discovery.Finder
	log *logtest.Text // of all nodes of ours; it is shown if the test fails
}

func newCluster(t testing.TB) *cluster {
	cfg := epmdtest.Serve(t, "127.0.0.1")
	c := &cluster{t, cfg.Port, &discovery.EPMD{Config: cfg}, new(logtest.Text)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of our nodes:\n%s", c.log)
		}
	})
	return c
}

// start starts a published node called name@127.0.0.1; change, nil for none, changes what it is started with.
func (c *cluster) start(name string, change func(d *node.Distribution)) *node.Node {
	c.t.Helper()
	d := &node.Distribution{Published: true, Cookie: erltest.Cookie, Finder: c.Finder}
	if change != nil {
		change(d)
	}
	log := c.log.Logger().With("node", name)
	return nodetest.Start(c.t, node.Config{Name: node.Atom(name + "@127.0.0.1"), Log: log, Distribution: d})
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

// mesh waits until each of nodes shares names with all others, of which there are as many as others says beside.
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
