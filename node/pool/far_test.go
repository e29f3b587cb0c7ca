package pool_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
	kernelkit "github.com/actornode/actornode/internal/testkit/nodetest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/admin"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/pool"
	"github.com/actornode/actornode/node/sys"
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
		_, err = pool.Start(t.Context(), a, pool.Options{Name: "pool", Workers: 2, New: calc, Intensity: 100}, node.Options{})
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
				require.NoError(t, pool.Resize(t.Context(), p, to, 1))
				_, err = node.Call[int](t.Context(), p, to, node.Atom("crash"))
				require.Error(t, err)
				require.NoError(t, pool.Resize(t.Context(), p, to, 2))
				_, err = node.Call[int](t.Context(), p, to, node.Atom("crash"))
				require.Error(t, err)
			}
			_, err := node.Await(t.Context(), p, f)
			var exit *node.ExitError
			require.ErrorAs(t, err, &exit, "%s: %v", what, err)
		}
		require.NoError(t, pool.Resize(t.Context(), p, to, 3))
		all, err := pool.Workers(t.Context(), p, to)
		require.NoError(t, err)
		require.Len(t, all, 3)
		require.ErrorIs(t, pool.Resize(t.Context(), p, to, 0), node.ErrArgument)
		require.NoError(t, pool.Broadcast(t.Context(), p, to, wire.Tuple{wire.Atom("tell"), p.Self(), "all"}))
		p.Expect("all", "all", "all")
		v, err := pool.First[int](t.Context(), p, to, 4)
		require.NoError(t, err)
		require.Equal(t, 8, v)

		f := node.Async[int](p, to, node.Atom("owe"))
		synctest.Wait()
		c.Break(a, b)
		_, err = node.Await(t.Context(), p, f)
		require.ErrorContains(t, err, "noconnection")
	})
}

// Only nodes that operate the pool's may change its size.
func TestRights(t *testing.T) {
	kernelkit.EachProtocol(t, func(t *testing.T, cluster *kernelkit.Cluster) {
		a, near, ops := cluster.Start("a"), cluster.Start("near"), cluster.Start("ops")
		ctx := testkit.Context(t)
		front, err := pool.Start(ctx, a, pool.Options{Workers: 1, New: calc}, node.Options{})
		require.NoError(t, err)
		require.NoError(t, admin.Start(ctx, a, admin.Config{Operators: func(n node.Atom) bool { return n == ops.Name() }}))
		require.ErrorIs(t, pool.Resize(ctx, near, front, 2), supervisor.ErrNotAllowed)
		require.NoError(t, pool.Resize(ctx, ops, front, 2))
		require.NoError(t, pool.Resize(ctx, a, front, 3))
		all, err := pool.Workers(ctx, near, front)
		require.NoError(t, err)
		require.Len(t, all, 3)
		v, err := node.Call[int](ctx, near, front, 4)
		require.NoError(t, err)
		require.Equal(t, 8, v)
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

// Servers as workers, OTP's messages to the pool, and system messages, which are for the pool itself.
func TestServers(t *testing.T) {
	kernelkit.InBubble(t, func(t *testing.T, n *node.Node, h *node.Process, log *logtest.Text) {
		front, err := pool.Start(t.Context(), n, pool.Options{Name: "pool", Workers: 1,
			New: func() node.Actor { return adders.New(&adder{}) }}, node.Options{})
		require.NoError(t, err)
		v, err := node.Call[int](t.Context(), h, front, 1)
		require.NoError(t, err)
		require.Equal(t, 1, v)
		require.NoError(t, genserver.Cast(h, front, 2))
		require.NoError(t, h.Send(front, wire.Tuple{wire.Atom("$gen_cast"), 3}))
		require.NoError(t, h.Send(front, wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{h.Self(), wire.Atom("tag")}, 4}))
		require.Equal(t, wire.Tuple{wire.Atom("tag"), 10}, h.Receive())
		require.NoError(t, h.Send(front, wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{h.Self(), wire.Atom("tag")}, wire.Atom("$pool_workers")}))
		workers := h.Receive().(wire.Tuple)[1].(wire.List)
		require.Len(t, workers, 1)

		state, err := sys.GetState(t.Context(), h, front)
		require.NoError(t, err)
		require.Equal(t, "#{waiting => 0,workers => "+wire.Format(workers)+"}", wire.Format(state))
		require.NoError(t, sys.Suspend(t.Context(), h, workers[0].(node.PID)))
		waits := node.Async[int](h, front, 5)
		synctest.Wait()
		require.NoError(t, sys.Suspend(t.Context(), h, front))
		require.NoError(t, sys.Resume(t.Context(), h, front))
		require.NoError(t, sys.Resume(t.Context(), h, workers[0].(node.PID)))
		v, err = node.Await(t.Context(), h, waits)
		require.NoError(t, err)
		require.Equal(t, 15, v)
		i, err := n.Info(workers[0].(node.PID))
		require.NoError(t, err)
		require.Contains(t, i.Behaviour, "adder")
	})
}

// A pool as a supervisor's child: it is started again under its name, and calls can be repeated.
func TestSupervised(t *testing.T) {
	kernelkit.InBubble(t, func(t *testing.T, n *node.Node, h *node.Process, log *logtest.Text) {
		_, err := supervisor.Start(t.Context(), n, supervisor.Spec{Intensity: 5, Children: []supervisor.Child{{
			ID: "pool", Type: supervisor.Supervisor,
			Start: func(...any) (node.Actor, error) {
				return pool.New(pool.Options{Name: "pool", Workers: 2, Intensity: supervisor.NoRestarts, New: calc}), nil
			},
		}}}, node.Options{Name: "top"})
		require.NoError(t, err)
		for range 2 {
			before, _ := n.Whereis("pool")
			ref := h.Monitor(before)
			_, err = node.Call[int](t.Context(), h, node.Atom("pool"), node.Atom("crash"))
			require.Error(t, err)
			require.Equal(t, node.Shutdown, kernelkit.Down(t, h, ref).Reason)
			v, err := node.Retry(t.Context(), h, func() (int, error) { return node.Call[int](t.Context(), h, node.Atom("pool"), 4) })
			require.NoError(t, err)
			require.Equal(t, 8, v)
		}
		front, _ := n.Whereis("pool")
		n.Exit(front, node.Kill)
		v, err := node.Retry(t.Context(), h, func() (int, error) { return node.Call[int](t.Context(), h, node.Atom("pool"), 4) })
		require.NoError(t, err)
		require.Equal(t, 8, v)
	})
}

// Under load, with kills and changes of the size: each call has one outcome, an answer or the end of a worker; no message is
// handled twice, and none is lost but those at hand when a worker was killed.
func TestRandom(t *testing.T) {
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
	n := kernelkit.Start(t, node.Config{})
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
	front, err := pool.Start(t.Context(), n, o, node.Options{})
	require.NoError(t, err)
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
				if errors.As(err, &exit) && exit.Reason == node.Killed {
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
				if err := pool.Resize(testkit.Context(t), n, front, 1+r.IntN(5)); err != nil {
					t.Error(err)
				}
				continue
			}
			all, err := pool.Workers(testkit.Context(t), n, front)
			if err != nil {
				t.Error(err)
			} else if len(all) > 2 || replaced && len(all) > 0 {
				n.Exit(all[r.IntN(len(all))], node.Kill)
				killed.Add(1)
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
	all, err := pool.Workers(testkit.Context(t), n, front)
	require.NoError(t, err)
	for _, pid := range all { // each has handled what it had
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
