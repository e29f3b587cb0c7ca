package runner_test

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/wire"
)

func is(v any) func(any) bool { return func(msg any) bool { return msg == v } }

// The oldest message comes first; a message that is waited for is taken when it is sent; messages that a receive passes
// over keep their order.
func TestReceive(t *testing.T) {
	eachStyle(t, func(t *testing.T, s *system, as style) {
		var got []any
		b := s.spawn(as, func(b *runner.Blocking) error {
			for range 3 {
				got = append(got, b.Receive())
			}
			got = append(got, b.ReceiveMatch(is("c")))
			for range 3 {
				got = append(got, b.Receive())
			}
			return nil
		})
		synctest.Wait()
		s.send(&b.Own, 1)
		synctest.Wait()
		require.Equal(t, []any{1}, got)
		s.send(&b.Own, 2, 3, "a", "b")
		synctest.Wait()
		require.Len(t, got, 3)
		s.send(&b.Own, "c")
		synctest.Wait()
		require.Equal(t, []any{1, 2, 3, "c", "a", "b"}, got)
		require.False(t, b.Own.Gone())
		s.send(&b.Own, "d")
		synctest.Wait()
		require.Equal(t, "d", got[6])
		require.EqualValues(t, 7, b.Own.Handled.Load())
		reason, ended := b.Own.Ended()
		require.True(t, ended)
		require.Equal(t, process.Normal, reason)
		_, taken := s.Tally.Sum()
		require.EqualValues(t, 7, taken)
	})
}

// A receive with a timeout ends after that time, or with a message that comes earlier. A message that comes while it
// ends is not lost.
func TestReceiveWithin(t *testing.T) {
	eachStyle(t, func(t *testing.T, s *system, as style) {
		type took struct {
			msg   any
			err   error
			after time.Duration
		}
		var all []took
		b := s.spawn(as, func(b *runner.Blocking) error {
			within := func(d time.Duration, match func(any) bool) {
				start := time.Now()
				msg, err := b.ReceiveWithin(d, match)
				all = append(all, took{msg, err, time.Since(start)})
			}
			within(-1, nil)
			within(0, nil)
			within(time.Second, nil) // nothing comes
			within(time.Second, nil) // one comes
			within(3*time.Second, is("x"))
			within(0, nil)
			within(time.Second, is("x")) // one comes at that moment, or after it
			within(runner.Infinity, is("last"))
			return nil
		})
		pass(1500 * time.Millisecond)
		s.send(&b.Own, 1)
		pass(time.Second)
		s.send(&b.Own, 2)
		pass(time.Second)
		s.send(&b.Own, 3)
		pass(2 * time.Second)
		s.send(&b.Own, "x", "last")
		pass(time.Minute)
		bad, timeout := process.ErrBadTimeout, process.ErrTimeout
		require.Equal(t, []took{{nil, bad, 0}, {nil, timeout, 0}, {nil, timeout, time.Second}, {1, nil, time.Second / 2},
			{nil, timeout, 3 * time.Second}, {2, nil, 0}}, all[:6])
		require.Equal(t, "last", all[7].msg)
		require.True(t, b.Own.Gone())
		if all[6].err == nil {
			require.Equal(t, "x", all[6].msg)
		}
	})
}

// An old timeout does not end a later receive.
func TestOldTimeout(t *testing.T) {
	eachStyle(t, func(t *testing.T, s *system, as style) {
		done := false
		b := s.spawn(as, func(b *runner.Blocking) error {
			msg, err := b.ReceiveWithin(time.Second, nil)
			require.NoError(t, err)
			require.Equal(t, 1, msg)
			start := time.Now()
			_, err = b.ReceiveWithin(time.Minute, nil)
			require.Equal(t, process.ErrTimeout, err)
			require.Equal(t, time.Minute, time.Since(start))
			done = true
			return nil
		})
		pass(time.Second - 1)
		s.send(&b.Own, 1)
		pass(time.Hour)
		require.True(t, done)
	})
}

// A match may send, receive nothing twice, and panic: what it has looked at stays in the mailbox.
func TestMatch(t *testing.T) {
	eachStyle(t, func(t *testing.T, s *system, as style) {
		var rest []any
		b := s.spawn(as, func(b *runner.Blocking) error {
			func() {
				defer func() { require.Equal(t, "in a match", recover()) }()
				b.ReceiveMatch(func(msg any) bool {
					if msg == 2 {
						panic("in a match")
					}
					return false
				})
			}()
			b.ReceiveMatch(func(msg any) bool {
				if msg == 1 {
					require.NoError(t, b.Blocks.Deliver(&b.Own, 3))
				}
				return msg == 3
			})
			rest = append(rest, b.Receive(), b.Receive())
			return nil
		})
		synctest.Wait()
		s.send(&b.Own, 1, 2)
		synctest.Wait()
		require.Equal(t, []any{1, 2}, rest)
	})
}

