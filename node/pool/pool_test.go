package pool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/pool"
	"github.com/actornode/actornode/supervisor"
)

// A worker of the tests: it does what the messages say.
type (
	echo  struct{ v int }       // a request: answered with the worker's PID
	wait  struct{ on chan int } // waits until on is closed
	crash struct{}
	keep  struct{} // a request whose answer the worker owes
	leave struct{} // left as unhandled, until open
	open  struct{}
	note  struct{ v int } // a message: noted with the worker's PID
)

type notes struct {
	mu  sync.Mutex
	all []int
	by  []node.PID
}

func (s *notes) add(pid node.PID, v int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all, s.by = append(s.all, v), append(s.by, pid)
}

type obedient struct {
	notes *notes
	open  bool
	owes  []node.From
}

func (o *obedient) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case node.Request[echo]:
		return m.Reply(c.Self())
	case node.Request[wait]:
		<-m.Body.on
		return m.Reply(c.Self())
	case node.Request[crash]:
		return errors.New("crash")
	case node.Request[leave]:
		if !o.open {
			return node.ErrUnhandled
		}
		return m.Reply(c.Self())
	case open:
		o.open = true
		c.Become(o)
	case leave:
		if !o.open {
			return node.ErrUnhandled
		}
		o.notes.add(c.Self(), -1)
	case node.Request[keep]:
		o.owes = append(o.owes, m.From)
	case wait:
		<-m.on
	case crash:
		panic("crash")
	case note:
		o.notes.add(c.Self(), m.v)
	default:
		c.Unknown(msg)
	}
	return nil
}

var routes = map[string]pool.Route{
	"busy": pool.LeastBusy(), "turn": pool.RoundRobin(), "hash": pool.ByHash(byNote),
}

func byNote(msg any) uint64 {
	if n, ok := msg.(note); ok {
		return uint64(n.v)
	}
	return 0
}

type kit struct {
	*testing.T
	n     *node.Node
	h     *nodetest.Probe
	log   *nodetest.Log
	notes notes
	p     *pool.Pool
	front node.PID
}

// inBubble runs a test with a pool whose workers are obedient.
func inBubble(t *testing.T, o pool.Options, f func(k *kit)) {
	synctest.Test(t, func(t *testing.T) {
		log := new(nodetest.Log)
		n := nodetest.Start(t, node.Config{Log: log.Logger()})
		k := &kit{T: t, n: n, h: nodetest.NewProbe(t, n), log: log}
		if o.New == nil {
			o.New = func() node.Actor { return &obedient{notes: &k.notes} }
		}
		o.Worker.Place = node.Detached() // waiting workers hold up no stage
		var err error
		k.p, err = pool.Start(t.Context(), n, o)
		require.NoError(t, err)
		k.front = k.p.PID()
		synctest.Wait()
		f(k)
		n.Exit(k.front, node.Shutdown)
		synctest.Wait()
		require.Empty(t, k.p.Workers(), "the pool ends with its front")
		require.ErrorIs(t, k.p.Resize(t.Context(), n, 3), pool.ErrNoWorkers)
	})
}

// hold makes a worker wait until the channel is closed.
func (k *kit) hold() chan int {
	on := make(chan int)
	require.NoError(k, k.n.Send(k.front, wait{on}))
	synctest.Wait()
	return on
}

// about matches a line of the log.
func about(text string) func(nodetest.LogRecord) bool {
	return func(r nodetest.LogRecord) bool { return strings.Contains(r.Message, text) }
}

func (k *kit) send(v ...int) {
	for _, v := range v {
		require.NoError(k, k.n.Send(k.front, note{v}))
	}
}

// noted waits for quiet and takes the notes.
func (k *kit) noted() ([]int, []node.PID) {
	synctest.Wait()
	k.notes.mu.Lock()
	defer k.notes.mu.Unlock()
	all, by := k.notes.all, k.notes.by
	k.notes.all, k.notes.by = nil, nil
	return all, by
}

func (k *kit) workers() []node.PID {
	synctest.Wait()
	return k.p.Workers()
}

