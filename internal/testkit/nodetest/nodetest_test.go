package nodetest_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/internal/testkit/nodetest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
)

func TestKit(t *testing.T) {
	var n *node.Node
	t.Run("while the test goes", func(t *testing.T) {
		n = nodetest.Start(t, node.Config{})
		h := nodetest.Open(t, n)
		nodetest.Quiet(t, h)
		come := make(chan int, 1)
		pid, err := n.Spawn(node.ActorFunc(func(_ *node.Context, m any) error { come <- m.(int); return node.ErrStop }))
		require.NoError(t, err)
		ref := h.Monitor(pid)
		require.NoError(t, h.Send(h.Self(), "first"))
		require.NoError(t, n.Send(pid, 7))
		assert.Equal(t, 7, testkit.Receive(t, come))
		assert.Equal(t, node.Normal, nodetest.Down(t, h, ref).Reason)
		assert.Equal(t, "first", nodetest.Next[string](t, h))
		_, err = node.AwaitExit(testkit.Context(t), n, pid)
		require.NoError(t, err)
	})
	_, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.ErrorIs(t, err, node.ErrNodeStopped)
}

func TestInBubble(t *testing.T) {
	nodetest.InBubble(t, func(t *testing.T, n *node.Node, h *node.Process, log *logtest.Text) {
		pid, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { panic("bad cake") }))
		require.NoError(t, err)
		require.NoError(t, h.Send(pid, 1))
		synctest.Wait()
		assert.Contains(t, log.String(), "bad cake")
	})
}

func TestPlaces(t *testing.T) {
	var first, second nodetest.Places
	second.Next = &first
	at := []discovery.Endpoint{{Addr: "1.2.3.4:5"}}
	forget, err := second.Announce(t.Context(), discovery.Announcement{Name: "a@h", Endpoints: at})
	require.NoError(t, err)
	second.Put("b@h", at)
	for _, name := range []node.Atom{"a@h", "b@h"} {
		got, err := second.Find(t.Context(), name)
		require.NoError(t, err)
		assert.Equal(t, at, got)
	}
	_, err = first.Find(t.Context(), "b@h")
	require.ErrorContains(t, err, "no node b@h")
	forget()
	_, err = second.Find(t.Context(), "a@h")
	require.ErrorContains(t, err, "no node a@h")
}

// Each style runs a handler, does what it is told, and keeps its style with other options.
func TestStyles(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	var names []string
	nodetest.EachStyle(t, func(t *testing.T, s nodetest.Style) {
		names = append(names, s.Name)
		h := nodetest.Open(t, n)
		s = s.With(node.Options{Name: "one"})
		pid := s.Spawn(t, n, nodetest.Obey)
		require.NoError(t, n.Send(node.Atom("one"), func(self nodetest.Self) {
			_, blocking := self.(*node.Process)
			self.Send(h.Self(), blocking)
		}))
		assert.Equal(t, s.Blocking, nodetest.Next[bool](t, h))
		i, err := n.Info(pid)
		require.NoError(t, err)
		onStage := s.Name == nodetest.Actor.Name || s.Name == nodetest.Coroutine.Name
		assert.Equal(t, onStage, i.Stage >= 0)
		n.Exit(pid, node.Kill)
	})
	assert.Equal(t, []string{"actor", "process", "coroutine", "detached"}, names)
	for _, s := range nodetest.BlockingStyles() {
		s.Run(t, n, func(p *node.Process) {
			require.NoError(t, p.Send(p.Self(), 1))
			assert.Equal(t, []any{1}, nodetest.Rest(p))
		})
	}
	first, second := map[string]bool{}, map[string]bool{}
	nodetest.EachPair(t, func(_ *testing.T, a, b nodetest.Style) { first[a.Name], second[b.Name] = true, true })
	assert.Len(t, first, len(names))
	assert.Len(t, second, len(names))
}

func TestEachCaller(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	pid := nodetest.Actor.Spawn(t, n, func(_ nodetest.Self, m any) error { return m.(node.Request[int]).Reply(2) })
	called := 0
	nodetest.EachCaller(t, func(t *testing.T, c nodetest.Caller) {
		c.Do(t, n, func(me node.Caller) {
			v, err := node.Call[int](t.Context(), me, pid, 1)
			assert.NoError(t, err)
			called += v
		})
	})
	assert.Equal(t, 2*6, called)
}

// Nodes of a cluster find each other and talk, in a bubble, in the protocols of nodes and in Memory.
func TestCluster(t *testing.T) {
	for name, cluster := range map[string]func(testing.TB) *nodetest.Cluster{
		"native": nodetest.NewCluster, "memory": nodetest.NewMemoryCluster,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := cluster(t)
				a, b := c.Start("a"), c.StartWith("b", node.Distribution{})
				c.Connect(a, b)
				assert.Equal(t, []node.Atom{b.Name()}, a.AllNodes())
				h := nodetest.Open(t, b)
				require.NoError(t, a.Send(h.Self(), "hello"))
				assert.Equal(t, "hello", nodetest.Next[string](t, h))
				e := b.Endpoints()[0]
				assert.Equal(t, name, e.Protocol)
				dialed := c.Pipes.Dialed(e.Addr)
				c.Dial(b, name, "10.0.0.1")
				assert.Equal(t, dialed+1, c.Pipes.Dialed(e.Addr))
			})
		})
	}
}

func TestCutter(t *testing.T) {
	var cutter nodetest.Cutter
	c := nodetest.NewCluster(t)
	a, b := c.StartWith("a", node.Distribution{Transport: &cutter}), c.StartWith("b", node.Distribution{Transport: &cutter})
	c.Connect(a, b)
	h := nodetest.Open(t, a)
	h.MonitorNode(b.Name())
	cutter.Cut()
	assert.Equal(t, 1, cutter.Cuts())
	assert.Equal(t, b.Name(), nodetest.Next[node.NodeDown](t, h).Node)
}
