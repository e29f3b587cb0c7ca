package runner_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/sched/fiber"
)

// alone runs f as the first coroutine of a stage that nobody else runs meanwhile; the coroutines it makes are all on
// that stage.
func alone(t *testing.T, budget int, f func(s *system, b *runner.Blocking)) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, budget)
		s.spawn(coroutine, func(b *runner.Blocking) error { f(s, b); return nil })
		synctest.Wait()
	})
}

// neighbour is a coroutine that b makes on its own stage.
func (s *system) neighbour(b *runner.Blocking, f body) *runner.Blocking {
	n := s.make(coroutine, f)
	n.Own.Runner().Start(&b.Acting, nil, true)
	return n
}

// A coroutine that always has messages lets the others have a turn after the number of messages in the budget.
func TestCoroutineTurns(t *testing.T) {
	const budget = 10
	for what, take := range map[string]func(b *runner.Blocking) any{
		"receive": func(b *runner.Blocking) any { return b.Receive() },
		"match":   func(b *runner.Blocking) any { return b.ReceiveMatch(func(any) bool { return true }) },
	} {
		var order []string
		alone(t, budget, func(s *system, b *runner.Blocking) {
			n := s.neighbour(b, func(n *runner.Blocking) error {
				n.Blocks.Deliver(&b.Own, "ready")
				n.Receive()
				order = append(order, "neighbour")
				return nil
			})
			require.Equal(t, "ready", b.Receive())
			require.NoError(t, b.Blocks.Deliver(&n.Own, "go"))
			for i := range 3 * budget {
				require.NoError(t, b.Blocks.Deliver(&b.Own, i))
			}
			for i := range 3 * budget {
				require.Equal(t, i, take(b))
				order = append(order, "message")
			}
		})
		at := slices.Index(order, "neighbour")
		require.Positive(t, at, what)
		require.LessOrEqual(t, at, budget+1, what)
		require.Len(t, order, 3*budget+1)
	}
}

// A coroutine that sends much lets the others have a turn, too.
func TestCoroutineSends(t *testing.T) {
	seen := 0
	alone(t, 1000, func(s *system, b *runner.Blocking) {
		ran := false
		n := s.neighbour(b, func(n *runner.Blocking) error {
			n.Blocks.Deliver(&b.Own, "ready")
			n.Receive()
			ran = true
			n.ReceiveMatch(func(any) bool { return false })
			return nil
		})
		require.Equal(t, "ready", b.Receive())
		for ; !ran && seen < 10_000; seen++ {
			require.NoError(t, b.Blocks.Deliver(&n.Own, seen))
		}
	})
	require.LessOrEqual(t, seen, 512)
	require.Greater(t, seen, 100)
}

// Two coroutines of one stage that send to each other and wait switch without end; so do two that call each other.
func TestCoroutinesSwitch(t *testing.T) {
	const rounds = 5000
	n := 0
	alone(t, 100, func(s *system, b *runner.Blocking) {
		echo := s.neighbour(b, func(e *runner.Blocking) error {
			for range rounds {
				require.NoError(t, e.Blocks.Deliver(&b.Own, e.Receive()))
			}
			for range rounds {
				k := e.Receive().(process.Ticket)
				require.True(t, k.Settle(&e.Acting, "answer", nil))
			}
			return nil
		})
		for i := range rounds {
			require.NoError(t, b.Blocks.Deliver(&echo.Own, i))
			require.Equal(t, i, b.Receive())
		}
		for ; n < rounds; n++ {
			k := b.Promise().NewTicket()
			require.NoError(t, b.Blocks.Deliver(&echo.Own, k))
			v, err := b.Await(context.Background(), k, calls.WaitReply, nil)
			require.NoError(t, err)
			require.Equal(t, "answer", v)
		}
	})
	require.Equal(t, rounds, n)
}