// Calls and messages, by each route, from the pool's processes' point of view like those of any process.
func TestCallsAndMessages(t *testing.T) {
	for name, route := range routes {
		t.Run(name, func(t *testing.T) {
			inBubble(t, pool.Options{Name: "pool", Workers: 3, Route: route}, func(k *kit) {
				workers := k.workers()
				require.Len(k, workers, 3)
				for i := range 9 {
					by, err := node.Call[node.PID](k.Context(), k.h, node.Atom("pool"), echo{i})
					require.NoError(k, err)
					require.Contains(k, workers, by)
				}
				k.send(1, 2, 3, 4, 5, 6)
				all, by := k.noted()
				require.ElementsMatch(k, []int{1, 2, 3, 4, 5, 6}, all)
				for i, v := range all {
					switch name {
					case "turn":
						require.Equal(k, by[slices.Index(all, (v+2)%3+1)], by[i], "in turn")
					case "hash":
						require.Equal(k, workers[v%3], by[i])
					}
				}
				require.NoError(k, k.n.Send(k.front, "what"))
				k.log.Await(k, about("unexpected message"))
			})
		})
	}
}

// A slow message holds up no other with LeastBusy, and those of its own worker otherwise, in order.
func TestSlowMessage(t *testing.T) {
	inBubble(t, pool.Options{Workers: 2}, func(k *kit) {
		on := k.hold()
		k.send(1, 2, 3)
		all, by := k.noted()
		require.Equal(k, []int{1, 2, 3}, all)
		require.Len(k, slices.Compact(by), 1)
		close(on)
	})
	inBubble(t, pool.Options{Workers: 2, Route: pool.ByHash(byNote)}, func(k *kit) {
		on := k.hold()
		k.send(0, 1, 2, 3, 4)
		all, _ := k.noted()
		require.Equal(k, []int{1, 3}, all)
		i, err := k.n.Info(k.front)
		require.NoError(k, err)
		require.EqualValues(k, 3, i.Mailbox)
		close(on)
		all, _ = k.noted()
		require.Equal(k, []int{0, 2, 4}, all)
	})
}

// The four policies, in one queue or in that of a worker.
func TestBounds(t *testing.T) {
	for name, route := range map[string]pool.Route{"one queue": pool.LeastBusy(), "of each": pool.ByHash(byNote)} {
		for policy, want := range map[mailbox.Policy][]int{
			mailbox.Refuse: {1, 2}, mailbox.DropNewest: {1, 2}, mailbox.DropOldest: {2, 3}, mailbox.Block: {1, 2, 3},
		} {
			t.Run(name+"/"+policy.String(), func(t *testing.T) {
				var dropped, whose []any
				inBubble(t, pool.Options{Workers: 1, Route: route, Bounds: mailbox.Bounds{Messages: 2, Policy: policy,
					Dropped: func(to node.PID, msg any) { dropped, whose = append(dropped, msg), append(whose, to) }}}, func(k *kit) {
					dead := k.n.DeadLetters(10)
					defer dead.Close()
					on := k.hold()
					k.send(1, 2)
					sent := make(chan error, 1)
					go func() { sent <- k.n.Send(k.front, note{3}) }()
					synctest.Wait()
					var err error
					if policy == mailbox.Block {
						require.Empty(k, sent)
						ctx, cancel := context.WithTimeout(k.Context(), time.Second)
						defer cancel()
						_, err := node.Call[node.PID](ctx, k.h, k.front, echo{})
						require.ErrorIs(k, err, context.DeadlineExceeded)
					} else if err = <-sent; policy == mailbox.Refuse {
						require.ErrorIs(k, err, node.ErrMailboxFull)
						_, err = node.Call[node.PID](k.Context(), k.h, k.front, echo{})
						require.ErrorIs(k, err, node.ErrMailboxFull)
					} else {
						require.NoError(k, err)
						require.Len(k, dropped, 1)
						require.Equal(k, []any{k.front}, whose)
						require.Equal(k, k.front, (<-dead.C).To)
					}
					close(on)
					all, _ := k.noted()
					require.Equal(k, want, all)
					if policy == mailbox.Block {
						require.NoError(k, <-sent)
					}
				})
			})
		}
	}
}

// A call that a policy loses fails.
func TestDroppedCall(t *testing.T) {
	inBubble(t, pool.Options{Workers: 1, Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.DropOldest}}, func(k *kit) {
		on := k.hold()
		f := node.Async[node.PID](k.n, k.front, echo{})
		k.send(1)
		_, err := node.Await(k.Context(), k.n, f)
		require.ErrorIs(k, err, node.ErrDropped)
		close(on)
	})
}

