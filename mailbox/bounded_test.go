package mailbox

import (
	"context"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/randtest"
)

func TestPolicyString(t *testing.T) {
	for p, want := range map[Policy]string{
		Refuse: "refuse", Block: "block", DropNewest: "drop newest", DropOldest: "drop oldest", 4: "invalid",
	} {
		assert.Equal(t, want, p.String())
	}
}

func TestLimitsValidate(t *testing.T) {
	for _, c := range []struct {
		l    Limits
		want string
	}{
		{Limits{}, ""},
		{Limits{Messages: 1, Bytes: 1, Policy: DropOldest}, ""},
		{Limits{Messages: -1}, "mailbox: Limits.Messages -1: want 0 for any number, or more"},
		{Limits{Bytes: -2}, "mailbox: Limits.Bytes -2: want 0 for any number, or more"},
		{Limits{Policy: 4}, "mailbox: Limits.Policy 4: want Refuse, Block, DropNewest or DropOldest"},
	} {
		err := c.l.Validate()
		if c.want == "" {
			assert.NoError(t, err)
			continue
		}
		assert.EqualError(t, err, c.want)
		assert.Panics(t, func() { NewBounded(c.l) })
	}
	assert.False(t, Limits{Policy: DropOldest}.Set())
	assert.True(t, Limits{Messages: 1}.Set())
	assert.True(t, Limits{Bytes: 1}.Set())
}

// step is one call of a Bounded and what it should answer: a Result for a push,
// the message or nil for a pop.
type step struct {
	op   string // push, pop, done, len
	msg  string
	want any
}

// weight is the size of a message in these tests: its length.
func weight(msg any) int { return len(msg.(string)) }

func TestBounded(t *testing.T) {
	for _, c := range []struct {
		name    string
		limits  Limits
		steps   []step
		dropped []string
	}{
		{"unbounded", Limits{}, []step{
			{"push", "a", Queued}, {"push", "b", Queued}, {"push", "c", Queued}, {"push", "d", Queued},
			{"push", "e", Queued}, {"len", "", 5},
			{"pop", "", "a"}, {"pop", "", "b"}, {"pop", "", "c"}, {"pop", "", "d"}, {"pop", "", "e"}, {"pop", "", nil},
		}, nil},
		{"starts awake, arms on an empty pop", Limits{Messages: 9}, []step{
			{"push", "a", Queued}, {"pop", "", "a"}, {"push", "b", Queued}, {"pop", "", "b"},
			{"pop", "", nil}, {"pop", "", nil}, {"push", "c", Wake}, {"push", "d", Queued},
			{"pop", "", "c"}, {"pop", "", "d"}, {"push", "e", Queued},
		}, nil},
		{"refuse", Limits{Messages: 2, Policy: Refuse}, []step{
			{"push", "a", Queued}, {"push", "b", Queued}, {"push", "c", Full},
			{"pop", "", "a"}, {"push", "c", Full}, // the reader has it still
			{"done", "", nil}, {"push", "c", Queued}, {"pop", "", "b"}, {"pop", "", "c"},
		}, nil},
		{"block answers full", Limits{Messages: 1, Policy: Block}, []step{
			{"push", "a", Queued}, {"push", "b", Full}, {"pop", "", "a"}, {"done", "", nil}, {"push", "b", Queued},
		}, nil},
		{"drop newest", Limits{Messages: 2, Policy: DropNewest}, []step{
			{"push", "a", Queued}, {"push", "b", Queued}, {"push", "c", Dropped}, {"len", "", 2},
			{"pop", "", "a"}, {"done", "", nil}, {"push", "d", Queued},
			{"pop", "", "b"}, {"pop", "", "d"}, {"pop", "", nil},
		}, []string{"c"}},
		{"drop oldest", Limits{Messages: 2, Policy: DropOldest}, []step{
			{"push", "a", Queued}, {"push", "b", Queued}, {"push", "c", Queued}, {"len", "", 2},
			{"pop", "", "b"}, {"push", "d", Queued}, // c goes: b is the reader's
			{"pop", "", "d"}, {"push", "e", Dropped}, // nothing that could go but e
			{"pop", "", nil}, {"len", "", 2},
		}, []string{"a", "c", "e"}},
		{"bytes", Limits{Bytes: 10, Policy: Refuse}, []step{
			{"push", "12345", Queued}, {"push", "123456", Full}, {"push", "54321", Queued}, {"push", "x", Full},
			{"push", "", Queued}, // weighs nothing
			{"pop", "", "12345"}, {"push", "x", Full}, {"done", "", nil}, {"push", "1234", Queued}, {"push", "12", Full},
			{"len", "", 3},
		}, nil},
		{"bytes and messages", Limits{Bytes: 10, Messages: 2, Policy: Refuse}, []step{
			{"push", "1", Queued}, {"push", "2", Queued}, {"push", "3", Full},
			{"pop", "", "1"}, {"done", "", nil}, {"push", "1234567890", Full}, {"push", "123456789", Queued},
		}, nil},
		{"larger than the limit", Limits{Bytes: 4, Policy: Refuse}, []step{
			{"push", "12345", Queued}, {"push", "", Full}, {"push", "1", Full},
			{"pop", "", "12345"}, {"push", "1", Full}, {"done", "", nil}, {"push", "1", Queued},
			{"push", "12345", Full}, {"pop", "", "1"}, {"push", "12345", Full},
			{"done", "", nil}, {"push", "12345", Queued},
		}, nil},
		{"larger than the limit, drop newest", Limits{Bytes: 4, Policy: DropNewest}, []step{
			{"push", "1", Queued}, {"push", "12345", Dropped}, {"pop", "", "1"}, {"push", "12345", Dropped},
			{"done", "", nil}, {"push", "12345", Queued}, {"pop", "", "12345"},
		}, []string{"12345", "12345"}},
		{"larger than the limit, drop oldest", Limits{Bytes: 4, Policy: DropOldest}, []step{
			{"push", "1", Queued}, {"push", "2", Queued}, {"push", "12345", Queued}, {"len", "", 1},
			{"pop", "", "12345"}, {"done", "", nil},
			// While the reader has one, dropping the others would not make room.
			{"push", "3", Queued}, {"pop", "", "3"}, {"push", "4", Queued}, {"push", "54321", Dropped},
			{"pop", "", "4"}, {"pop", "", nil},
		}, []string{"1", "2", "54321"}},
		{"drop oldest as often as it takes", Limits{Bytes: 6, Policy: DropOldest}, []step{
			{"push", "11", Queued}, {"push", "22", Queued}, {"push", "33", Queued}, {"push", "444", Queued},
			{"pop", "", "33"}, {"pop", "", "444"}, {"pop", "", nil},
		}, []string{"11", "22"}},
		{"a selective reader gives back the oldest's bytes", Limits{Bytes: 6, Policy: Refuse}, []step{
			{"push", "1234", Queued}, {"push", "1", Queued}, {"pop", "", "1234"}, {"pop", "", "1"},
			{"done", "", nil}, // of "1", while "1234" is left
			{"push", "12345", Queued}, {"push", "1", Full}, {"done", "", nil}, {"push", "1", Queued}, {"len", "", 2},
		}, nil},
		{"done too often", Limits{Messages: 1}, []step{
			{"done", "", nil}, {"push", "a", Queued}, {"done", "", nil}, {"push", "b", Full}, {"len", "", 1},
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var dropped []string
			c.limits.Size = weight
			c.limits.Dropped = func(msg any) { dropped = append(dropped, msg.(string)) }
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
			assert.Equal(t, c.limits.Policy == Block, b.Blocks())
		})
	}
}

