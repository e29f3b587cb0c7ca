package stage_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/node/stage"
	"github.com/actornode/actornode/sched"
)

func made(t testing.TB, n *node.Node, o stage.Options) *stage.Stage {
	s, err := stage.New(n, o)
	require.NoError(t, err)
	return s
}

// The styles of processes on a stage, and all styles with those that a scheduler runs.
var (
	onStages = []actortest.Style{actortest.Actor, actortest.Coroutine}

	goroutines     = actortest.Style{Name: "scheduler", Options: node.Options{Scheduler: stage.Goroutines(100)}}
	driven         = actortest.Style{Name: "driven", Blocking: true, Options: node.Options{Coroutine: true, Scheduler: stage.Goroutines(100)}}
	withSchedulers = append(actortest.Styles(), goroutines, driven)
)

func parrot(_ actortest.Self, m any) error {
	if r, ok := m.(node.Request[int]); ok {
		return r.Reply(r.Body)
	}
	return nil
}

func infoOf(t testing.TB, n *node.Node, pid node.PID) observe.Process {
	t.Helper()
	i, err := n.Info(pid)
	require.NoError(t, err)
	return i
}

func call(t testing.TB, n *node.Node, pid node.PID) {
	t.Helper()
	_, err := node.Call[int](context.Background(), n, pid, 1)
	require.NoError(t, err)
}

// While many handlers of a stage are in Blocking, their neighbour answers, and Info shows what they do. All of them go
// on afterwards, and answer.
func TestNeighbourOfBlockingHandlersAnswers(t *testing.T) {
	const many = 50
	for _, procs := range []int{1, 2, 8} {
		for _, s := range withSchedulers {
			t.Run(fmt.Sprint(s.Name, procs), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				n := nodetest.Start(t, node.Config{Workers: 1, Stages: 1, Blocked: time.Hour})
				neighbour := actortest.Actor.Spawn(t, n, parrot)
				release := make(chan struct{})
				var in sync.WaitGroup
				in.Add(many)
				var pids []node.PID
				began := time.Now().Add(-time.Second)
				for range many {
					pid := s.Spawn(t, n, func(c actortest.Self, m any) error {
						if m == "block" {
							c.Blocking(func() { in.Done(); c.Blocking(func() { <-release }) })
							return nil
						}
						return parrot(c, m)
					})
					require.NoError(t, n.Send(pid, "block"))
					pids = append(pids, pid)
				}
				in.Wait()
				call(t, n, neighbour)
				w := infoOf(t, n, pids[0]).Wait
				assert.Equal(t, "blocking", w.For)
				assert.True(t, w.Since.After(began), "since %v", w.Since)
				close(release)
				for _, pid := range pids {
					call(t, n, pid)
					require.Equal(t, "", func() string {
						if w := infoOf(t, n, pid).Wait.For; w != "message" {
							return w
						}
						return ""
					}())
				}
			})
		}
	}
}

// A process that is killed in Blocking ends when f returns, after its deferred functions; its context is cancelled at
// once. A panic in f crashes the process.
func TestBlockingKilledOrPanicking(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{Workers: 1})
		h := nodetest.NewProbe(t, n)
		in, release, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
		pid := s.Spawn(t, n, func(c actortest.Self, _ any) error {
			defer close(over)
			c.Blocking(func() {
				close(in)
				<-c.Context().Done()
				<-release
			})
			return nil
		})
		ref := h.Monitor(pid)
		require.NoError(t, n.Send(pid, 1))
		testkit.Receive(t, in)
		n.Exit(pid, node.Kill)
		require.Equal(t, node.Down{Ref: ref, PID: pid, Reason: node.Killed}, h.Receive())
		close(release)
		testkit.Receive(t, over)

		pid = s.Spawn(t, n, func(c actortest.Self, _ any) error {
			c.Blocking(func() { panic("in Blocking") })
			return nil
		})
		h.Monitor(pid)
		require.NoError(t, n.Send(pid, 1))
		down := h.Receive().(node.Down)
		crash, ok := down.Reason.(*node.Crash)
		require.True(t, ok, "%v", down.Reason)
		require.Contains(t, fmt.Sprint(crash.Reason), "in Blocking")
		call(t, n, actortest.Actor.Spawn(t, n, parrot))
	}, withSchedulers...)
}

