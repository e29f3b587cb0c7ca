package inbox

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
)

// inboxState is a state of head, as listed in invariant 1.
type inboxState uint8

const (
	isArmed inboxState = iota
	isAwake
	isStack
	isClosed
)

func (s inboxState) String() string {
	return [...]string{"armed", "awake", "stack", "closed"}[s]
}

// in returns an inbox in state s; a stack has the messages 1 and 2.
func in(s inboxState) *Inbox {
	b := new(Inbox)
	switch s {
	case isAwake:
		b.Claim()
	case isStack:
		b.Push(&Node{Msg: 1})
		b.Push(&Node{Msg: 2})
	case isClosed:
		b.Close()
	}
	return b
}

func stateOf(b *Inbox) inboxState {
	switch b.head.Load() {
	case nil:
		return isArmed
	case awake:
		return isAwake
	case closed:
		return isClosed
	}
	return isStack
}

func collect(q *Queue) []any { return slices.Collect(q.All()) }

func TestInboxTransitions(t *testing.T) {
	push := func(b *Inbox, _ *Queue) any { return b.Push(&Node{Msg: 3}) }
	offer := func(b *Inbox, _ *Queue) any { return b.Offer(&Node{Msg: 3}) }
	take := func(b *Inbox, q *Queue) any { return b.Take(q) }
	takeArmed := func(b *Inbox, q *Queue) any { return b.TakeArmed(q) }
	arm := func(b *Inbox, _ *Queue) any { return b.Arm() }
	claim := func(b *Inbox, _ *Queue) any { return b.Claim() }
	shut := func(b *Inbox, _ *Queue) any { return b.Close() }
	for _, c := range []struct {
		op     string
		do     func(*Inbox, *Queue) any
		from   inboxState
		answer any
		to     inboxState
	}{
		{"Push", push, isArmed, mailbox.Wake, isStack},
		{"Push", push, isAwake, mailbox.Queued, isStack},
		{"Push", push, isStack, mailbox.Queued, isStack},
		{"Push", push, isClosed, mailbox.Closed, isClosed},
		{"Offer", offer, isArmed, mailbox.Wake, isAwake},
		{"Offer", offer, isAwake, mailbox.Queued, isStack},
		{"Offer", offer, isStack, mailbox.Queued, isStack},
		{"Offer", offer, isClosed, mailbox.Closed, isClosed},
		{"Take", take, isArmed, 0, isArmed},
		{"Take", take, isAwake, 0, isAwake},
		{"Take", take, isStack, 2, isAwake},
		{"Take", take, isClosed, 0, isClosed},
		{"TakeArmed", takeArmed, isArmed, 0, isArmed},
		{"TakeArmed", takeArmed, isAwake, 0, isArmed},
		{"TakeArmed", takeArmed, isStack, 2, isArmed},
		{"TakeArmed", takeArmed, isClosed, 0, isClosed},
		{"Arm", arm, isArmed, false, isArmed},
		{"Arm", arm, isAwake, true, isArmed},
		{"Arm", arm, isStack, false, isStack},
		{"Arm", arm, isClosed, false, isClosed},
		{"Claim", claim, isArmed, true, isAwake},
		{"Claim", claim, isAwake, false, isAwake},
		{"Claim", claim, isStack, false, isStack},
		{"Claim", claim, isClosed, false, isClosed},
		{"Close", shut, isArmed, true, isClosed},
		{"Close", shut, isAwake, false, isClosed},
		{"Close", shut, isStack, false, isClosed},
		{"Close", shut, isClosed, false, isClosed},
	} {
		t.Run(fmt.Sprintf("%s/%v", c.op, c.from), func(t *testing.T) {
			b, q := in(c.from), new(Queue)
			assert.Equal(t, c.answer, c.do(b, q))
			assert.Equal(t, c.to, stateOf(b))
			assert.Equal(t, c.to == isArmed, b.Armed())
			assert.Equal(t, c.to == isStack, b.Pending())
			assert.Equal(t, c.to == isClosed, b.Closed())

			want := []any(nil)
			if c.answer == 2 {
				want = []any{1, 2} // oldest first
			}
			assert.Equal(t, want, collect(q))
			if c.to == isStack {
				want = []any{}
				if c.from == isStack {
					want = append(want, 1, 2)
				}
				if c.op == "Push" || c.op == "Offer" {
					want = append(want, 3)
				}
				b.Take(q)
				assert.Equal(t, want, collect(q))
			}
		})
	}
}

