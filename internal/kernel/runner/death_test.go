package runner_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/testkit"

	"github.com/actornode/actornode/node/observe"
)

// A process exits in the way its function ends. The host is told of a crash.
func TestEnds(t *testing.T) {
	for what, c := range map[string]struct {
		f       body
		reason  any
		crashed bool
	}{
		"returns":        {func(*runner.Blocking) error { return nil }, process.Normal, false},
		"fails":          {func(*runner.Blocking) error { return errTest }, errTest, false},
		"panics":         {func(*runner.Blocking) error { panic("boom") }, crash("boom"), true},
		"calls Goexit":   {func(*runner.Blocking) error { runtime.Goexit(); return nil }, crash(nil), true},
		"ends by itself": {func(b *runner.Blocking) error { b.Own.Exit(&b.Acting, "x"); return nil }, "x", false},
	} {
		eachStyle(t, func(t *testing.T, s *system, as style) {
			if as == handle {
				return // its goroutine is not the runtime's
			}
			b := s.spawn(as, c.f)
			synctest.Wait()
			reason, ended := b.Own.Ended()
			require.True(t, ended, what)
			require.Equal(t, c.reason, reason, what)
			require.Equal(t, c.crashed, len(s.ended) == 1, what)
			require.Zero(t, s.Functions.Load()+s.Fibers.Busy()+s.Lingering.Load(), what)
			require.True(t, b.Own.Status.IsDead(), what)
		})
	}
}

// A process that is killed while it waits is unwound, whatever it waits for, and a handle is told. Deferred calls run,
// and the process lingers until they have.
func TestKilledWaiting(t *testing.T) {
	for what, wait := range map[string]func(s *system, b *runner.Blocking) any{
		"receive": func(s *system, b *runner.Blocking) any { return b.Receive() },
		"match":   func(s *system, b *runner.Blocking) any { return b.ReceiveMatch(is("x")) },
		"kind":    func(s *system, b *runner.Blocking) any { return b.ReceiveKind(is("x"), "x") },
		"within":  func(s *system, b *runner.Blocking) any { _, err := b.ReceiveWithin(time.Hour, nil); return err },
		"kind within": func(s *system, b *runner.Blocking) any {
			_, err := b.ReceiveKindWithin(time.Hour, is("x"), 1)
			return err
		},
		"behind a mark": func(s *system, b *runner.Blocking) any {
			_, err := b.ReceiveBehind(b.Mark(), time.Hour, is("x"))
			return err
		},
		"reply": func(s *system, b *runner.Blocking) any {
			_, err := b.Await(context.Background(), s.ask(b), calls.WaitReply, nil)
			return err
		},
	} {
		eachStyle(t, func(t *testing.T, s *system, as style) {
			var after any
			cleanup := make(chan struct{})
			b := s.spawn(as, func(b *runner.Blocking) error {
				defer func() { <-cleanup }()
				after = wait(s, b)
				return nil
			})
			synctest.Wait()
			require.True(t, b.Own.Exit(&s.Plain, process.Killed))
			require.False(t, b.Own.Exit(&s.Plain, "again"))
			synctest.Wait()
			if as == handle {
				want := any(process.ErrExited)
				if what == "receive" || what == "match" || what == "kind" {
					want = exited(b.Own.PID(), process.Killed)
				}
				require.Equal(t, want, after, what)
				require.Zero(t, s.Lingering.Load())
			} else {
				require.Nil(t, after, "%s: it went on", what)
				require.EqualValues(t, 1, s.Lingering.Load(), what)
			}
			close(cleanup)
			synctest.Wait()
			require.Zero(t, s.Lingering.Load(), what)
			require.Zero(t, s.Functions.Load()+s.Fibers.Busy(), what)
			require.Equal(t, process.Killed, b.Own.Reason())
			alive, _ := s.Tally.Sum()
			require.Zero(t, alive)
		})
	}
}

// A process that is killed while it computes goes on until it does something that ends it.
func TestKilledRunning(t *testing.T) {
	for what, next := range map[string]func(b *runner.Blocking){
		"receive": func(b *runner.Blocking) { b.Receive() },
		"match":   func(b *runner.Blocking) { b.ReceiveMatch(is("waits")) },
		"within":  func(b *runner.Blocking) { b.ReceiveWithin(time.Hour, nil) },
		"at once": func(b *runner.Blocking) { b.ReceiveWithin(0, nil) },
		"behind":  func(b *runner.Blocking) { b.ReceiveBehind(b.Mark(), 0, nil) },
		"aside":   func(b *runner.Blocking) { runner.Aside(&b.Acting, func() {}) },
	} {
		eachStyle(t, func(t *testing.T, s *system, as style) {
			if as == handle {
				return
			}
			goOn := make(chan struct{})
			ended, went := false, false
			b := s.spawn(as, func(b *runner.Blocking) error {
				defer func() { ended = true }()
				<-goOn
				next(b)
				went = true
				return nil
			})
			synctest.Wait()
			s.send(&b.Own, "waits")
			b.Own.Exit(&s.Plain, "x")
			synctest.Wait()
			require.False(t, ended, what)
			require.EqualValues(t, 1, s.Lingering.Load())
			close(goOn)
			synctest.Wait()
			require.True(t, ended, what)
			require.False(t, went, "%s: the dead take no messages", what)
			require.Zero(t, s.Lingering.Load())
		})
	}
}

