package inbox

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/wire"
)

func TestBoundsValidate(t *testing.T) {
	for _, c := range []struct {
		l    mailbox.Bounds
		want string
	}{
		{mailbox.Bounds{}, ""},
		{mailbox.Bounds{Messages: 1, Bytes: 1, Policy: mailbox.DropOldest}, ""},
		{mailbox.Bounds{Messages: -1}, "mailbox: Bounds.Messages -1: want 0 for any number, or more"},
		{mailbox.Bounds{Bytes: -2}, "mailbox: Bounds.Bytes -2: want 0 for any number, or more"},
		{mailbox.Bounds{Policy: 4}, "mailbox: Bounds.Policy 4: want Refuse, Block, DropNewest or DropOldest"},
	} {
		err := Check(c.l)
		if c.want == "" {
			assert.NoError(t, err)
			continue
		}
		assert.EqualError(t, err, c.want)
		assert.Panics(t, func() { NewBounded(c.l) })
	}
	assert.False(t, Limited(mailbox.Bounds{Policy: mailbox.DropOldest}))
	assert.True(t, Limited(mailbox.Bounds{Messages: 1}))
	assert.True(t, Limited(mailbox.Bounds{Bytes: 1}))
}

// step is one call of a Bounded and its expected result: a Result for a push, the message or nil for a pop.
type step struct {
	op   string // push, pop, done, len
	msg  string
	want any
}

// weight returns the size of a message in these tests: its length.
func weight(msg any) int { return len(msg.(string)) }