func TestBoundedClosed(t *testing.T) {
	b := NewBounded(Limits{Messages: 2})
	b.Push("a")
	b.Push("b")
	b.Pop()
	b.Close()
	b.Close()
	assert.Equal(t, Closed, b.Push("c"))
	assert.Zero(t, b.Len())
	_, ok := b.Pop()
	assert.False(t, ok)
	assert.Equal(t, Closed, b.Push("c"), "a pop does not arm a closed box")
	b.Done() // of the message that was popped before
	assert.Zero(t, b.Len())
	assert.NoError(t, b.AwaitRoom(t.Context(), "c"))
}

// Whoever is told of a lost message may use the box.
func TestBoundedDroppedMayPush(t *testing.T) {
	var lost []any
	var b *Bounded
	b = NewBounded(Limits{Messages: 1, Policy: DropOldest, Dropped: func(msg any) {
		if lost = append(lost, msg, b.Len()); len(lost) < 4 {
			b.Push("told")
		}
	}})
	b.Push("a")
	assert.Equal(t, Queued, b.Push("b"))
	msg, _ := b.Pop()
	assert.Equal(t, "told", msg)
	assert.Equal(t, []any{"a", 1, "b", 1}, lost)
}

// What is forced gets in past every bound, in order, and counts like the others.
func TestBoundedForce(t *testing.T) {
	for _, p := range []Policy{Refuse, Block, DropNewest, DropOldest} {
		b := NewBounded(Limits{Messages: 1, Bytes: 2, Policy: p, Size: weight, Dropped: func(msg any) { t.Error("lost", msg) }})
		_, ok := b.Pop()
		require.False(t, ok)
		assert.Equal(t, Wake, b.Force("1"))
		assert.Equal(t, Queued, b.Force("22222"))
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
		assert.Equal(t, Closed, b.Force("3"))
	}
}

