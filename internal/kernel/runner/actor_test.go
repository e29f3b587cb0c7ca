package runner_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/sched"
	"github.com/actornode/actornode/wire"
)

// bySelf is a scheduler that runs on goroutines of the test.
type bySelf struct{ runs chan sched.Runnable }

func (b bySelf) Schedule(r sched.Runnable) { b.runs <- r }

// anActor is an Actor in one of the ways to run it.
type anActor struct {
	p     *process.Process
	stage int
}

// eachActor runs a test for each of these ways.
func eachActor(t *testing.T, f func(t *testing.T, s *system, make func(receive, ...option) anActor)) {
	ways := map[string]func(s *system, f receive, with []option) anActor{
		"stage": func(s *system, f receive, with []option) anActor {
			return anActor{&s.actor(f, with...).Process, 0}
		},
		"scheduler": func(s *system, f receive, with []option) anActor {
			by := bySelf{make(chan sched.Runnable, 100)}
			go func() {
				for r := range by.runs {
					for r.Run() {
					}
				}
			}()
			s.t.Cleanup(func() { close(by.runs) })
			return anActor{&s.external(by, f, with...).Process, -1}
		},
		"detached": func(s *system, f receive, with []option) anActor {
			return anActor{&s.external(executor.NewDedicated(), f, with...).Process, -1}
		},
	}
	for way, spawn := range ways {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSystem(t, 1000)
				f(t, s, func(f receive, with ...option) anActor { return spawn(s, f, with) })
			})
		})
	}
}

// An Actor handles its messages in order, obeys the error it returns, and can be seen at work.
func TestActor(t *testing.T) {
	eachActor(t, func(t *testing.T, s *system, make func(receive, ...option) anActor) {
		var got []any
		goOn := newGate()
		a := make(func(_ *process.Acting, msg any) error {
			got = append(got, msg)
			switch msg {
			case "wait":
				goOn.wait()
			case "stop":
				return errTest
			}
			return nil
		})
		see := func(want observe.State) {
			state, stage := a.p.Runner().Doing()
			require.Equal(t, want, state)
			require.Equal(t, a.stage, stage)
		}
		synctest.Wait()
		see(observe.Idle)
		s.send(a.p, 1, 2, "wait", 3)
		synctest.Wait()
		see(observe.Running)
		require.Equal(t, []any{1, 2, "wait"}, got)
		require.True(t, a.p.Runner().Busy(&s.Plain))
		require.Equal(t, 2, a.p.Intake().Len(), "one is in hand")
		goOn.open()
		synctest.Wait()
		see(observe.Idle)
		require.Equal(t, []any{1, 2, "wait", 3}, got)
		require.EqualValues(t, 4, a.p.Handled.Load())
		require.False(t, a.p.Runner().Busy(&s.Plain))
		require.Zero(t, a.p.WaitLocked(observe.Idle))
		s.send(a.p, "stop", "lost")
		synctest.Wait()
		require.Equal(t, errTest, a.p.Reason())
		require.Len(t, got, 5)
		require.Zero(t, s.Functions.Load())
	})
}

// An Actor that is killed in a handler lingers until the handler returns; another ends at once.
func TestActorKilled(t *testing.T) {
	eachActor(t, func(t *testing.T, s *system, make func(receive, ...option) anActor) {
		goOn := newGate()
		n := 0
		a := make(func(_ *process.Acting, msg any) error { n++; goOn.wait(); return nil })
		idle := make(func(_ *process.Acting, msg any) error { n++; return nil })
		s.send(a.p, 1, 2)
		synctest.Wait()
		a.p.Exit(&s.Plain, "x")
		idle.p.Exit(&s.Plain, "x")
		require.EqualValues(t, 1, s.Lingering.Load())
		s.send(idle.p, 3)
		goOn.open()
		synctest.Wait()
		require.Zero(t, s.Lingering.Load())
		require.Zero(t, s.Functions.Load())
		require.Equal(t, 1, n)
	})
}