// A process that is spawned on a stage runs there, and so do the processes that it spawns; others do not, and are not
// moved there.
func TestStageIsPlace(t *testing.T) {
	for _, s := range onStages {
		n := nodetest.Start(t, node.Config{Workers: 2})
		own := made(t, n, stage.Options{})
		require.Greater(t, own.Number(), 65535)
		children := make(chan node.PID, 2)
		pid := s.With(node.Options{Place: own.Place()}).Spawn(t, n, func(c actortest.Self, m any) error {
			switch m {
			case "spawn":
				child, err := c.Spawn(actortest.Actor.Actor(parrot))
				children <- child
				return err
			case "spawn elsewhere":
				child, err := c.SpawnOpt(node.Options{Place: node.OnStage(1)}, actortest.Actor.Actor(parrot))
				children <- child
				return err
			}
			return parrot(c, m)
		})
		require.NoError(t, n.Send(pid, "spawn"))
		require.NoError(t, n.Send(pid, "spawn elsewhere"))
		near, far := testkit.Receive(t, children), testkit.Receive(t, children)
		beside := actortest.Actor.With(node.Options{Place: node.Beside(near)}).Spawn(t, n, parrot)
		for _, pid := range []node.PID{pid, near, far, beside} {
			call(t, n, pid)
		}
		require.Equal(t, []int{own.Number(), own.Number(), own.Number(), 1}, []int{infoOf(t, n, pid).Stage,
			infoOf(t, n, near).Stage, infoOf(t, n, beside).Stage, infoOf(t, n, far).Stage}, s.Name)
		require.NotEqual(t, own.Number(), infoOf(t, n, actortest.Actor.Spawn(t, n, parrot)).Stage)
	}
}

// The processes of a stage that is closed move together, with their messages; spawns on the stage are refused.
func TestClose(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 2})
	for _, o := range []stage.Options{{}, {Exclusive: true}, {Ordered: true}} {
		own := made(t, n, o)
		var pids []node.PID
		for range 50 {
			pids = append(pids, actortest.Actor.With(node.Options{Place: own.Place()}).Spawn(t, n, parrot))
		}
		if !o.Ordered {
			pids = append(pids, actortest.Coroutine.With(node.Options{Place: own.Place()}).Spawn(t, n, parrot))
		}
		require.NoError(t, own.Close(t.Context(), n))
		require.NoError(t, own.Close(t.Context(), n), "twice")
		at := infoOf(t, n, pids[0]).Stage
		require.Less(t, at, n.Stats().Scheduler.Stages)
		for _, pid := range pids {
			call(t, n, pid)
			require.Equal(t, at, infoOf(t, n, pid).Stage)
		}
		_, err := n.SpawnOpt(node.Options{Place: own.Place()}, actortest.Actor.Actor(parrot))
		require.ErrorIs(t, err, node.ErrArgument)
		require.ErrorIs(t, err, stage.ErrClosed)
		if err = stage.Move(n, pids[0], own.Place()); o.Ordered {
			require.ErrorIs(t, err, stage.ErrOrdered)
		} else {
			require.ErrorIs(t, err, stage.ErrClosed)
		}
	}
}

