package runner_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// The receives with a timeout.
var within = map[string]func(*runner.Blocking, time.Duration){
	"within": func(b *runner.Blocking, d time.Duration) { b.ReceiveWithin(d, nil) },
	"kind":   func(b *runner.Blocking, d time.Duration) { b.ReceiveKindWithin(d, func(any) bool { return true }, 1) },
	"behind": func(b *runner.Blocking, d time.Duration) { b.ReceiveBehind(b.Mark(), d, nil) },
}

// What others see a process do, and what it waits for.
func TestDoing(t *testing.T) {
	for name, receive := range within {
		t.Run(name, func(t *testing.T) { seeDoing(t, receive) })
	}
}

func seeDoing(t *testing.T, receive func(*runner.Blocking, time.Duration)) {
	eachStyle(t, func(t *testing.T, s *system, as style) {
		goOn := make(chan struct{})
		b := s.spawn(as, func(b *runner.Blocking) error {
			<-goOn
			b.Receive()
			receive(b, time.Minute)
			<-goOn
			return nil
		})
		stage := -1
		if as == coroutine {
			stage = 0
		}
		see := func(state observe.State, waits string) {
			synctest.Wait()
			is, at := b.Own.Runner().Doing()
			require.Equal(t, state, is)
			require.Equal(t, stage, at)
			b.Own.Mu.Lock()
			defer b.Own.Mu.Unlock()
			require.Equal(t, waits, b.Own.WaitLocked(is).For)
		}
		timed := func() (bool, uint32) {
			b.Own.Mu.Lock()
			defer b.Own.Mu.Unlock()
			return runner.Timed(&b.Own)
		}
		see(observe.Running, "")
		goOn <- struct{}{}
		see(observe.Waiting, "message")
		within, n := timed()
		require.False(t, within)
		require.Zero(t, n)
		s.send(&b.Own, 1)
		see(observe.Waiting, "message")
		within, n = timed()
		begun := uint32(1)
		if as == handle {
			begun = 0 // that of a handle is not the node's business
		}
		require.Equal(t, begun == 1, within)
		require.Equal(t, begun, n)
		pass(time.Minute)
		see(observe.Running, "")
		within, n = timed()
		require.False(t, within)
		require.Equal(t, 2*begun, n)
		close(goOn)
		synctest.Wait()
		require.True(t, b.Own.Gone())
	})
}

// A wait for an answer of another node is visible, with the target.
func TestWaitsForFar(t *testing.T) {
	eachStyle(t, func(t *testing.T, s *system, as style) {
		at := wire.At{Name: "shop", Node: "b@h"}
		b := s.spawn(as, func(b *runner.Blocking) error {
			b.Await(context.Background(), s.ask(b), calls.WaitFuture, at)
			return nil
		})
		synctest.Wait()
		b.Own.Mu.Lock()
		w := b.Own.WaitLocked(observe.Waiting)
		b.Own.Mu.Unlock()
		require.Equal(t, "future", w.For)
		require.Equal(t, at, w.On)
		s.promised(b).Settle(&s.Plain, nil, nil)
		synctest.Wait()
		require.True(t, b.Own.Gone())
	})
}

// A process waits since its receive began, whatever the receive has passed over since.
func TestWaitsSince(t *testing.T) {
	for what, receive := range map[string]func(b *runner.Blocking) any{
		"receive": func(b *runner.Blocking) any { return b.Receive() },
		"match":   func(b *runner.Blocking) any { return b.ReceiveMatch(func(msg any) bool { return msg != "left" }) },
	} {
		eachStyle(t, func(t *testing.T, s *system, as style) {
			b := s.spawn(as, func(b *runner.Blocking) error {
				for receive(b) != "end" && !b.Own.Gone() {
				}
				return nil
			})
			for range 3 {
				pass(10 * time.Second)
				s.send(&b.Own, "next")
				synctest.Wait()
				began := time.Now()
				pass(10 * time.Second)
				if what == "match" {
					s.send(&b.Own, "left")
					pass(10 * time.Second)
				}
				b.Own.Mu.Lock()
				w := b.Own.WaitLocked(observe.Waiting)
				b.Own.Mu.Unlock()
				require.WithinDuration(t, began, w.Since, 250*time.Millisecond, what)
				require.False(t, w.Since.After(began), what)
			}
			s.send(&b.Own, "end")
		})
	}
}

// A coroutine on a stage that is busy is scheduled.
func TestScheduled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, 1000)
		goOn := make(chan struct{})
		s.spawn(coroutine, func(*runner.Blocking) error { <-goOn; return nil }, onStage(1))
		synctest.Wait()
		b := s.spawn(coroutine, func(*runner.Blocking) error { return nil }, onStage(1))
		state, stage := b.Own.Runner().Doing()
		require.Contains(t, []observe.State{observe.Scheduled, observe.Waiting}, state)
		require.Equal(t, 1, stage)
		close(goOn)
		synctest.Wait()
	})
}

