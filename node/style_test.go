package node_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

// numbered is message k of sender s.
type numbered struct{ sender, k int }

// goOn makes a sender send its next.
type goOn struct{ k int }

// spin computes for a while.
func spin(rounds int) (x uint64) {
	for i := range uint64(rounds) {
		x = x*6364136223846793005 + i
	}
	return x
}

// sink checks that the messages of each sender come in order and with none
// missing, and tells boss when it has them all.
func sink(boss node.PID, senders, each int) actortest.Handler {
	next := make([]int, senders)
	left := senders * each
	return func(h actortest.Self, m any) error {
		v, ok := m.(numbered)
		if !ok || v.k != next[v.sender] {
			return h.Send(boss, fmt.Errorf("got %v, want number %v", m, next))
		}
		next[v.sender]++
		if left--; left == 0 {
			return h.Send(boss, "all")
		}
		return nil
	}
}

// source sends number k to all, then sends itself an order for the next.
func source(id, each int, to []node.PID) actortest.Handler {
	return func(h actortest.Self, m any) error {
		k := m.(goOn).k
		for _, pid := range to {
			if err := h.Send(pid, numbered{id, k}); err != nil {
				return err
			}
		}
		if k%16 == id%16 {
			_ = spin(2000)
		}
		if k+1 < each {
			return h.Send(h.Self(), goOn{k + 1})
		}
		return nil
	}
}

func TestOrderBetweenAnyTwo(t *testing.T) {
	const senders, outside, receivers, each = 5, 2, 4, 150
	actortest.EachPair(t, func(t *testing.T, a, b actortest.Style) {
		n := nodetest.Start(t, node.Config{Workers: 4, Stages: 4, Budget: 16, Blocked: time.Millisecond})
		boss := nodetest.NewProbe(t, n)
		// Busy actors, so that stages are held, stolen and lost.
		for range 6 {
			pid := actortest.Actor.Spawn(t, n, func(h actortest.Self, m any) error {
				_ = spin(20_000)
				return h.Send(h.Self(), m)
			})
			require.NoError(t, n.Send(pid, "busy"))
		}
		to := make([]node.PID, receivers)
		for i := range to {
			to[i] = b.Spawn(t, n, sink(boss.Self(), senders+2*outside, each))
		}
		for i := range senders {
			require.NoError(t, n.Send(a.Spawn(t, n, source(i, each, to)), goOn{}))
		}
		var wg sync.WaitGroup
		for i := range outside {
			wg.Go(func() { // a plain goroutine
				for k := range each {
					for _, pid := range to {
						assert.NoError(t, n.Send(pid, numbered{senders + i, k}))
					}
				}
			})
			wg.Go(func() { // a handle
				h, err := n.Open()
				if !assert.NoError(t, err) {
					return
				}
				defer h.Close(nil)
				for k := range each {
					for _, pid := range to {
						assert.NoError(t, h.Send(pid, numbered{senders + outside + i, k}))
					}
				}
			})
		}
		for range receivers {
			assert.Equal(t, "all", nodetest.Expect[any](boss))
		}
		wg.Wait()
		require.Zero(t, boss.MailboxLen())
		assert.Empty(t, n.Stats().DeadLetters)
	})
}

// add is the request of the counters below.
type add struct{ by int }

// counter answers add with the sum so far.
func counter() actortest.Handler {
	sum := 0
	return func(_ actortest.Self, m any) error {
		r := m.(node.Request[add])
		sum += r.Body.by
		return r.Reply(sum)
	}
}

func TestCallBetweenAnyTwo(t *testing.T) {
	actortest.EachPair(t, func(t *testing.T, a, b actortest.Style) {
		n := nodetest.Start(t, node.Config{Workers: 2, Stages: 2})
		boss := nodetest.NewProbe(t, n)
		server := b.Spawn(t, n, counter())
		caller := a.Spawn(t, n, func(h actortest.Self, m any) error {
			sum := 0
			for range 20 {
				got, err := node.Call[int](h.Context(), h, server, add{1})
				if err != nil {
					return err
				}
				if got <= sum {
					return fmt.Errorf("got %d after %d", got, sum)
				}
				sum = got
			}
			return h.Send(boss.Self(), sum)
		})
		require.NoError(t, n.Send(caller, "start"))
		assert.Equal(t, 20, nodetest.Expect[int](boss))

		// Handle and plain goroutine.
		got, err := actortest.CallWithin[int](testkit.Limit, boss, server, add{1})
		require.NoError(t, err)
		assert.Equal(t, 21, got)
		got, err = actortest.CallWithin[int](testkit.Limit, n, server, add{1})
		require.NoError(t, err)
		assert.Equal(t, 22, got)
	})
}