func TestInboxTakeAddsToWhatTheQueueHas(t *testing.T) {
	b, q := in(isStack), new(Queue)
	q.Append(&Node{Msg: 0})
	require.Equal(t, 2, b.Take(q))
	b.Push(&Node{Msg: 3})
	require.Equal(t, 1, b.TakeArmed(q))
	require.Equal(t, []any{0, 1, 2, 3}, collect(q))
	require.Equal(t, 4, q.Len())
}

// Nodes that the reader recycles come back at once, so one may be the inbox's newest again while another push that read
// it there has yet to swap.
func TestInboxRecycledNodes(t *testing.T) {
	b, q := new(Inbox), new(Queue)
	var f Free
	x := f.Get(1)
	b.Push(x)
	b.Take(q)
	f.Put(q.Drop())
	y := f.Get(2)
	require.Same(t, x, y)
	b.Push(&Node{Msg: 3})
	b.Push(y)
	b.Take(q)
	require.Equal(t, []any{3, 2}, collect(q))
}

// Invariant 4: a take that races with Close does not open the inbox again.
func TestInboxStaysClosed(t *testing.T) {
	rounds := testkit.By(40_000, 200_000, 2_000_000)
	if testkit.Race {
		rounds /= 10
	}
	r := testkit.Rand(t)
	start := make(chan *Inbox)
	done := make(chan struct{})
	go func() { // ends with the channel
		for b := range start {
			b.Close()
			done <- struct{}{}
		}
	}()
	defer close(start)
	for range rounds {
		b, q := in(isStack), new(Queue)
		start <- b
		for range r.IntN(64) {
			b.Armed()
		}
		n := b.Take(q)
		<-done
		require.True(t, b.Closed())
		require.Contains(t, []int{0, 2}, n)
		require.Equal(t, n, q.Len())
		require.Equal(t, mailbox.Closed, b.Push(&Node{Msg: 3}))
	}
}

// post is a message of the model's pushers.
type post struct{ from, seq int }

// model is many pushers, one reader and perhaps somebody who closes the inbox at a random time. Whatever the timing, it
// guarantees:
//
//   - A message that was answered Closed is never read; every other one is read
//     at most once, and exactly once if nobody closes.
//   - Of each pusher the reader reads a prefix of what it pushed, in order.
//     (What Close finds untaken is lost: the end of it.)
//   - Every armed period ends in exactly one of Wake, a successful Claim, and
//     Close returning true, unless it lasts to the end.
type model struct {
	t       *testing.T
	b       Inbox
	wake    chan *Node // capacity 1: nil, or the node that an offer hands over
	offers  bool       // pushers offer
	wakes   atomic.Int64
	claims  atomic.Int64
	armings int64 // reader only

	pushed [][]int // by pusher: sequence numbers that got in
	read   [][]int
	total  int
}

// push is a pusher's side of the protocol.
func (m *model) push(n *Node) mailbox.Result {
	r := mailbox.Queued
	if m.offers {
		if r = m.b.Offer(n); r == mailbox.Wake {
			m.owed(n)
		}
		return r
	}
	if r = m.b.Push(n); r == mailbox.Wake {
		m.owed(nil)
	}
	return r
}

// owed wakes the reader. The channel never has a wake-up in it: each arming is answered once, and the reader has taken
// the last wake-up before it arms.
func (m *model) owed(n *Node) {
	m.wakes.Add(1)
	select {
	case m.wake <- n:
	default:
		m.t.Error("woken twice")
		m.wake <- n
	}
}

func (m *model) pusher(id, count int, seed uint64) {
	r := rand.New(rand.NewPCG(seed, uint64(id)))
	for seq := range count {
		if m.push(&Node{Msg: post{id, seq}}) == mailbox.Closed {
			continue // as are all that follow: the test checks it
		}
		m.pushed[id] = append(m.pushed[id], seq)
		if r.IntN(8) == 0 {
			runtime.Gosched()
		}
	}
}