// A model of a mailbox: receives of all sorts take what they should, whatever was taken and left before, in each style,
// with a bounded mailbox of its own or without.
func TestReceiveModel(t *testing.T) {
	seed := testkit.Seed(t)
	eachStyle(t, func(t *testing.T, s *system, as style) {
		for round := range testkit.By(40, 400, 4000) {
			r := rand.New(rand.NewPCG(seed, uint64(round)))
			var with []option
			box := r.IntN(4) == 0
			if box {
				with = append(with, boxed(inbox.NewBounded(mailbox.Bounds{Messages: 1000})))
			}
			s.spawn(as, func(b *runner.Blocking) error { model(t, r, b, box); return nil }, with...)
			synctest.Wait()
		}
	})
}

// model runs random receives of b. They take messages that b sends itself, and do not wait.
func model(t *testing.T, r *rand.Rand, b *runner.Blocking, box bool) {
	type message struct{ kind, n int }
	var waits []message // in the mailbox
	var mark *inbox.Position
	marked := 0 // messages before the mark
	sent := 0
	take := func(from int, wants func(message) bool) (any, error) {
		for i := from; i < len(waits); i++ {
			if m := waits[i]; wants(m) {
				waits = append(waits[:i:i], waits[i+1:]...)
				if i < marked {
					marked--
				}
				return m, nil
			}
		}
		return nil, process.ErrTimeout
	}
	for range 120 {
		kind := r.IntN(3)
		wants := func(m message) bool { return m.kind == kind }
		match := func(msg any) bool { return wants(msg.(message)) }
		var got, want any
		var err, wantErr error
		switch r.IntN(9) {
		case 0, 1, 2:
			m := message{kind, sent}
			sent++
			require.NoError(t, b.Blocks.Deliver(&b.Own, m))
			waits = append(waits, m)
			continue
		case 3:
			if len(waits) == 0 {
				continue
			}
			got = b.Receive()
			want, _ = take(0, func(message) bool { return true })
		case 4:
			got, err = b.ReceiveWithin(0, match)
			want, wantErr = take(0, wants)
		case 5:
			got, err = b.ReceiveKindWithin(0, match, kind)
			want, wantErr = take(0, wants)
		case 6:
			if want, wantErr = take(0, wants); wantErr != nil {
				continue
			}
			got = b.ReceiveKind(match, kind)
		case 7:
			if !box {
				mark, marked = b.Mark(), len(waits)
			}
			continue
		case 8:
			if mark == nil {
				continue
			}
			got, err = b.ReceiveBehind(mark, 0, match)
			want, wantErr = take(marked, wants)
		}
		require.Equal(t, wantErr, err)
		require.Equal(t, want, got)
		require.Equal(t, len(waits), b.Own.Intake().Len())
	}
	for range waits {
		got, _ := b.ReceiveWithin(0, nil)
		want, _ := take(0, func(message) bool { return true })
		require.Equal(t, want, got)
	}
}

// A receive for a kind does not look again at messages that an earlier receive for the same kind has left; a receive
// for another kind does.
func TestKindsLookOnce(t *testing.T) {
	eachStyle(t, func(t *testing.T, s *system, as style) {
		b := s.spawn(as, func(b *runner.Blocking) error {
			looks := func(kind any) int {
				n := 0
				_, err := b.ReceiveKindWithin(0, func(any) bool { n++; return false }, kind)
				require.Equal(t, process.ErrTimeout, err)
				return n
			}
			for i := range 3 {
				require.NoError(t, b.Blocks.Deliver(&b.Own, i))
			}
			require.Equal(t, 3, looks("a"))
			require.Zero(t, looks("a"))
			require.NoError(t, b.Blocks.Deliver(&b.Own, 3))
			require.Equal(t, 1, looks("a"))
			require.Equal(t, 4, looks("b"))
			require.Equal(t, 4, looks("a"))
			end := b.Mark()
			require.NoError(t, b.Blocks.Deliver(&b.Own, 4))
			n := 0
			b.ReceiveBehind(end, 0, func(any) bool { n++; return false })
			require.Equal(t, 1, n)
			require.Equal(t, 5, looks("a"), "another receive was between")
			require.Equal(t, 0, b.Receive())
			require.Equal(t, 4, looks("a"), "and so it was here")
			return nil
		})
		synctest.Wait()
		require.Equal(t, process.Normal, b.Own.Reason())
	})
}