// A crash loses the message at hand: its caller is told, as is one whose answer the worker owed. The worker is replaced.
func TestCrash(t *testing.T) {
	for name, route := range routes {
		t.Run(name, func(t *testing.T) {
			inBubble(t, pool.Options{Workers: 1, Route: route, Intensity: 10}, func(k *kit) {
				before := k.workers()
				owed := node.Async[int](k.n, k.front, keep{})
				on := k.hold()
				crashing := node.Async[int](k.n, k.front, crash{})
				k.send(1, 2)
				require.NoError(k, k.n.Send(k.front, crash{}))
				k.send(3)
				after := node.Async[node.PID](k.n, k.front, echo{})
				close(on)
				for _, f := range []*node.Future[int]{owed, crashing} {
					_, err := node.Await(k.Context(), k.n, f)
					var exit *node.ExitError
					require.ErrorAs(k, err, &exit)
					require.ErrorContains(k, err, "crash")
				}
				by, err := node.Await(k.Context(), k.n, after)
				require.NoError(k, err)
				all, _ := k.noted()
				require.Equal(k, []int{1, 2, 3}, all)
				require.Equal(k, []node.PID{by}, k.workers())
				require.NotEqual(k, before[0], by)
			})
		})
	}
}

// A worker that always crashes ends the pool, and with it the calls that wait.
func TestAlwaysCrashes(t *testing.T) {
	inBubble(t, pool.Options{Workers: 2, Intensity: 3, Period: time.Minute, New: func() node.Actor {
		return node.ActorFunc(func(c *node.Context, msg any) error { return errors.New("always") })
	}}, func(k *kit) {
		ref := k.h.Monitor(k.front)
		var calls []*node.Future[int]
		for range 100 {
			calls = append(calls, node.Async[int](k.n, k.front, echo{}))
		}
		byWorker := 0
		for _, f := range calls {
			_, err := node.Await(k.Context(), k.n, f)
			var exit *node.ExitError
			require.ErrorAs(k, err, &exit)
			if strings.Contains(err.Error(), "always") {
				byWorker++
			}
		}
		require.GreaterOrEqual(k, byWorker, 4)
		require.Equal(k, node.Shutdown, k.h.ExpectDown(ref).Reason)
		require.Equal(k, pool.Stats{}, k.p.Stats())
	})
}

// What cannot start says why.
func TestBadOptions(t *testing.T) {
	n := nodetest.Start(t, node.Config{Log: new(nodetest.Log).Logger()})
	good := func() node.Actor { return &obedient{} }
	for want, o := range map[string]pool.Options{
		"Options.New is nil":          {},
		"-1 workers: want 1 to 65536": {New: good, Workers: -1},
		"65537 workers":               {New: good, Workers: 65_537},
		"Bounds.Messages -1":          {New: good, Bounds: mailbox.Bounds{Messages: -1}},
		"Deadline -1ns":               {New: good, Deadline: -1},
		"Options.Worker: Name":        {New: good, Worker: node.Options{Name: "x"}},
		"returned node.ProcessFunc: want an Ac": {New: func() node.Actor {
			return node.ProcessFunc(func(*node.Process) error { return nil })
		}},
		"returned <nil>":    {New: func() node.Actor { return nil }},
		"a worker must run": {New: func() node.Actor { return starter{node.ErrIgnore} }},
		"no luck":           {New: func() node.Actor { return starter{errors.New("no luck")} }},
		"invalid_backoff":   {New: good, Backoff: supervisor.Backoff{Initial: -1}},
	} {
		_, err := pool.Start(t.Context(), n, o)
		require.ErrorContains(t, err, want)
		if strings.Contains(want, "Options") || strings.Contains(want, "workers") {
			require.ErrorIs(t, err, node.ErrArgument)
			require.PanicsWithError(t, err.Error(), func() { pool.MustNew(o) })
		}
	}
	require.NotNil(t, pool.MustNew(pool.Options{New: good}))
}

type starter struct{ err error }

func (s starter) Init(*node.Context) error         { return s.err }
func (s starter) Receive(*node.Context, any) error { return nil }