// A process that is killed before it runs does not run.
func TestKilledBefore(t *testing.T) {
	eachStyle(t, func(t *testing.T, s *system, as style) {
		if as == handle {
			return
		}
		ran := false
		f := func(*runner.Blocking) error { ran = true; return nil }
		b := s.make(as, f)
		b.Own.Exit(&s.Plain, "x")
		s.start(as, b, f)
		synctest.Wait()
		require.False(t, ran)
		require.Zero(t, s.Lingering.Load())
		require.Zero(t, s.Functions.Load())
	})
}

// The messages that a process takes, and those that become dead letters because it is dead, are the first and the last
// of those it was sent: no message comes twice, and no sender waits for the dead.
func TestNothingComesTwice(t *testing.T) {
	for _, as := range styles {
		t.Run(string(as), func(t *testing.T) {
			s := newSystem(t, 20)
			r := testkit.Rand(t)
			for round := range testkit.By(150, 1500, 15000) {
				const n = 40
				var got []any
				ended, matches := make(chan struct{}), r.IntN(2) == 0
				b := s.spawn(as, func(b *runner.Blocking) error {
					defer close(ended)
					for !b.Own.Gone() {
						var msg any
						if matches {
							var err error
							if msg, err = b.ReceiveWithin(time.Hour, func(any) bool { return true }); err != nil {
								return nil
							}
						} else if msg = b.Receive(); msg == (exited(b.Own.PID(), "x")) {
							return nil
						}
						got = append(got, msg)
					}
					return nil
				})
				sent, at := make(chan struct{}), r.IntN(n+1)
				go func() {
					defer close(sent)
					for i := range n {
						if b.Own.Deliver(&s.Plain, i) != nil {
							panic("an error")
						}
						if i == at {
							go b.Own.Exit(&s.Plain, "x")
						}
					}
				}()
				testkit.Receive(t, sent)
				b.Own.Exit(&s.Plain, "x")
				if as == handle { // the others may not have begun
					testkit.Receive(t, ended)
				}
				testkit.UntilTrue(t, func() bool { return s.Functions.Load()+s.Fibers.Busy() == 0 }, "the function ends")
				for i, msg := range got {
					require.Equal(t, i, msg, "round %d", round)
				}
				dead := s.dead()
				for i, msg := range dead {
					require.Equal(t, n-len(dead)+i, msg, "round %d", round)
				}
				require.LessOrEqual(t, len(got)+len(dead), n)
			}
		})
	}
}

// ask makes a call for b that nobody answers.
func (s *system) ask(b *runner.Blocking) process.Ticket {
	return b.Promise().NewTicket()
}

// A call ends with its answer, its context or the caller; a late answer, and the answer of an earlier call, end no
// other call. Observers see what is waited for.
func TestAwait(t *testing.T) {
	eachStyle(t, func(t *testing.T, s *system, as style) {
		server := s.make(handle, nil)
		tickets := make(chan process.Ticket, 1)
		type answer struct {
			v     any
			err   error
			after time.Duration
		}
		var got []answer
		b := s.spawn(as, func(b *runner.Blocking) error {
			for i := range 4 {
				c := b.Promise()
				c.Target = &server.Own
				k := c.NewTicket()
				require.True(t, c.List())
				tickets <- k
				ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second, errTest)
				if i == 3 {
					ctx = b.Blocks.Context()
				}
				start := time.Now()
				v, err := b.Await(ctx, k, calls.WaitReply, nil)
				cancel()
				got = append(got, answer{v, err, time.Since(start)})
			}
			return nil
		})
		synctest.Wait()
		first := <-tickets
		w := b.Own.WaitLocked(observe.Waiting)
		require.Equal(t, "reply", w.For)
		require.Equal(t, server.Own.PID(), w.On)
		state, _ := b.Own.Runner().Doing()
		require.Equal(t, observe.Waiting, state)
		s.send(&b.Own, "a message ends no call")
		synctest.Wait()
		require.Empty(t, got)
		require.True(t, first.Settle(&server.Acting, 1, nil))
		synctest.Wait()
		second := <-tickets // nobody answers in time
		pass(2 * time.Second)
		require.False(t, second.Settle(&server.Acting, "late", nil))
		third := <-tickets
		b.Blocks.Answered(&s.Plain) // a wake-up that is not for this call
		synctest.Wait()
		require.True(t, third.Pending() || len(got) == 3)
		pass(2 * time.Second)
		require.Equal(t, answer{1, nil, 0}, got[0])
		require.Len(t, got, 3)
		for _, late := range got[1:] {
			require.ErrorIs(t, late.err, errTest)
			require.ErrorIs(t, late.err, context.DeadlineExceeded)
			require.Equal(t, time.Second, late.after)
		}
		fourth := <-tickets
		require.False(t, third.Settle(&server.Acting, "late", nil))
		require.True(t, fourth.Pending())
		go server.Close("x")
		synctest.Wait()
		require.Equal(t, answer{nil, failed("x"), 0}, answer{got[3].v, got[3].err, 0})
	})
}
