package pool_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/pool"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// calc is a worker that speaks in terms, so that nothing needs to be registered.
func calc() node.Actor {
	var owed []node.From
	return node.ActorFunc(func(c *node.Context, msg any) error {
		r, ok := c.Node().AsRequest(msg)
		if !ok {
			if t, ok := msg.(wire.Tuple); ok && t[0] == wire.Atom("tell") {
				return c.Send(t[1].(node.PID), t[2])
			}
			return nil
		}
		switch v := r.Body.(type) {
		case int:
			return r.Reply(2 * v)
		case node.Atom:
			if v == "owe" {
				owed = append(owed, r.From)
				return nil
			}
			return errors.New("crash")
		}
		return r.Reply(c.Self())
	})
}

// A pool is used from another node as from its own, by each protocol.
func TestFromAnotherNode(t *testing.T) {
	for _, name := range []string{"native", "erlang"} {
		t.Run(name, func(t *testing.T) { fromAnotherNode(t, name) })
	}
}

func fromAnotherNode(t *testing.T, name string) {
	synctest.Test(t, func(t *testing.T) {
		c := nodetest.NewCluster(t)
		protocols, err := (&node.Distribution{}).ProtocolsByName(name)
		require.NoError(t, err)
		a := c.Start(node.Config{Name: "a", Distribution: &node.Distribution{Protocols: protocols}})
		b := c.Start(node.Config{Name: "b", Distribution: &node.Distribution{Protocols: protocols}})
		c.Connect(a, b)
		pl, err := pool.Start(t.Context(), a, pool.Options{Name: "pool", Workers: 2, New: calc})
		require.NoError(t, err)
		to := node.At{Name: "pool", Node: a.Name()}
		p := nodetest.NewProbe(t, b)
		for i := range 20 {
			v, err := node.Call[int](t.Context(), p, to, i)
			require.NoError(t, err)
			require.Equal(t, 2*i, v)
		}
		for i := range 5 {
			require.NoError(t, p.Send(to, wire.Tuple{wire.Atom("tell"), p.Self(), i}))
		}
		p.ExpectAnyOrder(0, 1, 2, 3, 4)

		for _, what := range []node.Atom{"crash", "owe"} {
			f := node.Async[int](p, to, what)
			synctest.Wait()
			if what == "owe" {
				require.NoError(t, pl.Resize(t.Context(), a, 1)) // ends the worker that owes the answer, or the other
				_, err = node.Call[int](t.Context(), p, to, node.Atom("crash"))
				require.Error(t, err)
			}
			_, err := node.Await(t.Context(), p, f)
			var exit *node.ExitError
			require.ErrorAs(t, err, &exit, "%s: %v", what, err)
		}
		f := node.Async[int](p, to, node.Atom("owe"))
		synctest.Wait()
		c.Break(a, b)
		_, err = node.Await(t.Context(), p, f)
		require.ErrorContains(t, err, "noconnection")
	})
}

// adder is a server: calls, casts, and what Erlang sends.
type adder struct{ sum int }

func (a *adder) add(v int) int {
	a.sum += v
	return a.sum
}

var adders = genserver.Define(
	genserver.OnAnyCall(func(a *adder, _ *genserver.Context, v int) (int, error) { return a.add(v), nil }),
	genserver.OnCast(func(a *adder, _ *genserver.Context, v int) error { a.add(v); return nil }),
)

// Servers as workers, and OTP's messages to the pool.
func TestServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{})
		h := nodetest.NewProbe(t, n)
		p, err := pool.Start(t.Context(), n, pool.Options{Workers: 1, New: func() node.Actor { return adders.New(&adder{}) }})
		require.NoError(t, err)
		v, err := node.Call[int](t.Context(), h, p.PID(), 1)
		require.NoError(t, err)
		require.Equal(t, 1, v)
		require.NoError(t, genserver.Cast(h, p.PID(), 2))
		require.NoError(t, h.Send(p.PID(), wire.Tuple{wire.Atom("$gen_cast"), 3}))
		require.NoError(t, h.Send(p.PID(), wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{h.Self(), wire.Atom("tag")}, 4}))
		h.Expect(wire.Tuple{wire.Atom("tag"), 10})
		i, err := n.Info(p.Workers()[0])
		require.NoError(t, err)
		require.Contains(t, i.Behaviour, "adder")
	})
}