// More workers, and fewer: those that are busy finish what is theirs first.
func TestResize(t *testing.T) {
	for name, route := range routes {
		t.Run(name, func(t *testing.T) {
			inBubble(t, pool.Options{Workers: 1, Route: route}, func(k *kit) {
				resize := func(workers int) { require.NoError(k, k.p.Resize(k.Context(), k.h, workers)) }
				resize(4)
				require.Len(k, k.workers(), 4)
				var held []chan int
				for range 4 {
					held = append(held, k.hold())
				}
				k.send(0, 1, 2, 3, 4, 5, 6, 7)
				done := make(chan error, 1)
				go func() { done <- k.p.Resize(k.Context(), k.n, 2) }()
				synctest.Wait()
				require.Equal(k, name == "hash", len(done) == 1, "busy workers have not ended")
				k.send(8, 9)
				for _, on := range held {
					close(on)
				}
				require.NoError(k, <-done)
				require.Len(k, k.workers(), 2)
				all, _ := k.noted()
				require.ElementsMatch(k, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, all)
				resize(2)
				resize(1)
				resize(3)
				require.Len(k, k.workers(), 3)
				for _, bad := range []int{0, -1, 65_537} {
					require.ErrorIs(k, k.p.Resize(k.Context(), k.h, bad), node.ErrArgument)
				}
				require.Len(k, k.workers(), 3)
			})
		})
	}
}

// A new worker that does not start leaves the pool as it was.
func TestResizeFails(t *testing.T) {
	var fails atomic.Bool
	inBubble(t, pool.Options{Workers: 1, New: func() node.Actor {
		if fails.Load() {
			return starter{errors.New("no luck")}
		}
		return starter{}
	}}, func(k *kit) {
		fails.Store(true)
		var failed *supervisor.StartError
		err := k.p.Resize(k.Context(), k.h, 3)
		require.ErrorAs(k, err, &failed)
		require.ErrorContains(k, err, "no luck")
		require.Len(k, k.workers(), 1)
		fails.Store(false)
		require.NoError(k, k.p.Resize(k.Context(), k.h, 3))
		require.Len(k, k.workers(), 3)
	})
}

// A worker that is stuck is killed at the Deadline and replaced. The function goes on, and disturbs nothing.
func TestDeadline(t *testing.T) {
	inBubble(t, pool.Options{Name: "pool", Workers: 1, Deadline: time.Minute}, func(k *kit) {
		on := make(chan int)
		stuck := node.Async[node.PID](k.n, k.front, wait{on})
		k.send(1)
		time.Sleep(59 * time.Second)
		require.NotEmpty(k, k.workers())
		before := k.workers()
		time.Sleep(10 * time.Second)
		_, err := node.Await(k.Context(), k.n, stuck)
		require.ErrorContains(k, err, "killed")
		k.log.Await(k, about("longer than Deadline"))
		all, _ := k.noted()
		require.Equal(k, []int{1}, all)
		require.NotEqual(k, before, k.workers())
		close(on)
		k.send(2)
		time.Sleep(time.Hour)
		all, _ = k.noted()
		require.Equal(k, []int{2}, all)
		require.Len(k, k.workers(), 1)
	})
}

// Broadcast reaches each worker, First takes one answer and cancels the others.
func TestAll(t *testing.T) {
	var cancelled chan node.PID
	var quick atomic.Bool
	inBubble(t, pool.Options{Workers: 3, New: func() node.Actor {
		return node.ActorFunc(func(c *node.Context, msg any) error {
			switch m := msg.(type) {
			case node.Request[echo]:
				if m.Body.v == 0 {
					return m.Fail(errors.New("none"))
				}
				if quick.CompareAndSwap(false, true) {
					return m.Reply(7)
				}
				self := c.Self()
				context.AfterFunc(m.Context(context.Background()), func() { cancelled <- self })
			case string:
				cancelled <- c.Self()
			case crash:
				return errors.New("crash")
			}
			return nil
		})
	}, Backoff: supervisor.Backoff{Initial: time.Hour, Max: time.Hour}, Intensity: 10}, func(k *kit) {
		cancelled = make(chan node.PID, 3)
		require.NoError(k, pool.Broadcast(k.h, k.p, "all"))
		require.ElementsMatch(k, k.workers(), []node.PID{<-cancelled, <-cancelled, <-cancelled})
		v, err := pool.First[int](k.Context(), k.h, k.p, echo{1})
		require.NoError(k, err)
		require.Equal(k, 7, v)
		require.NotEqual(k, <-cancelled, <-cancelled)
		_, err = pool.First[int](k.Context(), k.h, k.p, echo{0})
		require.ErrorContains(k, err, "none")

		require.NoError(k, pool.Broadcast(k.h, k.p, crash{}))
		require.Empty(k, k.workers())
		require.ErrorIs(k, pool.Broadcast(k.h, k.p, "all"), pool.ErrNoWorkers)
		_, err = pool.First[int](k.Context(), k.h, k.p, echo{1})
		require.ErrorIs(k, err, pool.ErrNoWorkers)
		require.NoError(k, k.n.Send(k.front, "waits")) // for an hour, for the first worker
		time.Sleep(2 * time.Hour)
		require.Len(k, k.workers(), 3)
		require.Contains(k, k.workers(), <-cancelled)

	})
}