func TestBounded(t *testing.T) {
	for _, c := range []struct {
		name    string
		limits  mailbox.Bounds
		steps   []step
		dropped []string
	}{
		{"unbounded", mailbox.Bounds{}, []step{
			{"push", "a", mailbox.Queued}, {"push", "b", mailbox.Queued}, {"push", "c", mailbox.Queued}, {"push", "d", mailbox.Queued},
			{"push", "e", mailbox.Queued}, {"len", "", 5},
			{"pop", "", "a"}, {"pop", "", "b"}, {"pop", "", "c"}, {"pop", "", "d"}, {"pop", "", "e"}, {"pop", "", nil},
		}, nil},
		{"starts awake, arms on an empty pop", mailbox.Bounds{Messages: 9}, []step{
			{"push", "a", mailbox.Queued}, {"pop", "", "a"}, {"push", "b", mailbox.Queued}, {"pop", "", "b"},
			{"pop", "", nil}, {"pop", "", nil}, {"push", "c", mailbox.Wake}, {"push", "d", mailbox.Queued},
			{"pop", "", "c"}, {"pop", "", "d"}, {"push", "e", mailbox.Queued},
		}, nil},
		{"refuse", mailbox.Bounds{Messages: 2, Policy: mailbox.Refuse}, []step{
			{"push", "a", mailbox.Queued}, {"push", "b", mailbox.Queued}, {"push", "c", mailbox.Full},
			{"pop", "", "a"}, {"push", "c", mailbox.Full}, // the reader has it still
			{"done", "", nil}, {"push", "c", mailbox.Queued}, {"pop", "", "b"}, {"pop", "", "c"},
		}, nil},
		{"block answers full", mailbox.Bounds{Messages: 1, Policy: mailbox.Block}, []step{
			{"push", "a", mailbox.Queued}, {"push", "b", mailbox.Full}, {"pop", "", "a"}, {"done", "", nil}, {"push", "b", mailbox.Queued},
		}, nil},
		{"drop newest", mailbox.Bounds{Messages: 2, Policy: mailbox.DropNewest}, []step{
			{"push", "a", mailbox.Queued}, {"push", "b", mailbox.Queued}, {"push", "c", mailbox.Dropped}, {"len", "", 2},
			{"pop", "", "a"}, {"done", "", nil}, {"push", "d", mailbox.Queued},
			{"pop", "", "b"}, {"pop", "", "d"}, {"pop", "", nil},
		}, []string{"c"}},
		{"drop oldest", mailbox.Bounds{Messages: 2, Policy: mailbox.DropOldest}, []step{
			{"push", "a", mailbox.Queued}, {"push", "b", mailbox.Queued}, {"push", "c", mailbox.Queued}, {"len", "", 2},
			{"pop", "", "b"}, {"push", "d", mailbox.Queued}, // c is dropped: b is the reader's
			{"pop", "", "d"}, {"push", "e", mailbox.Dropped}, // only e itself could be dropped
			{"pop", "", nil}, {"len", "", 2},
		}, []string{"a", "c", "e"}},
		{"bytes", mailbox.Bounds{Bytes: 10, Policy: mailbox.Refuse}, []step{
			{"push", "12345", mailbox.Queued}, {"push", "123456", mailbox.Full}, {"push", "54321", mailbox.Queued}, {"push", "x", mailbox.Full},
			{"push", "", mailbox.Queued}, // weighs nothing
			{"pop", "", "12345"}, {"push", "x", mailbox.Full}, {"done", "", nil}, {"push", "1234", mailbox.Queued}, {"push", "12", mailbox.Full},
			{"len", "", 3},
		}, nil},
		{"bytes and messages", mailbox.Bounds{Bytes: 10, Messages: 2, Policy: mailbox.Refuse}, []step{
			{"push", "1", mailbox.Queued}, {"push", "2", mailbox.Queued}, {"push", "3", mailbox.Full},
			{"pop", "", "1"}, {"done", "", nil}, {"push", "1234567890", mailbox.Full}, {"push", "123456789", mailbox.Queued},
		}, nil},
		{"larger than the limit", mailbox.Bounds{Bytes: 4, Policy: mailbox.Refuse}, []step{
			{"push", "12345", mailbox.Queued}, {"push", "", mailbox.Full}, {"push", "1", mailbox.Full},
			{"pop", "", "12345"}, {"push", "1", mailbox.Full}, {"done", "", nil}, {"push", "1", mailbox.Queued},
			{"push", "12345", mailbox.Full}, {"pop", "", "1"}, {"push", "12345", mailbox.Full},
			{"done", "", nil}, {"push", "12345", mailbox.Queued},
		}, nil},
		{"larger than the limit, drop newest", mailbox.Bounds{Bytes: 4, Policy: mailbox.DropNewest}, []step{
			{"push", "1", mailbox.Queued}, {"push", "12345", mailbox.Dropped}, {"pop", "", "1"}, {"push", "12345", mailbox.Dropped},
			{"done", "", nil}, {"push", "12345", mailbox.Queued}, {"pop", "", "12345"},
		}, []string{"12345", "12345"}},
		{"larger than the limit, drop oldest", mailbox.Bounds{Bytes: 4, Policy: mailbox.DropOldest}, []step{
			{"push", "1", mailbox.Queued}, {"push", "2", mailbox.Queued}, {"push", "12345", mailbox.Queued}, {"len", "", 1},
			{"pop", "", "12345"}, {"done", "", nil},
			// While the reader has one message, dropping the others would not make room.
			{"push", "3", mailbox.Queued}, {"pop", "", "3"}, {"push", "4", mailbox.Queued}, {"push", "54321", mailbox.Dropped},
			{"pop", "", "4"}, {"pop", "", nil},
		}, []string{"1", "2", "54321"}},
		{"drop oldest as often as it takes", mailbox.Bounds{Bytes: 6, Policy: mailbox.DropOldest}, []step{
			{"push", "11", mailbox.Queued}, {"push", "22", mailbox.Queued}, {"push", "33", mailbox.Queued}, {"push", "444", mailbox.Queued},
			{"pop", "", "33"}, {"pop", "", "444"}, {"pop", "", nil},
		}, []string{"11", "22"}},
		{"a selective reader gives back the oldest's bytes", mailbox.Bounds{Bytes: 6, Policy: mailbox.Refuse}, []step{
			{"push", "1234", mailbox.Queued}, {"push", "1", mailbox.Queued}, {"pop", "", "1234"}, {"pop", "", "1"},
			{"done", "", nil}, // of "1", while "1234" is left
			{"push", "12345", mailbox.Queued}, {"push", "1", mailbox.Full}, {"done", "", nil}, {"push", "1", mailbox.Queued}, {"len", "", 2},
		}, nil},
		{"done too often", mailbox.Bounds{Messages: 1}, []step{
			{"done", "", nil}, {"push", "a", mailbox.Queued}, {"done", "", nil}, {"push", "b", mailbox.Full}, {"len", "", 1},
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var dropped []string
			c.limits.Size = weight
			c.limits.Dropped = func(_ wire.PID, msg any) { dropped = append(dropped, msg.(string)) }
			b := NewBounded(c.limits)
			for i, s := range c.steps {
				switch s.op {
				case "push":
					require.Equal(t, s.want, b.Push(s.msg), "step %d: push %q", i, s.msg)
				case "pop":
					msg, ok := b.Pop()
					require.Equal(t, s.want, msg, "step %d: pop", i)
					require.Equal(t, s.want != nil, ok, "step %d: pop", i)
				case "done":
					b.Done()
				case "len":
					require.Equal(t, s.want, b.Len(), "step %d: len", i)
				}
			}
			assert.Equal(t, c.dropped, dropped)
			assert.Equal(t, c.limits.Policy == mailbox.Block, b.Blocks())
		})
	}
}