// Close waits for a handler until its context ends, and the process moves when the handler does return. A process that
// closes its own stage moves after its handler; processes that it spawns meanwhile are elsewhere.
func TestCloseWithHandlersThatRun(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 2, Blocked: time.Hour})
	own := made(t, n, stage.Options{})
	in, release := make(chan struct{}), make(chan struct{})
	slow := actortest.Actor.With(node.Options{Place: own.Place()}).Spawn(t, n, func(c actortest.Self, m any) error {
		if m == "wait" {
			c.Blocking(func() { close(in); <-release })
		}
		return parrot(c, m)
	})
	require.NoError(t, n.Send(slow, "wait"))
	testkit.Receive(t, in)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	require.ErrorIs(t, own.Close(ctx, n), enough)
	require.Equal(t, own.Number(), infoOf(t, n, slow).Stage)
	close(release)
	call(t, n, slow)
	testkit.UntilTrue(t, func() bool { return infoOf(t, n, slow).Stage < 100 }, "the process moves")
	require.NoError(t, own.Close(t.Context(), n))

	for _, s := range onStages {
		own := made(t, n, stage.Options{})
		got := make(chan any, 2)
		pid := s.With(node.Options{Place: own.Place()}).Spawn(t, n, func(c actortest.Self, m any) error {
			if m == "close" {
				got <- own.Close(t.Context(), c)
				child, _ := c.Spawn(actortest.Actor.Actor(parrot))
				got <- child
			}
			return parrot(c, m)
		})
		require.NoError(t, n.Send(pid, "close"))
		require.Nil(t, testkit.Receive(t, got), s.Name)
		child := testkit.Receive(t, got).(node.PID)
		call(t, n, child)
		call(t, n, pid)
		require.Less(t, infoOf(t, n, child).Stage, 100)
		testkit.UntilTrue(t, func() bool { return infoOf(t, n, pid).Stage < 100 }, "the process moves")
	}
}

// The number of stages can be raised and lowered while the node runs: the processes of stages that are gone have moved.
func TestSetCount(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 2, Stages: 3})
	require.NoError(t, stage.SetCount(t.Context(), n, 6))
	require.Equal(t, 6, n.Stats().Scheduler.Stages)
	var pids []node.PID
	for k := range 6 {
		first := actortest.Actor.With(node.Options{Place: node.OnStage(k)}).Spawn(t, n, parrot)
		pids = append(pids, first, actortest.Coroutine.With(node.Options{Place: node.Beside(first)}).Spawn(t, n, parrot))
	}
	loose := actortest.Actor.Spawn(t, n, parrot)
	require.NoError(t, stage.SetCount(t.Context(), n, 2))
	require.Equal(t, 2, n.Stats().Scheduler.Stages)
	for k, pid := range append(pids, loose) {
		call(t, n, pid)
		require.Less(t, infoOf(t, n, pid).Stage, 2, "process %d", k)
	}
	for k := 0; k < len(pids); k += 2 {
		require.Equal(t, infoOf(t, n, pids[k]).Stage, infoOf(t, n, pids[k+1]).Stage, "those beside each other")
	}
	_, err := n.SpawnOpt(node.Options{Place: node.OnStage(2)}, actortest.Actor.Actor(parrot))
	require.ErrorIs(t, err, node.ErrArgument)
	require.ErrorContains(t, stage.SetCount(t.Context(), n, 0), "SetCount(0): want 1 to 65534")
	require.ErrorContains(t, stage.SetCount(t.Context(), n, 65535), "want 1 to 65534")
	require.NoError(t, stage.SetCount(t.Context(), n, 65534))
	require.NoError(t, stage.SetCount(t.Context(), n, 1))
	call(t, n, pids[0])
}

