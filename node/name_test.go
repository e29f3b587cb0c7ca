package node_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/nodetest"
)

func TestNames(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, n)
		a, b := s.Spawn(t, n, actortest.Ignore), s.Spawn(t, n, actortest.Ignore)

		_, ok := n.Whereis("a")
		assert.False(t, ok)
		require.NoError(t, n.Register("a", a))
		pid, ok := n.Whereis("a")
		assert.True(t, ok)
		assert.Equal(t, a, pid)

		assert.ErrorIs(t, n.Register("a", b), node.ErrNameTaken, "the name is taken")
		assert.ErrorIs(t, n.Register("a", a), node.ErrNameTaken, "again")
		assert.ErrorIs(t, n.Register("other", a), node.ErrNameTaken, "one name a process")
		_, ok = n.Whereis("other")
		assert.False(t, ok)

		require.NoError(t, n.Register("b", b))
		require.NoError(t, n.Register("Zed", h.Self()))
		assert.Equal(t, []node.Atom{"Zed", "a", "b"}, n.Registered())

		require.NoError(t, n.Unregister("a"))
		assert.ErrorIs(t, n.Unregister("a"), node.ErrNoName)
		require.NoError(t, n.Register("other", a), "it may have another now")
		require.NoError(t, n.Register("a", s.Spawn(t, n, actortest.Ignore)), "and another may have this")

		// The name is freed on exit, at once.
		n.Exit(b, node.Kill)
		_, ok = n.Whereis("b")
		assert.False(t, ok)
		assert.ErrorIs(t, n.Unregister("b"), node.ErrNoName)
		assert.ErrorIs(t, n.Register("b", b), node.ErrNoProcess)
		assert.Equal(t, []node.Atom{"Zed", "a", "other"}, n.Registered())
	})
}

func TestNamesThatAreNone(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	pid := actortest.Actor.Spawn(t, n, actortest.Ignore)
	for _, name := range []node.Atom{"", "undefined", node.Atom(strings.Repeat("x", 256)), node.Atom(strings.Repeat("é", 256)),
		"bad\xff"} {
		assert.ErrorIs(t, n.Register(name, pid), node.ErrArgument, "%.20q", name)
		if name != "" {
			_, err := n.SpawnOpt(node.Options{Name: name}, actortest.Actor.Actor(actortest.Ignore))
			assert.ErrorIs(t, err, node.ErrArgument, "%.20q", name)
		}
	}
	long := node.Atom(strings.Repeat("é", 255))
	require.NoError(t, n.Register(long, pid))
	assert.Equal(t, []node.Atom{long}, n.Registered())
	assert.ErrorIs(t, n.Register("x", node.PID{}), node.ErrNoProcess)
}

func TestSpawnWithName(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, n)
		s.Options.Name = "server"
		pid := s.Spawn(t, n, counter())
		got, err := actortest.CallWithin[int](testkit.Limit, h, node.Atom("server"), add{2})
		require.NoError(t, err)
		assert.Equal(t, 2, got)

		before := n.Stats()
		_, err = n.SpawnOpt(s.Options, s.Actor(counter()))
		assert.ErrorIs(t, err, node.ErrNameTaken)
		assert.Equal(t, before.Processes, n.Stats().Processes)
		where, _ := n.Whereis("server")
		assert.Equal(t, pid, where)
	})
}

// A spawn that fails leaves no goroutine behind.
func TestSpawnThatFailsLeavesNothing(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{Workers: 1})
		s.Options.Name = "taken"
		s.Spawn(t, n, actortest.Ignore)
		before := testkit.Goroutines()
		for range 50 {
			_, err := n.SpawnOpt(s.Options, s.Actor(actortest.Ignore))
			require.ErrorIs(t, err, node.ErrNameTaken)
		}
		testkit.UntilTrue(t, func() bool { return testkit.Goroutines() <= before+10 }, "few goroutines are left")
	})
}

func TestSendName(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, n)
		require.NoError(t, n.Register("boss", h.Self()))
		dead := n.DeadLetters(4)
		defer dead.Close()
		pid := s.Spawn(t, n, func(h actortest.Self, m any) error {
			if err := h.Send(node.Atom("nobody"), m); err != nil {
				return h.Send(node.Atom("boss"), err)
			}
			return nil
		})
		require.NoError(t, n.Send(pid, "hello"))
		assert.ErrorIs(t, nodetest.Expect[error](h), node.ErrNoName)
		l := <-dead.C
		assert.Equal(t, deadletter.NoProcess, l.Cause)
		assert.Equal(t, node.Atom("nobody"), l.Name)
		assert.Equal(t, "hello", l.Message)

		require.NoError(t, n.Send(node.Atom("boss"), 1))
		require.NoError(t, h.Send(node.Atom("boss"), 2))
		assert.Equal(t, 1, nodetest.Expect[int](h))
		assert.Equal(t, 2, nodetest.Expect[int](h))
		assert.ErrorIs(t, n.Send(node.Atom("nobody"), 1), node.ErrNoName)
		assert.ErrorIs(t, h.Send(node.Atom("nobody"), 1), node.ErrNoName)
	})
}

// One of many processes that want a name gets it, and the name is free once that process has exited.
func TestRaceForAName(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	for range 50 {
		var won atomic.Int32
		var wg sync.WaitGroup
		for i := range 8 {
			s := styles[i%len(styles)]
			s.Options.Name = "name"
			wg.Go(func() {
				pid, err := n.SpawnOpt(s.Options, s.Actor(actortest.Ignore))
				if err != nil {
					assert.ErrorIs(t, err, node.ErrNameTaken)
					return
				}
				won.Add(1)
				if i%2 == 0 {
					n.Exit(pid, node.Kill)
				}
			})
		}
		wg.Wait()
		assert.NotZero(t, won.Load())
		if pid, ok := n.Whereis("name"); ok {
			assert.True(t, n.IsAlive(pid))
			n.Exit(pid, node.Kill)
		}
		assert.Empty(t, n.Registered())
	}
	assert.Zero(t, n.Stats().Processes)
}

func TestNamesOnAStoppedNode(t *testing.T) {
	n, err := node.Start(node.Config{StopTimeout: testkit.Limit})
	require.NoError(t, err)
	s := actortest.Process
	s.Options.Name = "server"
	pid := s.Spawn(t, n, actortest.Ignore)
	require.NoError(t, n.Stop())
	_, ok := n.Whereis("server")
	assert.False(t, ok)
	assert.Empty(t, n.Registered())
	assert.ErrorIs(t, n.Send(node.Atom("server"), 1), node.ErrNodeStopped)
	assert.ErrorIs(t, n.Register("server", pid), node.ErrNodeStopped)
}