func TestBoundedClosed(t *testing.T) {
	b := NewBounded(mailbox.Bounds{Messages: 2})
	b.Push("a")
	b.Push("b")
	b.Pop()
	b.Close()
	b.Close()
	assert.Equal(t, mailbox.Closed, b.Push("c"))
	assert.Zero(t, b.Len())
	_, ok := b.Pop()
	assert.False(t, ok)
	assert.Equal(t, mailbox.Closed, b.Push("c"), "a pop does not arm a closed box")
	b.Done() // of the message that was popped before
	assert.Zero(t, b.Len())
	r, err := b.PushWait(t.Context(), "c")
	assert.NoError(t, err)
	assert.Equal(t, mailbox.Closed, r)
}

// The callback for a lost message may use the box.
func TestBoundedDroppedMayPush(t *testing.T) {
	var lost []any
	var b *Bounded
	b = NewBounded(mailbox.Bounds{Messages: 1, Policy: mailbox.DropOldest, Dropped: func(_ wire.PID, msg any) {
		if lost = append(lost, msg, b.Len()); len(lost) < 4 {
			b.Push("told")
		}
	}})
	b.Push("a")
	assert.Equal(t, mailbox.Queued, b.Push("b"))
	msg, _ := b.Pop()
	assert.Equal(t, "told", msg)
	assert.Equal(t, []any{"a", 1, "b", 1}, lost)
}

// A forced message gets in past every bound, in order, and counts like the others.
func TestBoundedForce(t *testing.T) {
	for _, p := range []mailbox.Policy{mailbox.Refuse, mailbox.Block, mailbox.DropNewest, mailbox.DropOldest} {
		b := NewBounded(mailbox.Bounds{Messages: 1, Bytes: 2, Policy: p, Size: weight,
			Dropped: func(_ wire.PID, msg any) { t.Error("lost", msg) }})
		_, ok := b.Pop()
		require.False(t, ok)
		assert.Equal(t, mailbox.Wake, b.Force("1"))
		assert.Equal(t, mailbox.Queued, b.Force("22222"))
		assert.Equal(t, 2, b.Len())
		for _, want := range []string{"1", "22222"} {
			msg, _ := b.Pop()
			assert.Equal(t, want, msg)
			b.Done()
		}
		assert.Zero(t, b.Len())
		assert.Zero(t, b.bytes)
		assert.Zero(t, b.held)
		b.Close()
		assert.Equal(t, mailbox.Closed, b.Force("3"))
	}
}

// ledger does the accounting of a Bounded in the simplest way.
type ledger struct{ waiting, popped []string }

func (l *ledger) bytes() (n int) {
	for _, m := range append(append([]string(nil), l.waiting...), l.popped...) {
		n += len(m)
	}
	return n
}

func (l *ledger) fits(c mailbox.Bounds, m string) bool {
	count := len(l.waiting) + len(l.popped)
	return count == 0 || (c.Messages == 0 || count < c.Messages) && (c.Bytes == 0 || l.bytes()+len(m) <= c.Bytes)
}