// An Actor that ends its neighbour on a stage knows whether that runs: it does not run, and does not linger. The Actor
// starts others on the stage.
func TestNeighbours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, 1000)
		idle := s.actor(func(*process.Acting, any) error { return nil })
		elsewhere := s.actor(func(*process.Acting, any) error { return nil }, onStage(1))
		var ran atomic.Int32
		a := s.actor(func(a *process.Acting, msg any) error {
			for k := range 2 {
				f := func(*runner.Blocking) error { ran.Add(1); return nil }
				b := s.make(coroutine, f, onStage(k))
				b.Own.Runner().Start(a, nil, true)
			}
			require.False(t, idle.Busy(a))
			require.True(t, idle.Exit(a, "x"))
			require.True(t, elsewhere.Exit(a, "x"))
			return nil
		})
		s.send(&a.Process, 1)
		synctest.Wait()
		require.Zero(t, s.Lingering.Load())
		require.EqualValues(t, 2, ran.Load())
		require.False(t, a.Busy(&s.Plain))
	})
}

// Moving a process requires a claim on its wake-up: only one mover gets it.
func TestClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, 1000)
		n := 0
		a := s.actor(func(*process.Acting, any) error { n++; return nil })
		b := s.spawn(coroutine, func(b *runner.Blocking) error { b.Receive(); n++; return nil })
		box := s.actor(func(*process.Acting, any) error { return nil }, boxed(inbox.NewBounded(mailbox.Bounds{Messages: 1})))
		synctest.Wait()
		require.False(t, box.Claim(), "its inbox is for wake-ups")
		for _, p := range []*process.Process{&a.Process, &b.Own} {
			require.True(t, p.Task().Claim())
			require.False(t, p.Task().Claim())
			s.send(p, 1)
			synctest.Wait()
			require.Zero(t, n, "whoever has claimed owes the wake-up")
			s.Pool.Inject(&p.Entity, nil)
			synctest.Wait()
			require.Equal(t, 1, n)
			n = 0
		}
	})
}

// Coroutines do not run on a worker that a handler has locked to its thread.
func TestLockedWorker(t *testing.T) {
	s := newSystem(t, 10)
	locked := make(chan struct{})
	a := s.actor(func(*process.Acting, any) error {
		runtime.LockOSThread()
		close(locked)
		return nil
	})
	s.send(&a.Process, 1)
	testkit.Receive(t, locked)
	for range 20 {
		ran := make(chan struct{})
		b := s.spawn(coroutine, func(b *runner.Blocking) error { b.Receive(); close(ran); return nil })
		s.send(&b.Own, 1)
		testkit.Receive(t, ran)
	}
}

// Messages that an Actor leaves are counted, and reported when they are many, or when they are old and somebody looks.
func TestLeft(t *testing.T) {
	eachActor(t, func(t *testing.T, s *system, make func(receive, ...option) anActor) {
		a := make(func(_ *process.Acting, msg any) error {
			if msg == "take" {
				return nil
			}
			return fmt.Errorf("%w, as a test says", process.ErrUnhandled)
		})
		start := time.Now()
		s.send(a.p, 1, "2", "take")
		synctest.Wait()
		l := a.p.Cold.Left
		require.Equal(t, 2, l.Count)
		require.Equal(t, "int", l.Oldest)
		require.WithinDuration(t, start, time.Unix(0, l.Since), time.Second)
		require.EqualValues(t, 1, a.p.Handled.Load())
		require.Equal(t, 2, a.p.Intake().Len())
		require.False(t, a.p.Gone())

		runner.ReportOld(a.p)
		require.Empty(t, s.left)
		pass(2 * time.Minute)
		runner.ReportOld(a.p)
		runner.ReportOld(a.p)
		require.Len(t, s.left, 1)
		require.Equal(t, 2, s.left[0].Count)
		for range 1022 {
			s.send(a.p, 1)
		}
		synctest.Wait()
		require.Len(t, s.left, 2)
		require.Equal(t, 1024, s.left[1].Count)
		other := make(func(*process.Acting, any) error { return nil })
		runner.ReportOld(other.p)
		require.Len(t, s.left, 2)
	})
}

// Messages that an Actor has left are offered again when its behaviour changes, in order, even if it leaves the message
// that changes it.
func TestLeftIsOfferedAgain(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		eachActor(t, func(t *testing.T, s *system, make func(receive, ...option) anActor) {
			var a anActor
			var got []any
			changed := false
			a = make(func(_ *process.Acting, msg any) error {
				switch {
				case changed:
					got = append(got, msg)
				case msg != "change":
					return process.ErrUnhandled
				default:
					changed, a.p.Rewind = true, true
					if leaves {
						return process.ErrUnhandled
					}
				}
				return nil
			})
			s.send(a.p, 1, 2, "change", 3)
			synctest.Wait()
			if leaves {
				require.Equal(t, []any{1, 2, "change", 3}, got)
			} else {
				require.Equal(t, []any{1, 2, 3}, got)
			}
			require.Zero(t, a.p.Intake().Len())
		})
	}
}