// Processes that are spawned while stages are removed do not stay on them, whoever spawns them: the process that
// removes the stages, on one of those, or others meanwhile.
func TestSpawnWhileStagesGo(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 2, Stages: 4})
	got := make(chan any, 3)
	pid := actortest.Actor.With(node.Options{Place: node.OnStage(3)}).Spawn(t, n, func(c actortest.Self, _ any) error {
		got <- stage.SetCount(c.Context(), c, 1)
		child, err := c.Spawn(actortest.Actor.Actor(parrot))
		got <- err
		got <- child
		return nil
	})
	require.NoError(t, n.Send(pid, "shrink"))
	require.Nil(t, testkit.Receive(t, got))
	require.Nil(t, testkit.Receive(t, got))
	child := testkit.Receive(t, got).(node.PID)
	testkit.UntilTrue(t, func() bool { return infoOf(t, n, pid).Stage == 0 && infoOf(t, n, child).Stage == 0 }, "both move")

	const rounds, spawners, each = 200, 4, 100
	for range rounds {
		require.NoError(t, stage.SetCount(t.Context(), n, 8))
		pids := make(chan node.PID, spawners*each)
		var all sync.WaitGroup
		for k := range spawners {
			all.Go(func() {
				for i := range each {
					o := node.Options{Place: stage.By(func(stages int) int { return stages - 1 })}
					if (k+i)%2 == 0 {
						o.Place = node.Place{}
					}
					if made, err := n.SpawnOpt(o, actortest.Actor.Actor(parrot)); err == nil { // else By's stage is gone
						pids <- made
					}
				}
			})
		}
		for len(pids) < each/2 {
			runtime.Gosched()
		}
		require.NoError(t, stage.SetCount(t.Context(), n, 1))
		all.Wait()
		close(pids)
		for pid := range pids {
			testkit.UntilTrue(t, func() bool { return infoOf(t, n, pid).Stage == 0 }, "it moves")
			n.Exit(pid, node.Kill)
		}
	}
}

// Two callers that empty a stage while a handler runs there both wait for it, and neither keeps the other busy.
func TestTwoClose(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 2, Stages: 2})
	s := made(t, n, stage.Options{})
	in, out := make(chan struct{}), make(chan struct{})
	pid := actortest.Actor.With(node.Options{Place: s.Place()}).Spawn(t, n, func(actortest.Self, any) error {
		close(in)
		<-out
		return nil
	})
	require.NoError(t, n.Send(pid, "wait"))
	testkit.Receive(t, in)
	var scans atomic.Int64
	ends := make(chan error, 2)
	for range 2 {
		go func() { ends <- s.Close(counted{t.Context(), &scans}, n) }() // ends with the handler
	}
	testkit.UntilTrue(t, func() bool { return scans.Load() == 2 }, "both wait")
	for range 1000 {
		runtime.Gosched()
	}
	require.Equal(t, int64(2), scans.Load(), "each looks through the processes once")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Close(gone, n), context.Canceled)
	close(out)
	require.NoError(t, testkit.Receive(t, ends))
	require.NoError(t, testkit.Receive(t, ends))
	require.Less(t, infoOf(t, n, pid).Stage, 2)
}

// counted counts how often a caller begins to wait.
type counted struct {
	context.Context
	waits *atomic.Int64
}

func (c counted) Done() <-chan struct{} {
	c.waits.Add(1)
	return c.Context.Done()
}

func TestMove(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 2, Stages: 4})
	own, ordered := made(t, n, stage.Options{}), made(t, n, stage.Options{Ordered: true})
	for _, s := range withSchedulers {
		pid := s.Spawn(t, n, parrot)
		if !s.Options.Coroutine && s.Name != actortest.Actor.Name {
			require.ErrorIs(t, stage.Move(n, pid, own.Place()), stage.ErrOffStage, s.Name)
			_, err := n.SpawnOpt(node.Options{Place: node.Beside(pid)}, actortest.Actor.Actor(parrot))
			require.ErrorIs(t, err, stage.ErrOffStage, s.Name)
			continue
		}
		there := actortest.Actor.With(node.Options{Place: node.OnStage(3)}).Spawn(t, n, parrot)
		for _, to := range []struct {
			place  node.Place
			number int
		}{{own.Place(), own.Number()}, {node.OnStage(2), 2}, {own.Place(), own.Number()}, {node.Beside(there), 3},
			{stage.By(func(stages int) int { return stages - 4 }), 0}, {node.Beside(pid), 0}} {
			require.NoError(t, stage.Move(n, pid, to.place))
			testkit.UntilTrue(t, func() bool { return infoOf(t, n, pid).Stage == to.number }, "it moves")
			call(t, n, pid)
		}
		require.NoError(t, stage.Move(n, pid, own.Place()))
		require.NoError(t, stage.Move(n, pid, node.Place{}))
		testkit.UntilTrue(t, func() bool { return infoOf(t, n, pid).Stage < 4 }, "it leaves the stage")
		call(t, n, pid)
		require.ErrorIs(t, stage.Move(n, pid, node.Detached()), stage.ErrDetached)
		require.ErrorIs(t, stage.Move(n, pid, ordered.Place()), stage.ErrOrdered)
		require.ErrorContains(t, stage.Move(n, pid, node.OnStage(4)), "OnStage(4): want 0 to 3")
	}
	require.ErrorIs(t, stage.Move(n, node.PID{}, node.Place{}), node.ErrNoProcess)
}