// await starts a sender that waits for room for msg, and answers whether it has
// gone on.
func await(b *Bounded, msg any) (through *bool) {
	through = new(bool)
	go func() { // ends with the wait
		b.AwaitRoom(context.Background(), msg)
		*through = true
	}()
	synctest.Wait()
	return through
}

func TestBoundedAwaitRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBounded(Limits{Bytes: 4, Policy: Block, Size: weight})
		require.True(t, *await(b, "123456789"), "an empty box has room for anything")
		b.Push("1234")
		small, large := await(b, "1"), await(b, "123")
		b.Pop()
		synctest.Wait()
		require.False(t, *small, "popped is not done")
		b.Push("never in") // Full
		b.Done()
		synctest.Wait()
		require.True(t, *small)
		require.True(t, *large)

		b.Push("12")
		b.Push("34")
		small, large = await(b, "1"), await(b, "123")
		b.Pop()
		b.Done()
		synctest.Wait()
		require.True(t, *small)
		require.False(t, *large, "there is room for two bytes")
		b.Close()
		synctest.Wait()
		require.True(t, *large, "closed: whoever waits goes")
	})
}

// ledger does the accounting of a Bounded in the simplest way.
type ledger struct{ waiting, popped []string }

func (l *ledger) bytes() (n int) {
	for _, m := range append(append([]string(nil), l.waiting...), l.popped...) {
		n += len(m)
	}
	return n
}

func (l *ledger) fits(c Limits, m string) bool {
	count := len(l.waiting) + len(l.popped)
	return count == 0 || (c.Messages == 0 || count < c.Messages) && (c.Bytes == 0 || l.bytes()+len(m) <= c.Bytes)
}

func TestBoundedModel(t *testing.T) {
	r := randtest.New(t)
	for range 200 {
		c := Limits{Messages: r.IntN(5), Bytes: r.IntN(20), Policy: Policy(r.IntN(4)), Size: weight}
		if !c.Set() {
			continue
		}
		lost := 0
		c.Dropped = func(any) { lost++ }
		playBounded(t, r, c, &lost)
	}
}

func playBounded(t *testing.T, r *rand.Rand, c Limits, lost *int) {
	b, l := NewBounded(c), new(ledger)
	pushed, handled := 0, 0
	for range 200 {
		switch r.IntN(5) {
		case 0, 1:
			m := "0123456789"[:r.IntN(11)]
			fits := l.fits(c, m)
			switch res := b.Push(m); {
			case res == Full:
				require.False(t, fits, "%+v", c)
				require.LessOrEqual(t, c.Policy, Block)
				continue
			case fits:
				l.waiting = append(l.waiting, m)
			case c.Policy == DropOldest && (&ledger{popped: l.popped}).fits(c, m):
				for !l.fits(c, m) {
					l.waiting = l.waiting[1:]
				}
				l.waiting = append(l.waiting, m)
			default:
				require.Equal(t, Dropped, res, "%+v", c)
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

func TestBoundedAwaitRoomEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBounded(Limits{Messages: 1, Policy: Block})
		b.Push("1")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, io.EOF)
		defer cancel()
		other := await(b, "2")
		assert.Equal(t, io.EOF, b.AwaitRoom(ctx, "2"))
		assert.Equal(t, io.EOF, b.AwaitRoom(ctx, "2"), "a context that has ended before")
		assert.False(t, *other)
		b.Pop()
		b.Done()
		synctest.Wait()
		assert.True(t, *other)
		assert.NoError(t, b.AwaitRoom(ctx, "2"), "there is room")
	})
}

// Many senders that wait for room, one reader that sleeps when there is nothing:
// all messages come through, in order, and the bound holds.
func TestBoundedBlockConcurrent(t *testing.T) {
	const senders, count, bound = 4, 500, 3
	b := NewBounded(Limits{Messages: bound, Policy: Block})
	wake := make(chan struct{}, 1)
	var wg sync.WaitGroup
	type post struct{ from, seq int }
	for id := range senders {
		wg.Go(func() {
			for seq := 0; seq < count; {
				switch b.Push(post{id, seq}) {
				case Full:
					b.AwaitRoom(t.Context(), post{id, seq})
				case Wake:
					wake <- struct{}{}
					seq++
				case Queued:
					seq++
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
			case <-time.After(time.Minute):
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

// A message through a bounded mailbox: push, pop and done take the lock once
// each, and that is what bounds it. Nothing is allocated once the ring and the
// list of sizes have grown.
func BenchmarkBounded(b *testing.B) {
	box := NewBounded(Limits{Messages: 64})
	msg := any("m")
	b.ReportAllocs()
	for b.Loop() {
		box.Push(msg)
		box.Pop()
		box.Done()
	}
}