// A request whose caller gives up while it waits is not handled.
func TestGivenUp(t *testing.T) {
	inBubble(t, pool.Options{Workers: 1}, func(k *kit) {
		on := k.hold()
		ctx, cancel := context.WithTimeout(k.Context(), time.Second)
		defer cancel()
		_, err := node.Call[int](ctx, k.h, k.front, crash{})
		require.ErrorIs(k, err, context.DeadlineExceeded)
		before := k.workers()
		close(on)
		k.send(1)
		all, by := k.noted()
		require.Equal(k, []int{1}, all)
		require.Equal(k, before, by)
	})
}

// What a worker has left as unhandled it handles later. Meanwhile it handles others.
func TestLeft(t *testing.T) {
	inBubble(t, pool.Options{Workers: 1}, func(k *kit) {
		left := node.Async[node.PID](k.n, k.front, leave{})
		require.NoError(k, k.n.Send(k.front, leave{}))
		k.send(1, 2, 3)
		all, _ := k.noted()
		require.Equal(k, []int{1, 2, 3}, all)
		require.NoError(k, pool.Broadcast(k.h, k.p, open{}))
		_, err := node.Await(k.Context(), k.n, left)
		require.NoError(k, err)
		all, _ = k.noted()
		require.Equal(k, []int{-1}, all)
	})
}

// Resize whose context ends leaves the worker that is busy, and what waits is handled.
func TestResizeGivenUp(t *testing.T) {
	for name, route := range routes {
		t.Run(name, func(t *testing.T) {
			inBubble(t, pool.Options{Workers: 2, Route: route}, func(k *kit) {
				held := []chan int{make(chan int), make(chan int)}
				for i, pid := range k.workers() {
					require.NoError(k, k.n.Send(pid, wait{held[i]}))
				}
				k.send(0, 1, 2, 3)
				ctx, cancel := context.WithTimeout(k.Context(), time.Second)
				defer cancel()
				// Both wait in messages of their own: they are idle for the pool until an order is due.
				err := k.p.Resize(ctx, k.h, 1)
				require.ErrorIs(k, err, context.DeadlineExceeded)
				require.Len(k, k.workers(), 2)
				for _, on := range held {
					close(on)
				}
				all, _ := k.noted()
				require.ElementsMatch(k, []int{0, 1, 2, 3}, all)
				require.NoError(k, k.p.Resize(k.Context(), k.h, 1))
			})
		})
	}
}

// A hash function that panics is logged, and the message is handled.
func TestBadHash(t *testing.T) {
	inBubble(t, pool.Options{Workers: 2, Route: pool.ByHash(func(any) uint64 { panic("bad hash") })}, func(k *kit) {
		k.send(1)
		all, by := k.noted()
		require.Equal(k, []int{1}, all)
		require.Equal(k, k.workers()[:1], by)
		k.log.Await(k, about("hash of a pool"))
	})
}