// A coroutine that is locked to its thread cannot wait; it goes on if it has no need to.
func TestLocked(t *testing.T) {
	if !fiber.Direct {
		t.Skip("a coroutine may wait while its goroutine is locked to its thread")
	}
	for what, wait := range map[string]func(s *system, b *runner.Blocking){
		"receive": func(_ *system, b *runner.Blocking) { b.Receive() },
		"match":   func(_ *system, b *runner.Blocking) { b.ReceiveMatch(is(1)) },
		"reply": func(s *system, b *runner.Blocking) {
			k := s.ask(b)
			defer func() {
				require.True(t, k.Done())
				_, err := k.Call.Result()
				require.Equal(t, process.ErrThreadLocked, err)
			}()
			b.Await(context.Background(), k, calls.WaitReply, nil)
		},
	} {
		refused := false
		alone(t, 5, func(s *system, b *runner.Blocking) {
			runtime.LockOSThread()
			for i := range 20 { // more than a turn's
				require.NoError(t, b.Blocks.Deliver(&b.Own, i))
				require.Equal(t, i, b.ReceiveMatch(func(any) bool { return true }), what)
			}
			for i := range 20 {
				require.NoError(t, b.Blocks.Deliver(&b.Own, i))
				require.Equal(t, i, b.Receive(), what)
			}
			_, err := b.ReceiveWithin(0, nil)
			require.Equal(t, process.ErrTimeout, err)
			runner.Aside(&b.Acting, func() {})
			func() {
				defer func() {
					require.Equal(t, process.ErrThreadLocked, recover(), what)
					refused = true
				}()
				wait(s, b)
			}()
			runtime.UnlockOSThread()
		})
		require.True(t, refused, what)
	}
}

// A coroutine that blocks otherwise loses its stage, and has it again for its next receive.
func TestCoroutineLosesStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, 1000)
		goOn := make(chan struct{})
		var got []any
		b := s.spawn(coroutine, func(b *runner.Blocking) error {
			<-goOn
			got = append(got, b.Receive())
			<-goOn
			got = append(got, b.ReceiveMatch(is(2)))
			<-goOn
			v, err := b.Await(context.Background(), s.ask(b), calls.WaitReply, nil)
			got = append(got, v, err)
			return nil
		})
		for i := range 2 {
			pass(time.Second) // the watcher takes the stage
			s.send(&b.Own, i+1)
			n := s.spawn(coroutine, func(*runner.Blocking) error { return nil })
			pass(time.Second)
			require.True(t, n.Own.Gone())
			goOn <- struct{}{}
			synctest.Wait()
			require.Len(t, got, i+1)
		}
		pass(time.Second)
		goOn <- struct{}{}
		synctest.Wait()
		s.promised(b).Settle(&s.Plain, "answer", nil)
		synctest.Wait()
		require.Equal(t, []any{1, 2, "answer", nil}, got)
		require.True(t, b.Own.Gone())
	})
}

// promised is the call that b waits for.
func (s *system) promised(b *runner.Blocking) process.Ticket {
	c := b.Promise()
	return process.Ticket{Call: c, N: c.Current()}
}

// Ordinary tells messages from what else stands in the mailbox of a coroutine.
func TestOrdinary(t *testing.T) {
	for _, msg := range []any{nil, 1, "x", struct{}{}} {
		require.True(t, runner.Ordinary(msg))
	}
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, 1000)
		ended := make(chan error, 1)
		b := s.spawn(coroutine, func(b *runner.Blocking) error {
			_, err := b.ReceiveWithin(time.Second, func(msg any) bool {
				require.Equal(t, "a message", msg)
				return false
			})
			ended <- err
			return nil
		})
		s.send(&b.Own, "a message")
		synctest.Wait()
		b.Blocks.Answered(&s.Plain)
		synctest.Wait()
		require.Empty(t, ended, "it goes on waiting")
		require.Equal(t, 1, b.Own.Intake().Len())
		pass(time.Second)
		require.Equal(t, process.ErrTimeout, <-ended)
	})
}