// A handler that takes long loses its stage: its neighbours go on, and its messages wait. The value it returns counts.
func TestActorLosesStage(t *testing.T) {
	for _, end := range []error{nil, process.ErrUnhandled, errTest} {
		synctest.Test(t, func(t *testing.T) {
			s := newSystem(t, 1000)
			goOn := newGate()
			n := 0
			a := s.actor(func(_ *process.Acting, msg any) error {
				if n++; n == 1 {
					goOn.wait()
					return end
				}
				return nil
			})
			s.send(&a.Process, 1, 2)
			pass(time.Second)
			seen := 0
			s.spawn(coroutine, func(*runner.Blocking) error { seen++; return nil })
			pass(time.Second)
			require.Equal(t, 1, seen)
			s.send(&a.Process, 3)
			require.Equal(t, 1, n)
			require.Equal(t, 3, a.Intake().Len())
			goOn.open()
			synctest.Wait()
			switch end {
			case nil:
				require.Equal(t, 3, n)
				require.Zero(t, a.Intake().Len())
			case process.ErrUnhandled:
				require.Equal(t, 3, n)
				require.Equal(t, 1, a.Intake().Len())
			default:
				require.Equal(t, 1, n)
				require.Equal(t, errTest, a.Reason())
			}
			require.False(t, a.Cold.Blocked)
			require.NoError(t, a.Cold.Pending)
		})
	}
}

// An Actor with a bounded mailbox, in each way to run it.
func TestActorBoxed(t *testing.T) {
	eachActor(t, func(t *testing.T, s *system, make func(receive, ...option) anActor) {
		var got []any
		goOn := newGate()
		a := make(func(_ *process.Acting, msg any) error {
			got = append(got, msg)
			goOn.wait()
			return nil
		}, boxed(inbox.NewBounded(mailbox.Bounds{Messages: 2})))
		s.send(a.p, 1, 2)
		synctest.Wait()
		require.Equal(t, process.ErrMailboxFull, a.p.Deliver(&s.Plain, 3))
		require.Equal(t, []any{1}, got)
		goOn.open()
		synctest.Wait()
		s.send(a.p, 4)
		synctest.Wait()
		require.Equal(t, []any{1, 2, 4}, got)
	})
}

// Discard, called by an Actor, leaves the message in hand; others may look meanwhile.
func TestActorOwning(t *testing.T) {
	eachActor(t, func(t *testing.T, s *system, make func(receive, ...option) anActor) {
		var got []any
		goOn := newGate()
		a := make(func(a *process.Acting, msg any) error {
			got = append(got, msg)
			goOn.wait()
			if len(got) == 1 {
				a.Process.Discard(a, is("x"))
			}
			return nil
		})
		s.send(a.p, "x", "y", "x", "z")
		synctest.Wait()
		n := 0
		a.p.Runner().Inspect(func() {
			for range a.p.Queue.All() {
				n++
			}
			n += len(a.p.Inbox.Oldest(10))
		})
		require.Equal(t, 4, n)
		goOn.open()
		synctest.Wait()
		require.Equal(t, []any{"x", "y", "z"}, got)
	})
}

// A handler that gives its stage up for a function keeps its turn to the end.
func TestActorAside(t *testing.T) {
	eachActor(t, func(t *testing.T, s *system, make func(receive, ...option) anActor) {
		n := 0
		goOn := newGate()
		a := make(func(a *process.Acting, msg any) error {
			runner.Aside(a, goOn.wait)
			n++
			return nil
		})
		s.send(a.p, 1, 2)
		synctest.Wait()
		a.p.Mu.Lock()
		w := a.p.WaitLocked(observe.Running)
		a.p.Mu.Unlock()
		require.Equal(t, "blocking", w.For)
		require.Nil(t, w.On)
		seen := false
		s.spawn(coroutine, func(*runner.Blocking) error { seen = true; return nil })
		synctest.Wait()
		require.True(t, seen)
		goOn.open()
		synctest.Wait()
		require.Equal(t, 2, n)
		require.Zero(t, a.p.WaitLocked(observe.Idle))
	})
}