// Messages from many senders of all styles: none is lost, none comes twice, and those of one sender come in order.
func TestManySenders(t *testing.T) {
	for _, as := range styles {
		t.Run(string(as), func(t *testing.T) {
			type message struct {
				from, n int
			}
			const each = 1500
			s := newSystem(t, 20)
			senders := []style{goroutine, coroutine, coroutine, handle}
			done := make(chan [4]int)
			to := s.spawn(as, func(b *runner.Blocking) error {
				var next [4]int
				for range len(senders) * each {
					m := b.Receive().(message)
					require.Equal(t, next[m.from], m.n)
					next[m.from]++
				}
				done <- next
				return nil
			})
			for i, from := range senders {
				s.spawn(from, func(b *runner.Blocking) error {
					for n := range each {
						require.NoError(t, b.Blocks.Deliver(&to.Own, message{i, n}))
					}
					return nil
				}, onStage(i%2))
			}
			require.Equal(t, [4]int{each, each, each, each}, testkit.Receive(t, done))
			require.Empty(t, s.dead())
		})
	}
}

// The node is told of the messages that a process takes: now and then, and of all when it has ended.
func TestCounted(t *testing.T) {
	eachStyle(t, func(t *testing.T, s *system, as style) {
		b := s.spawn(as, func(b *runner.Blocking) error {
			for range 150 {
				b.Receive()
			}
			for range 50 {
				b.ReceiveMatch(func(any) bool { return true })
			}
			return nil
		})
		for _, c := range []struct{ sent, told int }{{150, 128}, {50, 200}} {
			for i := range c.sent {
				s.send(&b.Own, i)
			}
			synctest.Wait()
			_, taken := s.Tally.Sum()
			require.GreaterOrEqual(t, taken, uint64(c.told))
			require.LessOrEqual(t, taken, b.Own.Handled.Load())
		}
		require.True(t, b.Own.Gone())
	})
}

// A token comes with its message, and the next message without one takes it away.
func TestTokens(t *testing.T) {
	eachStyle(t, func(t *testing.T, s *system, as style) {
		token := wire.Tuple{1, "label", 5, wire.PID{}, 4}
		var tokens []bool
		b := s.spawn(as, func(b *runner.Blocking) error {
			took := func(msg, want any) {
				require.Equal(t, want, msg)
				tokens = append(tokens, b.Own.Token() != nil)
			}
			took(b.Receive(), "plain")
			took(b.Receive(), "one")
			took(b.Receive(), "two")
			took(b.Receive(), "plain")
			took(b.ReceiveMatch(is("three")), "three")
			took(b.Receive(), "left")
			return nil
		})
		s.send(&b.Own, "plain")
		synctest.Wait()
		for _, msg := range []string{"one", "two"} {
			require.NoError(t, b.Own.DeliverWith(&s.Plain, msg, token))
		}
		s.send(&b.Own, "plain", "left")
		synctest.Wait()
		require.NoError(t, b.Own.DeliverWith(&s.Plain, "three", token))
		synctest.Wait()
		require.Equal(t, []bool{false, true, true, false, true, false}, tokens)
	})
}

// A process with a bounded mailbox takes one message at a time, and makes room when it has it.
func TestBoxed(t *testing.T) {
	eachStyle(t, func(t *testing.T, s *system, as style) {
		var got []any
		box := inbox.NewBounded(mailbox.Bounds{Messages: 2, Policy: mailbox.Block})
		b := s.spawn(as, func(b *runner.Blocking) error {
			for range 10 {
				got = append(got, b.Receive())
			}
			_, err := b.ReceiveWithin(time.Second, nil)
			require.Equal(t, process.ErrTimeout, err)
			got = append(got, b.Receive())
			return nil
		}, boxed(box))
		from := s.spawn(goroutine, func(from *runner.Blocking) error {
			for i := range 10 {
				require.NoError(t, from.Blocks.Deliver(&b.Own, i))
			}
			return nil
		})
		pass(time.Minute)
		require.True(t, from.Own.Gone())
		require.Equal(t, []any{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, got)
		require.Zero(t, box.Len())
		s.send(&b.Own, "last")
		synctest.Wait()
		require.Equal(t, "last", got[10])
	})
}