// Processes of all kinds that stages run are moved at random while they get messages from each other and from outside:
// each gets all messages, once, in the order of each sender.
func TestMoveWhileMessagesCome(t *testing.T) {
	for _, procs := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			r := testkit.Rand(t)
			n := nodetest.Start(t, node.Config{Workers: 3, Stages: 4, Budget: 3})
			places := []node.Place{{}, node.OnStage(0), node.OnStage(3), made(t, n, stage.Options{}).Place(),
				made(t, n, stage.Options{Exclusive: true}).Place()}
			const senders, each = 4, 3000
			type item struct{ from, seq int }
			var pids []node.PID
			var wrong, handled atomic.Int64
			kinds := append(slices.Clone(onStages),
				actortest.Actor.With(node.Options{Bounds: mailbox.Bounds{Messages: 50, Policy: mailbox.Block}}))
			for k := range 9 {
				var next [senders + 1]int
				echoes := 0
				pids = append(pids, kinds[k%len(kinds)].Spawn(t, n, func(c actortest.Self, m any) error {
					i := m.(item)
					if next[i.from] != i.seq {
						wrong.Add(1)
					}
					next[i.from]++
					if handled.Add(1); i.from != senders && k < 8 {
						if i.seq%100 == 0 {
							c.Blocking(runtime.Gosched)
						}
						if k%3 == 0 { // to a neighbour
							echoes++
							return c.Send(pids[k+1], item{senders, echoes - 1})
						}
					}
					return nil
				}))
			}
			for from := range senders {
				go func() { // ends by itself
					for seq := range each {
						for _, pid := range pids {
							if n.Send(pid, item{from, seq}) != nil {
								wrong.Add(1)
							}
						}
					}
				}()
			}
			want := int64(senders * each * (9 + 3))
			for handled.Load() < want {
				require.NoError(t, stage.Move(n, pids[r.IntN(len(pids))], places[r.IntN(len(places))]))
				runtime.Gosched()
			}
			require.Zero(t, wrong.Load())
		})
	}
}

// On an exclusive stage no two handlers run at once, also after a Call and after Blocking; Info of processes that run
// and wait does not hang.
func TestExclusive(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 2, Blocked: time.Millisecond})
	own := made(t, n, stage.Options{Exclusive: true})
	echo := actortest.Actor.Spawn(t, n, parrot)
	var running, wrong atomic.Int32
	run := func() {
		if running.Add(1) != 1 {
			wrong.Add(1)
		}
		for end := time.Now().Add(2 * time.Millisecond); time.Now().Before(end); {
		}
		running.Add(-1)
	}
	var pids []node.PID
	for k := range 6 {
		pids = append(pids, onStages[k%2].With(node.Options{Place: own.Place()}).Spawn(t, n, func(c actortest.Self, m any) error {
			if r, ok := m.(node.Request[int]); ok {
				run()
				c.Blocking(runtime.Gosched)
				run()
				_, err := node.Call[int](context.Background(), c, echo, 1)
				run()
				return errors.Join(err, r.Reply(r.Body))
			}
			return nil
		}))
	}
	var all sync.WaitGroup
	for _, pid := range pids {
		all.Go(func() {
			for range 5 {
				_, err := node.Call[int](context.Background(), n, pid, 1)
				assert.NoError(t, err)
			}
		})
	}
	over := make(chan struct{})
	go func() { all.Wait(); close(over) }()
	for looking := true; looking; {
		for _, pid := range pids {
			infoOf(t, n, pid)
		}
		select {
		case <-over:
			looking = false
		default:
			runtime.Gosched()
		}
	}
	require.Zero(t, wrong.Load())
}