// handle takes all messages from the queue.
func (m *model) handle(q *Queue) (n int) {
	for ; q.More(); n++ {
		p := q.Drop().Msg.(post)
		m.read[p.from] = append(m.read[p.from], p.seq)
	}
	return n
}

// The readers follow the three existing protocols. Each returns when it has read everything, or when the inbox is
// closed.
var readers = map[string]func(*model, *rand.Rand){
	// Take until nothing is left, arm, wait: a reader with a schedule of its own.
	"arm": func(m *model, _ *rand.Rand) {
		var q Queue
		m.armings++ // an inbox starts armed
		for left := m.total; left > 0; {
			<-m.wake
			for armed := false; !armed && !m.b.Closed(); {
				m.b.Take(&q)
				left -= m.handle(&q)
				if armed = m.b.Arm(); armed {
					m.armings++
				}
			}
			if m.b.Closed() {
				return
			}
		}
	},
	// Take and arm at once on each wake-up, take in between too, and be moved, for which the wake-up is claimed: a task
	// of a stage.
	"take armed": func(m *model, r *rand.Rand) {
		var q Queue
		m.armings++
		for left := m.total; left > 0 && !m.b.Closed(); {
			claimed := r.IntN(4) == 0 && m.b.Claim()
			if claimed {
				m.claims.Add(1)
			} else {
				<-m.wake
			}
			if r.IntN(2) == 0 {
				m.b.Take(&q) // still awake: nobody else may wake it now
				left -= m.handle(&q)
			}
			m.b.TakeArmed(&q)
			left -= m.handle(&q)
			if !m.b.Closed() {
				m.armings++ // armed by TakeArmed, unless closed before it
			}
		}
	},
	// Receive the message that ends the wait, which is older than everything in the inbox; sometimes the wait ends by
	// itself: a process.
	"offer": func(m *model, r *rand.Rand) {
		var q Queue
		for left := m.total; left > 0; {
			m.b.Take(&q)
			left -= m.handle(&q)
			if m.b.Closed() {
				return
			}
			if left == 0 || !m.b.Arm() {
				continue
			}
			m.armings++
			if r.IntN(4) == 0 && m.b.Claim() { // timed out
				m.claims.Add(1)
				continue
			}
			if n := <-m.wake; n != nil {
				q.Append(n)
			}
		}
	},
}

func TestInboxModel(t *testing.T) {
	for name, reader := range readers {
		for _, closes := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/closes=%v", name, closes), func(t *testing.T) {
				r := testkit.Rand(t)
				for range 60 {
					runModel(t, r, name, reader, closes)
				}
			})
		}
	}
}

func runModel(t *testing.T, r *rand.Rand, name string, reader func(*model, *rand.Rand), closes bool) {
	pushers, count := 1+r.IntN(6), 1+r.IntN(300)
	m := &model{t: t, wake: make(chan *Node, 1), offers: name == "offer", total: pushers * count,
		pushed: make([][]int, pushers), read: make([][]int, pushers)}
	if m.offers {
		m.b.Claim() // before anybody pushes: the reader will look by itself
	}
	seed, delay := r.Uint64(), r.IntN(pushers*count)
	var wg sync.WaitGroup
	for id := range pushers {
		wg.Go(func() { m.pusher(id, count, seed) })
	}
	wasArmed := false
	if closes {
		wg.Go(func() {
			for range delay {
				m.b.Armed()
			}
			if wasArmed = m.b.Close(); wasArmed {
				m.wake <- nil
			}
		})
	}
	done := make(chan struct{})
	go func() { // ends when everything is read
		defer close(done)
		reader(m, rand.New(rand.NewPCG(seed, 99)))
	}()
	wg.Wait()
	select {
	case <-done:
	case <-time.After(testkit.Limit):
		require.FailNow(t, "the reader waits for a wake-up that was lost")
	}

	for id := range pushers {
		got := len(m.read[id])
		require.LessOrEqual(t, got, len(m.pushed[id]))
		require.True(t, slices.Equal(m.pushed[id][:got], m.read[id]), "pusher %d: order: %v", id, m.read[id])
		for seq, p := range m.pushed[id] {
			require.Equal(t, seq, p, "pusher %d got a message in after one was refused", id)
		}
		if !closes {
			require.Len(t, m.read[id], count, "pusher %d: lost", id)
		}
	}
	ended := m.wakes.Load() + m.claims.Load()
	switch {
	case wasArmed:
		ended++
	case m.b.Armed():
		ended++ // the last period has not ended
	}
	if closes && name == "take armed" {
		// TakeArmed does not report whether it armed before Close came.
		require.InDelta(t, m.armings, ended, 1)
		return
	}
	require.Equal(t, m.armings, ended, "armed periods and what ended them")
}

