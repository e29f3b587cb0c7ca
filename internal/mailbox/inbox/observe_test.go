package inbox

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
)

// Waiting counts the messages in the inbox and in the queue, in each state of the inbox.
func TestWaiting(t *testing.T) {
	for s, want := range map[inboxState]int{isArmed: 0, isAwake: 0, isStack: 2, isClosed: 0} {
		b, q := in(s), new(Queue)
		assert.Equal(t, want, b.Waiting(q), "%v", s)
		q.Append(&Node{Msg: 0})
		assert.Equal(t, want+1, b.Waiting(q), "%v", s)
		assert.Equal(t, s, stateOf(b))
		b.Take(q)
		assert.Equal(t, want+1, b.Waiting(q), "%v", s)
		for q.More() {
			q.Drop()
		}
		assert.Zero(t, b.Waiting(q), "%v", s)
	}
}

// length returns how many nodes are in the stack of an inbox, marks included.
func length(b *Inbox) (n int) {
	if h := b.head.Load(); stacked(h) {
		for ; h != nil; h = h.next {
			n++
		}
	}
	return n
}

// Repeated observation leaves nothing behind in a short stack; in a long one it leaves a mark each time the stack has
// grown by as much again.
func TestWaitingLeavesFewMarks(t *testing.T) {
	b, q := new(Inbox), new(Queue)
	push := func(n int) {
		for range n {
			b.Push(&Node{Msg: 0})
		}
	}
	for pushed := 1; pushed < stepsWorthMark; pushed++ {
		push(1)
		require.Equal(t, pushed, b.Waiting(q))
		require.Equal(t, pushed, length(b))
	}
	push(1)
	for range 10 {
		require.Equal(t, stepsWorthMark, b.Waiting(q))
		require.Equal(t, stepsWorthMark+1, length(b))
	}
	push(stepsWorthMark - 1)
	for range 10 {
		require.Equal(t, 2*stepsWorthMark-1, b.Waiting(q))
		require.Equal(t, 2*stepsWorthMark, length(b))
	}
	m := b.mark() // as if an observer were still there
	require.Equal(t, 2*stepsWorthMark-1, b.Waiting(q))
	require.Len(t, b.Oldest(1000), 2*stepsWorthMark-1, "marks are no messages")
	require.Equal(t, 2*stepsWorthMark-1, b.Take(q))
	require.True(t, m.taken.Load())
	require.Equal(t, 2*stepsWorthMark-1, b.Waiting(q))
}

// The reader takes copies of the nodes that an observer reads, and takes those above its mark as they are.
func TestTakeUnderAnObserver(t *testing.T) {
	for _, counted := range []bool{false, true} {
		for _, top := range []bool{false, true} {
			b, q := new(Inbox), new(Queue)
			low, high := &Node{Msg: 1}, &Node{Msg: 5}
			r := NewRun()
			r.Add(2)
			r.Add(3)
			b.Push(low)
			b.PushRun(r)
			lower := b.mark()
			b.Push(&Node{Msg: 4})
			m := b.mark()
			want := []any{1, 2, 3, 4}
			if !top {
				b.Push(high)
				want = append(want, 5)
			}
			if counted {
				for _, m := range []*mark{lower, m} {
					m.below, _ = m.count()
					m.counted.Store(true)
				}
			}
			require.Equal(t, len(want), b.Take(q))
			assert.Equal(t, want, collect(q))
			assert.Equal(t, len(want), q.Len())
			assert.True(t, m.taken.Load())
			assert.True(t, lower.taken.Load())
			assert.Equal(t, counted, q.head == low)
			assert.Equal(t, !top, q.tail == high)
			if !counted {
				n, _ := m.count()
				assert.Equal(t, 4, n, "the observer reads on, undisturbed")
			}
			for range want {
				q.Drop()
			}
			assert.False(t, q.More())
		}
	}
}

// Pushers, a reader and observers together: every pushed message is read, in order, and each observer counts at least
// the messages present throughout its look, and at most those present at some time in it.
func TestWaitingModel(t *testing.T) {
	const pushers, each, watchers = 3, 20_000, 3
	var b Inbox
	var q Queue
	var begun, pushed, dropping, dropped atomic.Int64
	var stop atomic.Bool
	var wg, observing sync.WaitGroup
	seed := testkit.Seed(t)
	for id := range pushers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(id)))
			for seq := 0; seq < each; {
				k := min(1+r.IntN(6), each-seq)
				begun.Add(int64(k))
				if k > 3 {
					run := NewRun()
					for i := range k {
						run.Add([2]int{id, seq + i})
					}
					require.NotEqual(t, mailbox.Closed, b.PushRun(run))
				} else {
					for i := range k {
						b.Push(&Node{Msg: [2]int{id, seq + i}})
					}
				}
				pushed.Add(int64(k))
				seq += k
				if r.IntN(50) == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	for range watchers {
		observing.Go(func() {
			for !stop.Load() {
				least, over := pushed.Load(), dropped.Load()
				n := int64(b.Waiting(&q))
				if least -= dropping.Load(); n < least {
					t.Errorf("%d waiting, want at least %d", n, least)
					return
				}
				if most := begun.Load() - over; n > most {
					t.Errorf("%d waiting, want at most %d", n, most)
					return
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(seed, pushers))
	var next [pushers]int
	for left := pushers * each; left > 0; {
		if r.IntN(2) == 0 {
			b.Take(&q)
		} else {
			b.TakeArmed(&q)
		}
		for range r.IntN(200) {
			msg, ok := q.Next()
			if !ok {
				break
			}
			m := msg.([2]int)
			require.Equal(t, next[m[0]], m[1])
			next[m[0]]++
			left--
			dropping.Add(1)
			q.Drop()
			dropped.Add(1)
		}
		if r.IntN(20) == 0 {
			runtime.Gosched()
		}
	}
	wg.Wait()
	stop.Store(true)
	observing.Wait()
	require.Zero(t, b.Waiting(&q))
	require.False(t, slices.Contains(collect(&q), nil))
}

// An observer of a mailbox with as many messages in its inbox as there were steps.
func BenchmarkWaiting(bench *testing.B) {
	b, q := new(Inbox), new(Queue)
	for range 1_000_000 {
		b.Push(&Node{Msg: 0})
	}
	bench.ReportAllocs()
	for bench.Loop() {
		b.Waiting(q)
	}
}