func TestBoundedModel(t *testing.T) {
	r := testkit.Rand(t)
	for range 200 {
		c := mailbox.Bounds{Messages: r.IntN(5), Bytes: r.IntN(20), Policy: mailbox.Policy(r.IntN(4)), Size: weight}
		if !Limited(c) {
			continue
		}
		lost := 0
		c.Dropped = func(wire.PID, any) { lost++ }
		playBounded(t, r, c, &lost)
	}
}

func playBounded(t *testing.T, r *rand.Rand, c mailbox.Bounds, lost *int) {
	b, l := NewBounded(c), new(ledger)
	pushed, handled := 0, 0
	for range 200 {
		switch r.IntN(5) {
		case 0, 1:
			m := "0123456789"[:r.IntN(11)]
			fits := l.fits(c, m)
			switch res := b.Push(m); {
			case res == mailbox.Full:
				require.False(t, fits, "%+v", c)
				require.LessOrEqual(t, c.Policy, mailbox.Block)
				continue
			case fits:
				l.waiting = append(l.waiting, m)
			case c.Policy == mailbox.DropOldest && (&ledger{popped: l.popped}).fits(c, m):
				for !l.fits(c, m) {
					l.waiting = l.waiting[1:]
				}
				l.waiting = append(l.waiting, m)
			default:
				require.Equal(t, mailbox.Dropped, res, "%+v", c)
			}
			pushed++
		case 2, 3:
			if m, ok := b.Pop(); ok {
				require.Equal(t, l.waiting[0], m, "%+v", c)
				l.waiting, l.popped = l.waiting[1:], append(l.popped, l.waiting[0])
			} else {
				require.Empty(t, l.waiting, "%+v", c)
			}
		case 4:
			if b.Done(); len(l.popped) > 0 {
				l.popped = l.popped[1:]
				handled++
			}
		}
		require.Equal(t, len(l.waiting)+len(l.popped), b.Len(), "%+v", c)
		if c.Bytes != 0 {
			require.Equal(t, l.bytes(), b.bytes, "%+v", c)
		}
	}
	require.Equal(t, pushed, handled+b.Len()+*lost, "%+v: each message is waiting, handled or counted as lost", c)
}

// Many senders wait for room, and one reader sleeps when there is nothing: all messages come through, in order, and the
// bound holds.
func TestBoundedBlockConcurrent(t *testing.T) {
	const senders, count, bound = 4, 500, 3
	b := NewBounded(mailbox.Bounds{Messages: bound, Policy: mailbox.Block})
	wake := make(chan struct{}, 1)
	var wg sync.WaitGroup
	type post struct{ from, seq int }
	for id := range senders {
		wg.Go(func() {
			for seq := range count {
				if r, err := b.PushWait(t.Context(), post{id, seq}); err != nil {
					t.Error(err)
				} else if r == mailbox.Wake {
					wake <- struct{}{}
				}
			}
		})
	}
	next := make([]int, senders)
	for left := senders * count; left > 0; {
		m, ok := b.Pop()
		if !ok {
			select {
			case <-wake:
			case <-time.After(testkit.Limit):
				require.FailNow(t, "a wake-up was lost")
			}
			continue
		}
		p := m.(post)
		require.Equal(t, next[p.from], p.seq)
		require.LessOrEqual(t, b.Len(), bound)
		next[p.from]++
		b.Done()
		left--
	}
	wg.Wait()
}

// Messages that a reader has popped and is not done with cost nothing: it may have left a million of them.
func TestBoundedManyLeft(t *testing.T) {
	const n = 1_000_000
	b := NewBounded(mailbox.Bounds{Messages: n})
	for i := range n {
		b.Push(i)
		b.Pop()
	}
	for range n {
		b.Done()
	}
	assert.Zero(t, b.Len())
}

// A message through a bounded mailbox: push, pop and done take the lock once each, which bounds the time. Nothing is
// allocated once the ring and the list of sizes have grown.
func BenchmarkBounded(b *testing.B) {
	box := NewBounded(mailbox.Bounds{Messages: 64})
	msg := any("m")
	b.ReportAllocs()
	for b.Loop() {
		box.Push(msg)
		box.Pop()
		box.Done()
	}
}