// The actors of an ordered stage handle messages in the order of the sends, whoever sends: the test knows the order as
// it sends under a lock, and from an actor of the stage.
func TestOrdered(t *testing.T) {
	for _, procs := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			r := testkit.Rand(t)
			n := nodetest.Start(t, node.Config{Workers: 3})
			own := made(t, n, stage.Options{Ordered: true})
			var got []int
			done := make(chan struct{})
			const actors, senders, each = 10, 3, 2000
			var pids []node.PID
			for range actors {
				pids = append(pids, actortest.Actor.With(node.Options{Place: own.Place()}).Spawn(t, n, func(_ actortest.Self, m any) error {
					if got = append(got, m.(int)); len(got) == senders*each {
						close(done)
					}
					return nil
				}))
			}
			var mu sync.Mutex
			next := 0
			for range senders {
				go func() { // ends by itself
					for range each {
						mu.Lock()
						assert.NoError(t, n.Send(pids[r.IntN(actors)], next))
						next++
						mu.Unlock()
					}
				}()
			}
			testkit.Receive(t, done)
			require.True(t, slices.IsSorted(got), "not in order")
			got, done = nil, make(chan struct{})
			spread := actortest.Actor.With(node.Options{Place: own.Place()}).Spawn(t, n, func(c actortest.Self, _ any) error {
				for i := range senders * each {
					if err := c.Send(pids[r.IntN(actors)], i); err != nil {
						return err
					}
				}
				return nil
			})
			require.NoError(t, n.Send(spread, "go"))
			testkit.Receive(t, done)
			require.True(t, slices.IsSorted(got), "not in order")
		})
	}
}

// An actor of an ordered stage that ends, or blocks, does not stop the others; and options that do not fit are refused.
func TestOrderedEndsAndRefuses(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 2})
	own := made(t, n, stage.Options{Ordered: true})
	in, release := make(chan struct{}), make(chan struct{})
	ends := actortest.Actor.With(node.Options{Place: own.Place()}).Spawn(t, n, func(c actortest.Self, m any) error {
		if m == "block" {
			c.Blocking(func() { close(in); <-release })
		}
		return node.ErrStop
	})
	other := actortest.Actor.With(node.Options{Place: own.Place()}).Spawn(t, n, parrot)
	require.NoError(t, n.Send(ends, "block"))
	testkit.Receive(t, in)
	for range 3 {
		require.NoError(t, n.Send(ends, "never handled"))
	}
	asked := node.Async[int](n, other, 1)
	close(release)
	_, err := node.Await(t.Context(), n, asked)
	require.NoError(t, err)
	call(t, n, other)
	for _, s := range []actortest.Style{actortest.Coroutine, actortest.Process,
		actortest.Actor.With(node.Options{Bounds: mailbox.Bounds{Messages: 1}})} {
		s.Options.Place = own.Place()
		_, err = n.SpawnOpt(s.Options, s.Actor(parrot))
		require.ErrorIs(t, err, node.ErrArgument)
	}
}

// One message a turn: two actors of a stage that get messages in turn handle them in turn.
func TestBudgetOfOne(t *testing.T) {
	for _, s := range onStages {
		n := nodetest.Start(t, node.Config{Workers: 1, Stages: 1, Budget: 1, Blocked: time.Hour})
		got := make(chan int, 8)
		var pids []node.PID
		for range 2 {
			pids = append(pids, s.Spawn(t, n, func(_ actortest.Self, m any) error { got <- m.(int); return nil }))
			require.NoError(t, n.Send(pids[len(pids)-1], -1)) // fresh actors take their first turns in another order
			require.Equal(t, -1, testkit.Receive(t, got))
		}
		sender := actortest.Actor.Spawn(t, n, func(c actortest.Self, _ any) error {
			for i := range 8 {
				if err := c.Send(pids[i%2], i); err != nil {
					return err
				}
			}
			return nil
		})
		require.NoError(t, n.Send(sender, "go"))
		var order []int
		for range 8 {
			order = append(order, testkit.Receive(t, got))
		}
		require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7}, order, s.Name)
	}
}

