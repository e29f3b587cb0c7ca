package lifetime_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/lifetime"
	"github.com/actornode/actornode/node/nodetest"
)

var errOver = errors.New("over")

// ended is a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errOver)
	return ctx
}

// Wait waits for each process except daemons and handles, including those that are spawned meanwhile.
func TestWait(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	require.NoError(t, lifetime.Wait(testkit.Context(t), n), "there is none")
	h := nodetest.NewProbe(t, n)
	daemon, err := n.SpawnOpt(node.Options{Daemon: true}, node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	require.NoError(t, lifetime.Wait(testkit.Context(t), n), "a daemon and a handle")

	var last atomic.Bool
	var chain func(left int) node.ProcessFunc
	chain = func(left int) node.ProcessFunc {
		return func(p *node.Process) error {
			if left == 0 {
				p.Receive()
				last.Store(true)
				return nil
			}
			pid, err := p.Spawn(chain(left - 1))
			if left == 1 {
				h.Send(h.Self(), pid)
			}
			return err
		}
	}
	_, err = n.Spawn(chain(100))
	require.NoError(t, err)
	end := h.Receive().(node.PID)
	require.ErrorIs(t, lifetime.Wait(ended(), n), errOver, "the last of the chain is left")
	require.NoError(t, n.Send(end, "end"))
	require.NoError(t, lifetime.Wait(testkit.Context(t), n))
	require.True(t, last.Load())
	require.True(t, n.IsAlive(daemon))
}

// Wait waits for the processes that a daemon spawns.
func TestWaitForChildOfDaemon(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	child := make(chan node.PID, 1)
	_, err := n.SpawnOpt(node.Options{Daemon: true}, node.ProcessFunc(func(p *node.Process) error {
		pid, err := p.Spawn(node.ProcessFunc(func(p *node.Process) error { p.Receive(); return nil }))
		child <- pid
		p.Receive()
		return err
	}))
	require.NoError(t, err)
	pid := <-child
	require.ErrorIs(t, lifetime.Wait(ended(), n), errOver)
	n.Send(pid, 0)
	require.NoError(t, lifetime.Wait(testkit.Context(t), n))
}

// Processes spawn each other and end, so that there is always one until the last: Wait never returns early.
func TestWaitStress(t *testing.T) {
	random := testkit.Rand(t)
	n := nodetest.Start(t, node.Config{})
	for range 30 {
		left := atomic.Int64{}
		left.Store(2000)
		var b func(seed uint64) node.Actor
		b = func(seed uint64) node.Actor {
			r := rand.New(rand.NewPCG(seed, 2))
			spawn := func(c node.Caller) error {
				for range 1 + r.IntN(2) {
					if left.Add(-1) <= 0 {
						break
					}
					next := b(r.Uint64())
					var err error
					switch c := c.(type) {
					case *node.Context:
						var pid node.PID
						if pid, err = c.Spawn(next); err == nil {
							err = c.Send(pid, 0)
						}
					case *node.Process:
						var pid node.PID
						if pid, err = c.Spawn(next); err == nil {
							err = c.Send(pid, 0)
						}
					}
					if err != nil {
						return err
					}
				}
				return node.ExitWith(node.Normal)
			}
			if r.IntN(4) == 0 {
				return node.ProcessFunc(func(p *node.Process) error { p.Receive(); return spawn(p) })
			}
			return node.ActorFunc(func(c *node.Context, _ any) error { return spawn(c) })
		}
		pid, err := n.Spawn(b(random.Uint64()))
		require.NoError(t, err)
		require.NoError(t, n.Send(pid, 0))
		require.NoError(t, lifetime.Wait(testkit.Context(t), n))
		require.LessOrEqual(t, left.Load(), int64(0), "there were more to spawn")
	}
}

// styles returns all styles, with unbounded and with bounded mailboxes.
func styles() []actortest.Style {
	all := actortest.Styles()
	for _, s := range []actortest.Style{actortest.Actor, actortest.Process} {
		s.Name = "bounded " + s.Name
		all = append(all, s.With(node.Options{Bounds: mailbox.Bounds{Messages: 1 << 20}}))
	}
	return all
}

// unwanted is a message that nobody handles.
type unwanted struct{ n int }

// spawn starts a process of a style that calls do for each message except unwanted ones, which it leaves.
func spawn(t *testing.T, n *node.Node, s actortest.Style, do func(self actortest.Self, msg any)) node.PID {
	t.Helper()
	var b node.Actor = node.ActorFunc(func(c *node.Context, msg any) error {
		if _, ok := msg.(unwanted); ok {
			return node.ErrUnhandled
		}
		do(c, msg)
		return nil
	})
	if s.Blocking {
		b = node.ProcessFunc(func(p *node.Process) error {
			for {
				do(p, p.ReceiveMatch(func(msg any) bool { _, ok := msg.(unwanted); return !ok }))
			}
		})
	}
	pid, err := n.SpawnOpt(s.Options, b)
	require.NoError(t, err)
	return pid
}

// A node is not idle while a handler runs or a message waits, whatever the style; it is idle when the only messages are
// those that were left.
func TestIdle(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		require.NoError(t, lifetime.Idle(testkit.Context(t), n), "there is no process")
		begun, goOn := make(chan struct{}), make(chan struct{})
		pid := spawn(t, n, s, func(actortest.Self, any) { begun <- struct{}{}; <-goOn })
		require.NoError(t, lifetime.Idle(testkit.Context(t), n), "nothing to do")
		require.NoError(t, n.Send(pid, 1))
		require.NoError(t, n.Send(pid, 2))
		<-begun
		require.ErrorIs(t, lifetime.Idle(ended(), n), errOver, "it runs")
		require.NoError(t, n.Send(pid, unwanted{1}))
		goOn <- struct{}{}
		<-begun
		require.ErrorIs(t, lifetime.Idle(ended(), n), errOver, "it runs again")
		goOn <- struct{}{}
		require.NoError(t, lifetime.Idle(testkit.Context(t), n), "one message is left")
		require.NoError(t, n.Send(pid, 3))
		<-begun
		require.ErrorIs(t, lifetime.Idle(ended(), n), errOver)
		goOn <- struct{}{}
		require.NoError(t, lifetime.Idle(testkit.Context(t), n))
	}, styles()...)
}

