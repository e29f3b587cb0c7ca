package node_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/nodetest"
)

// aliasOf makes an alias of a process, for one message or for all.
func aliasOf(p interface {
	Alias() node.Ref
	AliasOnce() node.Ref
}, once bool) node.Ref {
	if once {
		return p.AliasOnce()
	}
	return p.Alias()
}

// aliasing makes and takes away aliases when told to.
func aliasing(boss node.PID) actortest.Handler {
	return func(h actortest.Self, m any) error {
		switch m := m.(type) {
		case bool:
			return h.Send(boss, aliasOf(h, m))
		case node.Ref:
			return h.Send(boss, h.Unalias(m))
		}
		return h.Send(boss, m)
	}
}

func TestAliases(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, n)
		dead := n.DeadLetters(16)
		defer dead.Close()
		pid := s.Spawn(t, n, aliasing(h.Self()))
		ask := func(m any) any {
			require.NoError(t, h.Send(pid, m))
			return nodetest.Expect[any](h)
		}
		lost := func(ref node.Ref, m any) {
			t.Helper()
			l := <-dead.C
			assert.Equal(t, deadletter.NoAlias, l.Cause)
			assert.Equal(t, ref, l.Alias)
			assert.Equal(t, m, l.Message)
		}

		plain := ask(false).(node.Ref)
		other := ask(false).(node.Ref)
		assert.NotEqual(t, plain, other)
		for i := range 3 {
			require.NoError(t, h.Send(plain, i))
			assert.Equal(t, i, nodetest.Expect[int](h))
			require.NoError(t, n.Send(plain, i))
			assert.Equal(t, i, nodetest.Expect[int](h))
		}
		assert.False(t, h.Unalias(plain), "another's alias")
		assert.Equal(t, true, ask(plain))
		assert.Equal(t, false, ask(plain))
		require.NoError(t, h.Send(plain, "late"), "as in Erlang, no error")
		lost(plain, "late")
		require.NoError(t, h.Send(other, "still"))
		assert.Equal(t, "still", nodetest.Expect[string](h))

		once := ask(true).(node.Ref)
		require.NoError(t, h.Send(once, "first"))
		assert.Equal(t, "first", nodetest.Expect[string](h))
		require.NoError(t, n.Send(once, "second"))
		lost(once, "second")
		assert.Equal(t, false, ask(once), "used up")

		unused := ask(true).(node.Ref)
		assert.Equal(t, true, ask(unused))
		require.NoError(t, n.Send(unused, "x"))
		lost(unused, "x")

		// A reference that is no alias, and the alias of the dead.
		ref := n.MakeRef()
		require.NoError(t, n.Send(ref, "x"))
		lost(ref, "x")
		assert.Equal(t, false, ask(ref))
		n.Exit(pid, node.Kill)
		require.NoError(t, h.Send(other, "y"))
		lost(other, "y")
		h.ExpectNone()
	})
}

// Only one of many messages to a one-shot alias arrives.
func TestAliasOnceAmongMany(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		const senders = 8
		n := nodetest.Start(t, node.Config{Workers: 4, Stages: 8})
		h := nodetest.NewProbe(t, n)
		var pids []node.PID
		for i := range senders {
			pids = append(pids, s.Spawn(t, n, func(p actortest.Self, m any) error {
				p.Send(m.(node.Ref), i)
				return p.Send(h.Self(), "sent")
			}))
		}
		for range 20 {
			ref := h.AliasOnce()
			for _, pid := range pids {
				require.NoError(t, n.Send(pid, ref))
			}
			got := 0
			for range senders + 1 {
				if _, ok := nodetest.Expect[any](h).(int); ok {
					got++
				}
			}
			assert.Equal(t, 1, got)
			h.ExpectNone()
		}
		assert.Equal(t, uint64(20*(senders-1)), n.Stats().DeadLetters[deadletter.NoAlias])
	})
}

func TestCallByAlias(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, n)
		count := counter()
		pid := s.Spawn(t, n, func(p actortest.Self, m any) error {
			if _, ok := m.(bool); ok {
				return p.Send(h.Self(), aliasOf(p, m.(bool)))
			}
			return count(p, m)
		})
		require.NoError(t, h.Send(pid, true))
		ref := nodetest.Expect[node.Ref](h)
		got, err := actortest.CallWithin[int](testkit.Limit, h, ref, add{3})
		require.NoError(t, err)
		assert.Equal(t, 3, got)
		_, err = actortest.CallWithin[int](testkit.Limit, h, ref, add{3})
		assert.ErrorIs(t, err, node.ErrNoProcess)
	})
}