// The same key gives the same stage, other keys are spread over all; Config.Spread chooses where the options do not
// say.
func TestHashAndSpread(t *testing.T) {
	asked := make(chan node.PID, 10)
	bad := atomic.Bool{}
	n := nodetest.Start(t, node.Config{Workers: 2, Stages: 8, Spread: func(parent node.PID, stages int) int {
		asked <- parent
		if bad.Load() {
			return stages
		}
		return stages - 1
	}})
	seen := make(map[int]bool)
	for k := range 100 {
		at := -1
		for range 2 {
			i := infoOf(t, n, actortest.Actor.With(node.Options{Place: stage.Hash(fmt.Sprint("key", k))}).Spawn(t, n, parrot)).Stage
			require.True(t, at < 0 || i == at)
			at = i
		}
		seen[at] = true
	}
	require.Len(t, seen, 8)
	parent := actortest.Actor.Spawn(t, n, func(c actortest.Self, m any) error {
		if r, ok := m.(node.Request[int]); ok {
			child, err := c.Spawn(actortest.Actor.Actor(parrot))
			return errors.Join(err, r.Reply(infoOf(t, n, child).Stage))
		}
		return nil
	})
	require.Equal(t, node.PID{}, testkit.Receive(t, asked))
	require.Equal(t, 7, infoOf(t, n, parent).Stage)
	at, err := node.Call[int](context.Background(), n, parent, 1)
	require.Equal(t, []any{7, nil}, []any{at, err})
	require.Equal(t, parent, testkit.Receive(t, asked))
	bad.Store(true)
	_, err = n.Spawn(actortest.Actor.Actor(parrot))
	require.ErrorIs(t, err, node.ErrArgument)
	require.ErrorContains(t, err, "Config.Spread returned stage (8): want 0 to 7")
	_, err = n.SpawnOpt(node.Options{Place: stage.By(func(int) int { return -1 })}, actortest.Actor.Actor(parrot))
	require.ErrorIs(t, err, node.ErrArgument)
}

// Goroutines runs only its number of actors at a time; all are served.
func TestGoroutines(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 1})
	const most, many = 5, 40
	by := stage.Goroutines(most)
	var running, wrong atomic.Int32
	release := make(chan struct{})
	in := make(chan struct{}, 2*many)
	var pids []node.PID
	for range many {
		pids = append(pids, actortest.Actor.With(node.Options{Scheduler: by}).Spawn(t, n, func(c actortest.Self, m any) error {
			if m == "exit" {
				runtime.Goexit()
			}
			if running.Add(1) > most {
				wrong.Add(1)
			}
			in <- struct{}{}
			<-release
			running.Add(-1)
			return parrot(c, m)
		}))
	}
	for _, pid := range pids {
		require.NoError(t, n.Send(pid, 1))
	}
	for range most {
		testkit.Receive(t, in)
	}
	require.Empty(t, in)
	close(release)
	for _, pid := range pids {
		call(t, n, pid)
		require.NoError(t, n.Send(pid, "exit"))
	}
	testkit.UntilTrue(t, func() bool { return n.Stats().Processes == 0 }, "all have ended")
	require.Zero(t, wrong.Load())
}

// steps is a scheduler that runs when the test says so, on the test's goroutine.
type steps struct {
	mu  sync.Mutex
	due []sched.Runnable
}

func (s *steps) Schedule(r sched.Runnable) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = append(s.due, r)
}

func (s *steps) step() bool {
	s.mu.Lock()
	if len(s.due) == 0 {
		s.mu.Unlock()
		return false
	}
	r := s.due[0]
	s.due = s.due[1:]
	s.mu.Unlock()
	if r.Run() {
		s.Schedule(r)
	}
	return true
}