// A process that waits for an answer is not idle, nor is one that computes, unless it is a daemon.
func TestIdleWithCallsAndDaemons(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	var from node.From
	kept := make(chan struct{})
	server, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
		from = msg.(node.Request[int]).From
		close(kept)
		return nil
	}))
	require.NoError(t, err)
	_, err = n.Spawn(node.ProcessFunc(func(p *node.Process) error {
		node.Call[int](p.Context(), p, server, 1)
		p.Receive()
		return nil
	}))
	require.NoError(t, err)
	<-kept
	require.ErrorIs(t, lifetime.Idle(ended(), n), errOver, "a call waits")
	require.NoError(t, from.Reply(1))
	require.NoError(t, lifetime.Idle(testkit.Context(t), n))

	stop := make(chan struct{})
	blocks := node.ProcessFunc(func(p *node.Process) error { <-stop; return nil })
	_, err = n.SpawnOpt(node.Options{Daemon: true}, blocks)
	require.NoError(t, err)
	require.NoError(t, lifetime.Idle(testkit.Context(t), n), "a daemon")
	_, err = n.Spawn(blocks)
	require.NoError(t, err)
	require.ErrorIs(t, lifetime.Idle(ended(), n), errOver)
	close(stop)
	require.NoError(t, lifetime.Idle(testkit.Context(t), n))
}

// Timers that are due later do not count; those that are due now do.
func TestIdleWithTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, err := node.Start(node.Config{Log: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		var got atomic.Int32
		pid, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { got.Add(1); return nil }))
		require.NoError(t, err)
		_, err = n.SendAfter(time.Hour, pid, 1)
		require.NoError(t, err)
		_, err = n.Spawn(node.ProcessFunc(func(p *node.Process) error {
			p.ReceiveWithin(time.Hour, nil)
			p.Send(pid, 2)
			p.Receive()
			return nil
		}))
		require.NoError(t, err)
		require.NoError(t, lifetime.Idle(t.Context(), n))
		require.Zero(t, got.Load())
		time.Sleep(time.Hour + time.Second)
		require.NoError(t, lifetime.Idle(t.Context(), n))
		require.EqualValues(t, 2, got.Load())
		require.NoError(t, n.Stop())
	})
}

// token goes from one process to another at random until it has no steps left.
type token struct {
	left int
	seed uint64
}

// Tokens wander through processes of all styles, and are split; now and then a process first leaves one unhandled. When
// Idle returns, all of them have come to their end.
func TestIdleStress(t *testing.T) {
	random := testkit.Rand(t)
	n := nodetest.Start(t, node.Config{})
	var under atomic.Int64 // tokens
	var pids []node.PID
	handle := func(self actortest.Self, msg any) {
		k := msg.(token)
		r := rand.New(rand.NewPCG(k.seed, 3))
		if k.left > 0 {
			for range 1 + r.IntN(2) {
				under.Add(1)
				_ = self.Send(pids[r.IntN(len(pids))], token{k.left - 1 - r.IntN(3), r.Uint64()})
			}
		}
		if r.IntN(50) == 0 {
			_ = self.Send(pids[r.IntN(len(pids))], unwanted{})
		}
		under.Add(-1)
	}
	for range 4 {
		for _, s := range styles() {
			pids = append(pids, spawn(t, n, s, handle))
		}
	}
	for round := range 300 {
		for range 1 + random.IntN(3) {
			under.Add(1)
			require.NoError(t, n.Send(pids[random.IntN(len(pids))], token{random.IntN(20), random.Uint64()}))
		}
		require.NoError(t, lifetime.Idle(testkit.Context(t), n))
		require.Zero(t, under.Load(), "round %d", round)
	}
}