// Resize that waits for a busy worker ends with the pool, and the pool that a supervisor starts then can be resized.
func TestResizeAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{Log: new(nodetest.Log).Logger()})
		p, err := pool.New(pool.Options{Workers: 2, New: func() node.Actor { return &obedient{} },
			Worker: node.Options{Place: node.Detached()}})
		require.NoError(t, err)
		tree := supervisor.Spec{Intensity: 5, Children: []supervisor.Child{p.Child()}}
		_, err = supervisor.Start(t.Context(), n, tree, node.Options{})
		require.NoError(t, err)
		on := make(chan int)
		for range 2 {
			require.NoError(t, n.Send(p.PID(), wait{on}))
		}
		synctest.Wait()
		done := make(chan error, 1)
		go func() { done <- p.Resize(context.Background(), n, 1) }()
		synctest.Wait()
		n.Exit(p.PID(), node.Kill)
		require.ErrorIs(t, <-done, pool.ErrNoWorkers)
		close(on)
		synctest.Wait()
		require.NoError(t, p.Resize(t.Context(), n, 3))
		require.Len(t, p.Workers(), 3)
	})
}

// A Resize whose context has ended leaves no process behind, and changes nothing.
func TestResizeTooLate(t *testing.T) {
	inBubble(t, pool.Options{Workers: 2}, func(k *kit) {
		before := k.n.Stats().Processes
		ctx, cancel := context.WithCancel(k.Context())
		cancel()
		for _, workers := range []int{1, 5} {
			require.ErrorIs(k, k.p.Resize(ctx, k.h, workers), context.Canceled)
			synctest.Wait()
			require.Len(k, k.workers(), 2)
			require.Equal(k, before, k.n.Stats().Processes)
		}
	})
	slow := make(chan int)
	inBubble(t, pool.Options{Workers: 1, New: func() node.Actor { return slowStart{slow} }}, func(k *kit) {
		before := k.n.Stats().Processes
		ctx, cancel := context.WithTimeout(k.Context(), time.Second)
		defer cancel()
		require.ErrorIs(k, k.p.Resize(ctx, k.h, 2), context.DeadlineExceeded)
		require.Len(k, k.workers(), 1)
		require.Equal(k, before, k.n.Stats().Processes)
	})
}

// slowStart is a worker whose Init takes ten seconds if it is not the first.
type slowStart struct{ first chan int }

func (s slowStart) Init(c *node.Context) error {
	if c.Node().Stats().Processes > 4 {
		time.Sleep(10 * time.Second)
	}
	return nil
}

func (slowStart) Receive(*node.Context, any) error { return nil }

// A handler may wrap ErrUnhandled: the worker goes on.
func TestWrappedUnhandled(t *testing.T) {
	inBubble(t, pool.Options{Workers: 1, New: func() node.Actor {
		return node.ActorFunc(func(c *node.Context, msg any) error {
			if r, ok := msg.(node.Request[echo]); ok {
				return r.Reply(r.Body.v)
			}
			return fmt.Errorf("not %v: %w", msg, node.ErrUnhandled)
		})
	}}, func(k *kit) {
		require.NoError(k, k.n.Send(k.front, "this"))
		v, err := node.Call[int](k.Context(), k.h, k.front, echo{3})
		require.NoError(k, err)
		require.Equal(k, 3, v)
	})
}

// Right after Start all workers are there, whatever Init sends to itself.
func TestAllAreThereAtOnce(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	for range 20 {
		p, err := pool.Start(t.Context(), n, pool.Options{Workers: 3, New: func() node.Actor { return busyStart{} }})
		require.NoError(t, err)
		require.Len(t, p.Workers(), 3)
		require.NoError(t, pool.Broadcast(n, p, "m"))
		n.Exit(p.PID(), node.Shutdown)
	}
}

type busyStart struct{}

func (busyStart) Init(c *node.Context) error { return c.Send(c.Self(), "begin") }

func (busyStart) Receive(*node.Context, any) error { return nil }

// A worker that is busy with a message of its own is not given one of the line while another is idle.
func TestBusyWithItsOwn(t *testing.T) {
	inBubble(t, pool.Options{Workers: 3}, func(k *kit) {
		on := make(chan int)
		for _, pid := range k.workers()[1:] {
			require.NoError(k, k.n.Send(pid, wait{on}))
		}
		synctest.Wait()
		for i := range 3 {
			by, err := node.Call[node.PID](k.Context(), k.h, k.front, echo{i})
			require.NoError(k, err)
			require.Equal(k, k.workers()[0], by)
		}
		close(on)
	})
}