// Each style has its kind, its code, and its name.
func TestStyles(t *testing.T) {
	kinds := map[style]process.Kind{goroutine: process.Goroutine, coroutine: process.Coroutine, handle: process.Handle}
	eachStyle(t, func(t *testing.T, s *system, as style) {
		goOn := make(chan struct{})
		b := s.spawn(as, func(b *runner.Blocking) error {
			<-goOn
			return nil
		})
		synctest.Wait()
		require.Equal(t, kinds[as], b.Own.Kind)
		require.Equal(t, as == coroutine, b.Own.OnStage())
		require.Equal(t, as != handle, runner.BodyOf(&b.Own) != nil)
		require.Equal(t, as != handle, b.Own.Runner().Busy(&s.Plain))
		require.Equal(t, b.Own.PID().String(), b.Own.Task().Name())
		close(goOn)
	})
}

// A process with a goroutine of its own is never run in turns.
func TestOffStage(t *testing.T) {
	s := newSystem(t, 1)
	b := s.make(goroutine, nil)
	require.Panics(t, func() { b.Own.Task().Turn(nil) })
	require.False(t, b.Own.Task().CollectInbox(nil))
	require.False(t, b.Own.Task().FinishDetached(nil))
	require.False(t, b.Own.Task().Claim())
	h := s.make(handle, nil)
	h.Own.Runner().Start(&s.Plain, nil, true)
	require.Zero(t, s.Functions.Load())
	require.Nil(t, runner.BodyOf(&h.Own))
	s.Functions.Store(0)
	b.Own.Exit(&s.Plain, "x")
	b.Own.Returned()
}

// Others may look at the queue of a process, and its own code may change it, one at a time.
func TestOwning(t *testing.T) {
	eachStyle(t, func(t *testing.T, s *system, as style) {
		done := make(chan struct{})
		var got []any
		b := s.spawn(as, func(b *runner.Blocking) error {
			b.ReceiveMatch(is("go"))
			b.Own.Discard(&b.Acting, is(2))
			got = append(got, b.Receive())
			got = append(got, b.Receive())
			close(done)
			b.Receive()
			return nil
		})
		s.send(&b.Own, 1, 2, 3)
		synctest.Wait()
		seen := 0
		b.Own.Runner().Inspect(func() {
			for range b.Own.Queue.All() {
				seen++
			}
		})
		require.Equal(t, 3, seen)
		s.send(&b.Own, "go")
		<-done
		require.Equal(t, []any{1, 3}, got)
	})
}

// ForgetName takes a process's name away, so that another can have it.
func TestForgetName(t *testing.T) {
	s := newSystem(t, 1)
	b, other := s.make(handle, nil), s.make(handle, nil)
	runner.ForgetName(&b.Own)
	enter := func(b *runner.Blocking) error {
		return s.Names.Enter((*process.Named)(&b.Own), tables.NameEntry{Name: "shop"})
	}
	require.NoError(t, enter(b))
	require.ErrorIs(t, enter(other), tables.ErrTaken)
	runner.ForgetName(&b.Own)
	require.Nil(t, s.Whose("shop"))
	require.Empty(t, b.Own.Cold.Name)
	require.NoError(t, enter(other))
	require.NoError(t, s.Names.Enter((*process.Named)(&b.Own), tables.NameEntry{Name: "again"}))
}

// A function that blocks for long leaves its stage to the others; observers see that the process itself waits.
func TestAside(t *testing.T) {
	eachStyle(t, func(t *testing.T, s *system, as style) {
		goOn := make(chan struct{})
		steps := 0
		b := s.spawn(as, func(b *runner.Blocking) error {
			runner.Aside(&b.Acting, func() {
				runner.Aside(&b.Acting, func() { steps++ })
				<-goOn
			})
			steps++
			b.Receive()
			steps++
			return nil
		})
		synctest.Wait()
		b.Own.Mu.Lock()
		state, _ := b.Own.Runner().Doing()
		require.Equal(t, observe.Running, state)
		b.Own.Mu.Unlock()
		neighbour := s.spawn(coroutine, func(*runner.Blocking) error { return nil })
		synctest.Wait()
		require.True(t, neighbour.Own.Gone(), "the stage is free")
		goOn <- struct{}{}
		synctest.Wait()
		require.Equal(t, 2, steps)
		s.send(&b.Own, 1)
		synctest.Wait()
		require.Equal(t, 3, steps)
		require.Zero(t, b.Own.WaitLocked(observe.Dead).For)

		if as == handle {
			return
		}
		went := false
		b = s.spawn(as, func(b *runner.Blocking) error {
			runner.Aside(&b.Acting, func() { <-goOn })
			went = true
			return nil
		})
		synctest.Wait()
		b.Own.Exit(&s.Plain, "x")
		close(goOn)
		synctest.Wait()
		require.False(t, went, "it is unwound")
		require.Zero(t, s.Lingering.Load())
	})
}
