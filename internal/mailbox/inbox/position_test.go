package inbox

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// pinned returns how many messages of q have a pin, and checks invariants 1 and 2.
func pinned(t *testing.T, q *Queue) (count int) {
	for n := q.head; n != nil; n = n.next {
		r, ok := n.Msg.(*run)
		if !ok || r.pin == nil {
			continue
		}
		count++
		require.Equal(t, []int{RunSize - 1, RunSize}, []int{r.i, r.n}, "invariant 1")
		require.NotSame(t, n, &r.node, "invariant 1")
		require.Same(t, n, r.pin.node, "invariant 2")
	}
	return count
}

// filled returns a queue with the numbers below n.
func filled(n int) *Queue {
	q := new(Queue)
	for i := range n {
		if !q.Long() || !q.AppendLong(i) {
			q.Append(&Node{Msg: i})
		}
	}
	return q
}

// first returns the first message behind p.
func first(q *Queue, p *Position) any {
	q.Seek(p)
	msg, _ := q.Next()
	return msg
}

func TestPositionStaysWhereItIs(t *testing.T) {
	for _, n := range []int{1, 2, longQueue, 5 * longQueue} {
		q := filled(n)
		var all Positions
		p := all.End(q)
		require.Same(t, p, all.End(q), "no message between the two")
		q.Append(&Node{Msg: "later"})
		require.Equal(t, "later", first(q, p))
		for q.Rewind(); q.Len() > 1; { // from the oldest on
			q.Drop()
			require.Equal(t, "later", first(q, p))
			pinned(t, q)
			q.Rewind()
		}
		require.Zero(t, pinned(t, q), "it is the start")
		require.Equal(t, "later", first(q, p))
	}
}

// From the newest on: the position moves back from message to message, and positions that meet become one.
func TestPositionsMeet(t *testing.T) {
	q := new(Queue)
	var all Positions
	var ps []*Position
	for i := range 10 {
		q.Append(&Node{Msg: i})
		ps = append(ps, all.End(q))
	}
	q.Append(&Node{Msg: "later"})
	require.Equal(t, 10, pinned(t, q))
	for i := 9; i >= 0; i-- {
		require.True(t, q.Remove(func(m any) bool { return m == i }, false))
		require.Equal(t, i, pinned(t, q))
		for k, p := range ps {
			want := any("later")
			if k+1 < i {
				want = k + 1
			}
			require.Equal(t, want, first(q, p), "%d, without %d", k, i)
		}
	}
	runtime.KeepAlive(ps)
}

// A position that nobody holds takes no memory for long: a position has the memory of a run.
func TestPositionsAreForgotten(t *testing.T) {
	q := new(Queue)
	var all Positions
	kept := all.End(filled(0))
	for i := range 100 * leastPositions {
		q.Append(&Node{Msg: i})
		if p := all.End(q); i == leastPositions {
			kept = p
		}
		if i%leastPositions == 0 {
			runtime.GC()
		}
	}
	require.Less(t, pinned(t, q), 10*leastPositions)
	require.Equal(t, leastPositions+1, first(q, kept))
}

// A receive behind a thousand messages costs as much as one at the start.
func BenchmarkQueuePosition(b *testing.B) {
	q := filled(1000)
	var all Positions
	b.ReportAllocs()
	for b.Loop() {
		p := all.End(q)
		q.Append(new(Node))
		q.Seek(p)
		q.Drop()
	}
}