// A pool as a supervisor's child: it is started again under its name, and calls can be repeated.
func TestSupervised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{Log: new(nodetest.Log).Logger()})
		h := nodetest.NewProbe(t, n)
		p, err := pool.New(pool.Options{Name: "pool", Workers: 2, Intensity: supervisor.NoRestarts, New: calc})
		require.NoError(t, err)
		require.Zero(t, p.PID())
		require.ErrorIs(t, p.Resize(t.Context(), h, 1), pool.ErrNoWorkers)
		require.ErrorIs(t, pool.Broadcast(h, p, 1), pool.ErrNoWorkers)
		tree := supervisor.Spec{Intensity: 5, Children: []supervisor.Child{p.Child()}}
		_, err = supervisor.Start(t.Context(), n, tree, node.Options{})
		require.NoError(t, err)
		again := func() {
			v, err := node.Retry(t.Context(), h, func() (int, error) { return node.Call[int](t.Context(), h, node.Atom("pool"), 4) })
			require.NoError(t, err)
			require.Equal(t, 8, v)
		}
		for range 2 {
			before := p.PID()
			ref := h.Monitor(before)
			_, err = node.Call[int](t.Context(), h, node.Atom("pool"), node.Atom("crash"))
			require.Error(t, err)
			require.Equal(t, node.Shutdown, h.ExpectDown(ref).Reason)
			again()
			require.NotEqual(t, before, p.PID())
			require.NoError(t, p.Resize(t.Context(), h, 5))
		}
		n.Exit(p.PID(), node.Kill)
		again()
	})
}

// Under load, with kills and changes of the size: each call has one outcome, an answer or the end of a worker; no message is
// handled twice, and none is lost but those at hand when a worker was killed.
func TestStressKillsAndResizes(t *testing.T) {
	for name, route := range routes {
		for _, bounds := range []mailbox.Bounds{{}, {Messages: 5, Policy: mailbox.Block}} {
			t.Run(name, func(t *testing.T) { random(t, pool.Options{Workers: 3, Route: route, Bounds: bounds}) })
		}
	}
	t.Run("not replaced", func(t *testing.T) {
		random(t, pool.Options{Workers: 64, Backoff: supervisor.Backoff{Initial: time.Hour, Max: time.Hour}})
	})
}

func random(t *testing.T, o pool.Options) {
	const senders, each = 4, 300
	r := testkit.Rand(t)
	n := nodetest.Start(t, node.Config{Log: new(nodetest.Log).Logger()})
	var handled [senders * each]atomic.Int32
	o.Intensity = 1 << 20
	o.New = func() node.Actor {
		return node.ActorFunc(func(c *node.Context, msg any) error {
			switch m := msg.(type) {
			case note:
				handled[m.v].Add(1)
			case node.Request[note]:
				handled[m.Body.v].Add(1)
				return m.Reply(m.Body.v)
			}
			return nil
		})
	}
	replaced := o.Backoff.Initial == 0
	p, err := pool.Start(t.Context(), n, o)
	require.NoError(t, err)
	front := p.PID()
	var wg sync.WaitGroup
	var killed, failed atomic.Int32
	over := make(chan struct{})
	seeds := [senders]uint64{}
	for i := range seeds {
		seeds[i] = r.Uint64()
	}
	for s := range senders {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seeds[s], 2))
			for i := range each {
				v := s*each + i
				if r.IntN(2) == 0 {
					if err := n.Send(front, note{v}); err != nil {
						t.Error(err)
					}
					continue
				}
				got, err := node.Call[int](testkit.Context(t), n, front, note{v})
				var exit *node.ExitError
				if errors.As(err, &exit) && (exit.Reason == node.Killed || exit.Reason == node.NoProc) {
					failed.Add(1)
				} else if err != nil || got != v {
					t.Errorf("%d: %d %v", v, got, err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-over:
				return
			default:
			}
			if replaced && r.IntN(3) == 0 {
				ctx, cancel := testkit.Context(t), context.CancelFunc(func() {})
				if r.IntN(2) == 0 {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(r.IntN(100))*time.Microsecond)
				}
				if err := p.Resize(ctx, n, 1+r.IntN(5)); err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
				cancel()
				continue
			}
			if all := p.Workers(); len(all) > 2 || replaced && len(all) > 0 {
				pid := all[r.IntN(len(all))]
				n.Exit(pid, node.Kill)
				killed.Add(1)
				for n.IsAlive(pid) {
					runtime.Gosched()
				}
			}
		}
	}()
	wg.Wait()
	close(over)
	<-done
	_, err = node.Call[int](testkit.Context(t), n, front, note{0})
	require.NoError(t, err)
	handled[0].Add(-1)
	testkit.Until(t, func() string {
		if i, err := n.Info(front); err != nil || i.Mailbox > 0 {
			return "messages wait"
		}
		return ""
	})
	for _, pid := range p.Workers() { // each has handled what it had
		_, err := node.Call[int](testkit.Context(t), n, pid, note{0})
		require.NoError(t, err)
		handled[0].Add(-1)
	}
	lost := int32(0)
	for v := range handled {
		got := handled[v].Load()
		require.LessOrEqual(t, got, int32(1), "%d was handled more than once", v)
		lost += 1 - got
	}
	require.LessOrEqual(t, lost, killed.Load())
	require.LessOrEqual(t, failed.Load(), killed.Load())
	t.Logf("killed %d, lost %d, failed calls %d", killed.Load(), lost, failed.Load())
}