// A user's scheduler runs coroutines: on its own goroutine, when it wants to, until they end; also if it is locked to
// its thread.
func TestSchedulerOfCoroutine(t *testing.T) {
	for _, locked := range []bool{false, true} {
		n := nodetest.Start(t, node.Config{Workers: 1})
		by := &steps{}
		var got []any
		pid, err := n.SpawnOpt(node.Options{Coroutine: true, Scheduler: by}, node.ProcessFunc(func(p *node.Process) error {
			got = append(got, "begins")
			for {
				m := p.Receive()
				if m == "end" {
					return nil
				}
				got = append(got, m)
				if r, ok := m.(node.Request[int]); ok {
					_ = r.Reply(r.Body)
				}
			}
		}))
		require.NoError(t, err)
		require.Empty(t, got)
		if locked {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
		}
		for by.step() {
		}
		require.Equal(t, []any{"begins"}, got)
		require.NoError(t, n.Send(pid, 1))
		require.NoError(t, n.Send(pid, 2))
		require.Equal(t, []any{"begins"}, got)
		require.Equal(t, -1, infoOf(t, n, pid).Stage)
		for by.step() {
		}
		require.Equal(t, []any{"begins", 1, 2}, got)
		f := node.Async[int](n, pid, 7)
		testkit.UntilTrue(t, func() bool { by.step(); _, done, _ := f.Result(); return done }, "an answer")
		require.NoError(t, n.Send(pid, "end"))
		for by.step() {
		}
		require.False(t, n.IsAlive(pid))
	}
}

// The next run of a user's scheduler unwinds a coroutine that was killed.
func TestSchedulerOfCoroutineKilled(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 1})
	by := &steps{}
	over := false
	pid, err := n.SpawnOpt(node.Options{Coroutine: true, Scheduler: by}, node.ProcessFunc(func(p *node.Process) error {
		defer func() { over = true }()
		p.Receive()
		return nil
	}))
	require.NoError(t, err)
	for by.step() {
	}
	n.Exit(pid, node.Kill)
	require.False(t, over)
	for by.step() {
	}
	require.True(t, over)
}

// A Process may be Detached: it has a goroutine of its own, also where processes are coroutines by default.
func TestDetachedProcess(t *testing.T) {
	for _, coroutines := range []bool{false, true} {
		n := nodetest.Start(t, node.Config{Coroutines: coroutines})
		pid := actortest.Process.With(node.Options{Place: node.Detached()}).Spawn(t, n, parrot)
		call(t, n, pid)
		require.Equal(t, -1, infoOf(t, n, pid).Stage)
	}
}

// There is a limit to the number of stages, until one is closed.
func TestTooManyStages(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 1})
	var all []*stage.Stage
	for range 65534 {
		all = append(all, made(t, n, stage.Options{}))
	}
	_, err := stage.New(n, stage.Options{})
	require.ErrorIs(t, err, stage.ErrTooMany)
	require.NoError(t, all[7].Close(t.Context(), n))
	made(t, n, stage.Options{})
}

// Behind two hundred handlers that sleep without Blocking, a neighbour on their stage waits for at most three of them.
func TestNeighbourOfSleepers(t *testing.T) {
	const nap = 5 * time.Millisecond
	for _, style := range onStages {
		t.Run(style.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := nodetest.Start(t, node.Config{Workers: 2, Stages: 1})
				neighbour := style.Spawn(t, n, parrot)
				var sleepers []node.PID
				for range 200 {
					sleepers = append(sleepers, style.Spawn(t, n, func(actortest.Self, any) error {
						time.Sleep(nap)
						return nil
					}))
				}
				time.Sleep(time.Second)
				for range 3 {
					for _, pid := range sleepers {
						require.NoError(t, n.Send(pid, "sleep"))
					}
					began := time.Now()
					_, err := node.Call[int](context.Background(), n, neighbour, 1)
					require.NoError(t, err)
					assert.LessOrEqual(t, time.Since(began), 3*nap)
					time.Sleep(time.Second)
				}
			})
		})
	}
}
