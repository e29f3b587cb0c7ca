package inbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
)

// waiter is a sender that waits for space.
type waiter struct {
	msg    string
	cancel context.CancelCauseFunc
	answer string // "": it waits
}

// send starts a sender, which waits if it must.
func send(b *Bounded, msg string) *waiter {
	w := &waiter{msg: msg}
	ctx, cancel := context.WithCancelCause(context.Background())
	w.cancel = cancel
	go func() { // ends with the wait
		r, err := b.PushWait(ctx, msg)
		w.answer = fmt.Sprint(r, " ", err)
	}()
	synctest.Wait()
	return w
}

func answers(all ...*waiter) (list []string) {
	synctest.Wait()
	for _, w := range all {
		list = append(list, w.answer)
	}
	return list
}

const queued = "queued <nil>"

func TestBoundedPushWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBounded(mailbox.Bounds{Bytes: 4, Policy: mailbox.Block, Size: weight})
		require.Equal(t, []string{queued}, answers(send(b, "123456789")), "an empty box has space for anything")
		small, large, last := send(b, "1"), send(b, "1234"), send(b, "1")
		b.Pop()
		require.Equal(t, []string{"", "", ""}, answers(small, large, last), "popped is not done")
		b.Done()
		require.Equal(t, []string{queued, "", ""}, answers(small, large, last), "what is behind one that does not fit waits, too")
		require.Equal(t, mailbox.Full, b.Push(""), "and so does one that comes now")
		require.Equal(t, mailbox.Queued, b.Force("5678"))
		b.Pop()
		b.Done()
		large.cancel(io.EOF)
		require.Equal(t, []string{queued, "full EOF", ""}, answers(small, large, last))
		b.Pop()
		b.Done()
		require.Equal(t, []string{queued}, answers(last))
		require.Equal(t, mailbox.Queued, b.Push("123"), "nobody waits any more")
		closed := send(b, "x")
		b.Close()
		require.Equal(t, []string{"closed <nil>"}, answers(closed))
	})
}

// A reader that has found nothing, and then is done with a message it had left, is woken for the message that this lets
// in.
func TestBoundedPushWaitWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBounded(mailbox.Bounds{Messages: 1, Policy: mailbox.Block})
		b.Push("left")
		first, second := send(b, "1"), send(b, "2")
		b.Pop()
		_, ok := b.Pop()
		require.False(t, ok)
		b.Done()
		require.Equal(t, []string{"wake <nil>", ""}, answers(first, second))
		b.Pop()
		b.Done()
		require.Equal(t, []string{queued}, answers(second))
	})
}

// Under any policy but Block no sender waits.
func TestBoundedPushWaitOfOtherPolicies(t *testing.T) {
	for policy, want := range map[mailbox.Policy]mailbox.Result{
		mailbox.Refuse: mailbox.Full, mailbox.DropNewest: mailbox.Dropped, mailbox.DropOldest: mailbox.Queued,
	} {
		b := NewBounded(mailbox.Bounds{Messages: 1, Policy: policy})
		b.Push("1")
		r, err := b.PushWait(t.Context(), "2")
		assert.NoError(t, err)
		assert.Equal(t, want, r)
	}
}

func TestBoundedPushWaitEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBounded(mailbox.Bounds{Messages: 1, Policy: mailbox.Block})
		b.Push("1")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, io.EOF)
		defer cancel()
		other := send(b, "2")
		for _, when := range []string{"while it waits", "before it waits"} {
			_, err := b.PushWait(ctx, "3")
			assert.Equal(t, io.EOF, err, when)
		}
		require.Equal(t, []string{""}, answers(other))
		for range 2 {
			b.Pop()
			b.Done()
		}
		require.Equal(t, []string{queued}, answers(other))
		_, err := b.PushWait(ctx, "4")
		assert.NoError(t, err, "there is space")
	})
}

// A waiter that looks for a cycle takes a place first, and may leave it.
func TestPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBounded(mailbox.Bounds{Messages: 1, Policy: mailbox.Block})
		p := b.Join("1")
		require.False(t, p.Waits())
		require.False(t, p.Leave())
		r, err := p.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, mailbox.Queued, r)
		p, behind := b.Join("2"), send(b, "3")
		require.True(t, p.Waits())
		require.True(t, p.Leave())
		b.Pop()
		b.Done()
		require.Equal(t, []string{queued}, answers(behind))
	})
}

// However many senders wait, each message taken lets one of them go on, the one that has waited longest.
func TestBoundedWakesOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBounded(mailbox.Bounds{Messages: 2, Policy: mailbox.Block})
		b.Push("a")
		b.Push("b")
		var all []*waiter
		for i := range 500 {
			all = append(all, send(b, fmt.Sprint(i)))
		}
		for i := range all {
			b.Pop()
			b.Done()
			require.Equal(t, i+1, slices.Index(append(answers(all...), ""), ""))
			require.Equal(t, len(all)-i-1, count(answers(all...), ""))
		}
	})
}

func count(all []string, want string) (n int) {
	for _, s := range all {
		if s == want {
			n++
		}
	}
	return n
}

// Random senders wait, give up, and find the box closed, compared with a model: waiters get in, in order, as soon as
// their messages fit, and no sender passes them.
func TestBoundedLineAsModel(t *testing.T) {
	r := testkit.Rand(t)
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			limits := mailbox.Bounds{Messages: 1 + r.IntN(4), Bytes: r.IntN(20), Policy: mailbox.Block, Size: weight}
			b, l := NewBounded(limits), new(ledger)
			var line []*waiter
			admit := func() {
				for len(line) > 0 && l.fits(limits, line[0].msg) {
					l.waiting = append(l.waiting, line[0].msg)
					require.NotEmpty(t, answers(line[0])[0], "it fits: %+v", limits)
					line = line[1:]
				}
				for _, text := range answers(line...) {
					require.Empty(t, text, "it waits: %+v", limits)
				}
			}
			for range 100 {
				switch r.IntN(6) {
				case 0, 1:
					line = append(line, send(b, "0123456789"[:r.IntN(11)]))
				case 2:
					m := "0123456789"[:r.IntN(11)]
					fits := len(line) == 0 && l.fits(limits, m)
					if fits {
						l.waiting = append(l.waiting, m)
					}
					require.Equal(t, fits, b.Push(m) != mailbox.Full)
				case 3:
					m, ok := b.Pop()
					require.Equal(t, len(l.waiting) > 0, ok)
					if ok {
						require.Equal(t, l.waiting[0], m)
						l.waiting, l.popped = l.waiting[1:], append(l.popped, l.waiting[0])
					}
				case 4:
					if b.Done(); len(l.popped) > 0 {
						l.popped = l.popped[1:]
					}
				case 5:
					if len(line) > 0 {
						i := r.IntN(len(line))
						line[i].cancel(errors.New("enough"))
						require.Equal(t, []string{"full enough"}, answers(line[i]))
						line = slices.Delete(line, i, i+1)
					}
				}
				admit()
				require.Equal(t, len(l.waiting)+len(l.popped), b.Len())
			}
			b.Close()
			for _, text := range answers(line...) {
				require.Equal(t, "closed <nil>", text)
			}
		})
	}
}
