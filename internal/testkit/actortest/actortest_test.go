package actortest_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

func TestInBubble(t *testing.T) {
	actortest.InBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe, log *logtest.Text) {
		pid, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { panic("bad cake") }))
		require.NoError(t, err)
		require.NoError(t, h.Send(pid, 1))
		synctest.Wait()
		assert.Contains(t, log.String(), "bad cake")
	})
}

// Each style runs a handler, does what it is told, and keeps its style with other options.
func TestStyles(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	var names []string
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		names = append(names, s.Name)
		h := nodetest.NewProbe(t, n)
		s = s.With(node.Options{Name: "one"})
		pid := s.Spawn(t, n, actortest.Obey)
		require.NoError(t, n.Send(node.Atom("one"), func(self actortest.Self) {
			_, blocking := self.(*node.Process)
			self.Send(h.Self(), blocking)
		}))
		assert.Equal(t, s.Blocking, nodetest.Expect[bool](h))
		i, err := n.Info(pid)
		require.NoError(t, err)
		onStage := s.Name == actortest.Actor.Name || s.Name == actortest.Coroutine.Name
		assert.Equal(t, onStage, i.Stage >= 0)
		n.Exit(pid, node.Kill)
	})
	assert.Equal(t, []string{"actor", "process", "coroutine", "detached"}, names)
	for _, s := range actortest.BlockingStyles() {
		s.Run(t, n, func(p *node.Process) {
			require.NoError(t, p.Send(p.Self(), 1))
			assert.Equal(t, []any{1}, actortest.Rest(p))
		})
	}
	first, second := map[string]bool{}, map[string]bool{}
	actortest.EachPair(t, func(_ *testing.T, a, b actortest.Style) { first[a.Name], second[b.Name] = true, true })
	assert.Len(t, first, len(names))
	assert.Len(t, second, len(names))
}

func TestEachCaller(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	pid := actortest.Actor.Spawn(t, n, func(_ actortest.Self, m any) error { return m.(node.Request[int]).Reply(2) })
	called := 0
	actortest.EachCaller(t, func(t *testing.T, c actortest.Caller) {
		c.Do(t, n, func(me node.Caller) {
			v, err := node.Call[int](t.Context(), me, pid, 1)
			assert.NoError(t, err)
			called += v
		})
	})
	assert.Equal(t, 2*6, called)
}