// tree is a request to spawn a tree of the given depth and count its leaves.
type tree struct {
	depth int
	to    node.PID
}

// leaves is the answer to tree.
type leaves int

func grow(s actortest.Style) actortest.Handler {
	var up node.PID
	sum, left := leaves(0), 2
	return func(h actortest.Self, m any) error {
		switch m := m.(type) {
		case tree:
			up = m.to
			if m.depth == 0 {
				h.Send(up, leaves(1))
				return node.ErrStop
			}
			for range 2 {
				pid, err := h.SpawnOpt(s.Options, s.Actor(grow(s)))
				if err != nil {
					return err
				}
				h.Send(pid, tree{m.depth - 1, h.Self()})
			}
		case leaves:
			sum += m
			if left--; left == 0 {
				h.Send(up, sum)
				return node.ErrStop
			}
		}
		return nil
	}
}

func TestSpawnTree(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{Workers: 4, Stages: 8})
		boss := nodetest.NewProbe(t, n)
		root := s.Spawn(t, boss, grow(s))
		require.NoError(t, boss.Send(root, tree{7, boss.Self()}))
		assert.Equal(t, leaves(128), nodetest.Expect[leaves](boss))
		assert.Empty(t, n.Stats().DeadLetters)
	})
}

// Tokens go around a ring of all styles and handles.
func TestMixedRing(t *testing.T) {
	const size, tokens, rounds = 24, 8, 50
	n := nodetest.Start(t, node.Config{Workers: 4, Stages: 4})
	boss := nodetest.NewProbe(t, n)
	pids := make([]node.PID, size)
	for i := range pids {
		pids[i] = styles[i%len(styles)].Spawn(t, n, func(h actortest.Self, m any) error {
			k := m.(numbered)
			if k.k == size*rounds {
				return h.Send(boss.Self(), k)
			}
			k.k++
			return h.Send(pids[(i+1)%size], k)
		})
	}
	for i := range tokens {
		require.NoError(t, n.Send(pids[i*size/tokens], numbered{sender: i}))
	}
	seen := map[int]bool{}
	for range tokens {
		seen[nodetest.Expect[numbered](boss).sender] = true
	}
	assert.Len(t, seen, tokens)
	boss.ExpectNone()
}

// What others see of a process must not depend on its style.
func TestSameFromOutside(t *testing.T) {
	life := func(_ actortest.Self, m any) error {
		switch m := m.(type) {
		case error:
			return m
		case string:
			panic(m)
		}
		return nil
	}
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		boss := nodetest.NewProbe(t, n)
		end := func(how func(pid node.PID)) any {
			pid := s.Spawn(t, n, life)
			how(pid)
			return waitGone(t, boss, pid)
		}
		send := func(m any) func(node.PID) {
			return func(pid node.PID) { boss.Monitor(pid); boss.Send(pid, m) }
		}
		drain := func() any {
			return nodetest.Expect[node.Down](boss).Reason
		}
		for _, m := range []any{node.ErrStop, node.ExitWith("why"), fmt.Errorf("oops"), "panic"} {
			pid := s.Spawn(t, n, life)
			send(m)(pid)
			reason := drain()
			switch m {
			case "panic":
				require.IsType(t, &node.Crash{}, reason)
				assert.True(t, reason.(*node.Crash).Panic)
				assert.Equal(t, "panic", reason.(*node.Crash).Reason)
			case node.ErrStop:
				assert.Equal(t, node.Normal, reason)
			default:
				if c, ok := reason.(*node.Crash); ok {
					assert.EqualError(t, c.Unwrap(), "oops")
				} else {
					assert.Equal(t, "why", reason)
				}
			}
		}
		// Dead when Exit returns.
		assert.Equal(t, node.NoProc, end(func(pid node.PID) { boss.Exit(pid, node.Kill) }))
		pid := s.Spawn(t, n, life)
		boss.Monitor(pid)
		boss.Exit(pid, node.Kill)
		assert.False(t, n.IsAlive(pid))
		assert.Equal(t, node.Killed, drain())
		boss.ExpectNone()
	})
}

// With the smallest budget every message is a turn of its own.
func TestBudgetOfOne(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{Workers: 2, Stages: 2, Budget: 1})
		boss := nodetest.NewProbe(t, n)
		pid := s.Spawn(t, n, sink(boss.Self(), 1, 100))
		for k := range 100 {
			require.NoError(t, boss.Send(pid, numbered{0, k}))
		}
		m, err := boss.ReceiveWithin(testkit.Limit, nil)
		require.NoError(t, err)
		assert.Equal(t, "all", m)
	})
}