// Actors of both stages send to each other, and nothing is lost.
func TestActorsRing(t *testing.T) {
	s := newSystem(t, 7)
	const n, hops = 6, 20_000
	done := make(chan struct{})
	var ring [n]*actor
	ready := make(chan struct{})
	for i := range ring {
		ring[i] = s.actor(func(a *process.Acting, msg any) error {
			<-ready
			left := msg.(int)
			if left == 0 {
				close(done)
				return nil
			}
			return ring[(i+1)%n].Deliver(a, left-1)
		}, onStage(i%2))
	}
	close(ready)
	s.send(&ring[0].Process, hops)
	testkit.Receive(t, done)
	sum := uint64(0)
	for _, a := range ring {
		sum += a.Handled.Load()
	}
	require.GreaterOrEqual(t, sum, uint64(hops))
}

// owner is the mailbox of a process that an owner holds.
type owner struct{ *inbox.Bounded }

func (owner) Keep()      {}
func (owner) Owner() any { return "the owner" }

// A pending message keeps the process that an owner holds, and no other.
func TestExpected(t *testing.T) {
	s := newSystem(t, 1)
	plain := s.make(handle, nil)
	box := s.make(handle, nil, boxed(inbox.NewBounded(mailbox.Bounds{Messages: 9})))
	held := s.make(handle, nil, boxed(owner{inbox.NewBounded(mailbox.Bounds{Messages: 9})}))
	require.Equal(t, 1, runner.Expected(nil, 1))
	require.Equal(t, 1, runner.Expected(&plain.Own, 1))
	require.Equal(t, 1, runner.Expected(&box.Own, 1))
	require.NotEqual(t, 1, runner.Expected(&held.Own, 1))
	require.Nil(t, runner.OwnerOf(&s.System, plain.Own.PID()))
	require.Nil(t, runner.OwnerOf(&s.System, box.Own.PID()))
	require.Nil(t, runner.OwnerOf(&s.System, s.Origin.PID(999)))
	require.Nil(t, runner.OwnerOf(&s.System, wire.Atom("x")))
	require.Equal(t, "the owner", runner.OwnerOf(&s.System, held.Own.PID()))
	for _, b := range []*runner.Blocking{plain, held} {
		n := 0
		runner.Keeping(&s.System, b.Own.PID(), func(a *process.Acting) {
			require.Same(t, &s.Plain, a)
			n++
		})(&s.Plain)
		require.Equal(t, 1, n)
		msg, err := runner.ForTimer(wire.PID{}, &b.Own, 1)
		require.NoError(t, err)
		require.Equal(t, runner.Expected(&b.Own, 1), msg)
	}
}

// guard copies what must be copied, and refuses "no".
type guard struct{ checks bool }

func (g guard) Checks() bool { return g.checks }
func (g guard) Copy(must bool, msg any) (any, error) {
	if msg == "no" {
		return nil, errTest
	}
	return msg, nil
}
func (guard) Watch(_, _ wire.PID, msg any) watch.Watch { return nil }
func (guard) Hold(_, _ wire.PID, msg any) watch.Watch  { return held{} }
func (guard) Gone(wire.PID)                            {}

type held struct{}

func (held) Received() {}

// Where messages are kept apart, a timer has its message as it was given: copied, and watched if it is for another.
func TestForTimerGuarded(t *testing.T) {
	s := newSystem(t, 1)
	s.Tracing.Keep(guard{})
	p := s.make(handle, nil)
	box := s.make(handle, nil, boxed(owner{inbox.NewBounded(mailbox.Bounds{Messages: 9})}))
	other := s.make(handle, nil).Own.PID()
	_, err := runner.ForTimer(other, &p.Own, "no")
	require.Equal(t, errTest, err)
	msg, err := runner.ForTimer(other, &p.Own, "m")
	require.NoError(t, err)
	require.Equal(t, &watch.Carried{Msg: "m", Watch: held{}}, msg)
	msg, err = runner.ForTimer(p.Own.PID(), &p.Own, "m")
	require.NoError(t, err)
	require.Equal(t, watch.ToItself("m"), msg)
	msg, err = runner.ForTimer(other, &box.Own, "m")
	require.NoError(t, err)
	require.Equal(t, runner.Expected(&box.Own, "m"), msg)
}

// gate blocks a handler.
type gate chan struct{}

func newGate() gate  { return make(gate) }
func (g gate) wait() { <-g }
func (g gate) open() { close(g) }