// A push that has to retry, because the reader has taken everything and armed the inbox meanwhile, wakes the reader
// like any other. The reader takes without a pause, so that many pushes have to retry.
func TestInboxWakesAfterRetry(t *testing.T) {
	var b Inbox
	var woken, done atomic.Bool
	total := testkit.By(2_000_000, 10_000_000, 50_000_000)
	go func() { // until everything is pushed
		for range total {
			if b.Push(new(Node)) == mailbox.Wake && woken.Swap(true) {
				t.Error("woken twice")
			}
		}
		done.Store(true)
	}()
	var q Queue
	for got := 0; got < total; {
		ended := done.Load()
		switch {
		case woken.Swap(false):
			for b.TakeArmed(&q); q.More(); got++ {
				q.Drop()
			}
		case ended && !woken.Load():
			require.Equal(t, total, got, "the reader sleeps")
		default:
			runtime.Gosched()
		}
	}
}

func TestResultString(t *testing.T) {
	for r, want := range map[mailbox.Result]string{mailbox.Queued: "queued", mailbox.Wake: "wake", mailbox.Full: "full", mailbox.Closed: "closed", mailbox.Dropped: "dropped", 5: "invalid"} {
		assert.Equal(t, want, r.String())
	}
}

// One message through an inbox that nobody else touches: a swap to push it, a swap to take it, and the moves between
// the lists. The two lock-prefixed instructions, about 5 ns each on amd64, bound it; the node comes from a Free list,
// so nothing is allocated.
func BenchmarkInboxPushTake(b *testing.B) {
	var in Inbox
	var q Queue
	var f Free
	msg := any("m")
	f.Put(new(Node))
	b.ReportAllocs()
	for b.Loop() {
		in.Push(f.Get(msg))
		in.TakeArmed(&q)
		f.Put(q.Drop())
	}
}

// The same in batches of 64: 64 messages share the reader's swap, which leaves the pusher's swap and the walk over the
// list.
func BenchmarkInboxBatch(b *testing.B) {
	var in Inbox
	var q Queue
	var f Free
	msg := any("m")
	for range 64 {
		f.Put(new(Node))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		in.Push(f.Get(msg))
		if i%64 == 63 {
			in.TakeArmed(&q)
			for q.More() {
				f.Put(q.Drop())
			}
		}
	}
}

// Many push to one inbox at the same time. The transfer of head's cache line between cores bounds it, with the swaps
// that fail meanwhile; the one allocation is the node.
func BenchmarkInboxContended(b *testing.B) {
	var in Inbox
	msg := any("m")
	var q Queue
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { // the reader: ends with stop
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				for in.Take(&q); q.More(); {
					q.Drop()
				}
				runtime.Gosched()
			}
		}
	}()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			in.Push(&Node{Msg: msg})
		}
	})
	close(stop)
	<-done
}

func TestInboxOldest(t *testing.T) {
	var b Inbox
	assert.Empty(t, b.Oldest(3))
	for i := range 4 {
		b.Push(&Node{Msg: i})
	}
	assert.Equal(t, []any{0, 1}, b.Oldest(2))
	assert.Equal(t, []any{0, 1, 2, 3}, b.Oldest(9))
	assert.Empty(t, b.Oldest(0))
	assert.Equal(t, 4, b.Waiting(new(Queue)), "they are still there")
	b.Close()
	assert.Empty(t, b.Oldest(2))
}
