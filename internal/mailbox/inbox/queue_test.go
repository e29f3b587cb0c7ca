package inbox

import (
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// twin is a Queue beside its simplest model: a slice and the number of elements that the cursor has passed.
type twin struct {
	t      *testing.T
	q      Queue
	msgs   []any
	passed int
	next   int // the number of the next message
	log    [][]any
	ends   Positions
	at     []place
}

// place is a position in both.
type place struct {
	pos    *Position
	before int // messages
}

func (m *twin) do(op, arg byte) {
	switch op % 14 {
	case 0, 1:
		m.note("append")
		m.q.Append(m.node())
	case 2:
		k := int(arg) % 5
		m.note("take", k)
		var b Inbox
		for i := range k {
			if arg>>(5+i%3)&1 == 0 {
				b.Push(m.node())
				continue
			}
			r := NewRun()
			for range 1 + int(arg)%3 {
				r.Add(m.node().Msg)
				k++
			}
			k--
			b.PushRun(r)
		}
		require.Equal(m.t, k, b.Waiting(new(Queue)), "%v", m.log)
		require.True(m.t, slices.Equal(m.msgs[len(m.msgs)-k:][:min(2, k)], b.Oldest(2)), "%v", m.log)
		require.Equal(m.t, k, b.Take(&m.q), "%v", m.log)
	case 3:
		if m.q.More() {
			m.note("skip")
			m.q.Skip()
			m.passed++
		}
	case 4, 5:
		if m.q.More() {
			m.note("drop")
			if n := m.q.Drop(); n != nil {
				require.Equal(m.t, m.msgs[m.passed], n.Msg, "%v", m.log)
				require.Nil(m.t, n.next, "%v", m.log)
			}
			m.delete(m.passed)
		}
	case 6:
		m.note("rewind")
		m.q.Rewind()
		m.passed = 0
	case 7:
		m.remove(int(arg))
	case 9:
		for range int(arg) {
			m.note("append long")
			if n := m.node(); !m.q.Long() || !m.q.AppendLong(n.Msg) {
				m.q.Append(n)
			}
		}
	case 10, 11:
		m.note("position")
		m.at = append(m.at, place{m.ends.End(&m.q), len(m.msgs)})
	case 12:
		if len(m.at) != 0 {
			p := m.at[int(arg)%len(m.at)]
			m.note("seek", int(arg)%len(m.at))
			m.q.Seek(p.pos)
			m.passed = p.before
		}
	case 13:
		if len(m.at) != 0 {
			m.note("drop a position", int(arg)%len(m.at))
			i := int(arg) % len(m.at)
			m.at = slices.Delete(m.at, i, i+1)
			if arg%16 == 0 {
				runtime.GC()
			}
			if arg%2 == 0 {
				m.note("forget")
				m.ends.forget()
			}
		}
	case 8:
		if m.q.More() {
			m.note("set")
			m.q.Set(m.next)
			m.msgs[m.passed] = m.next
			m.next++
		}
	}
	m.check()
}

// node makes a message for both.
func (m *twin) node() *Node {
	n := &Node{Msg: m.next}
	m.msgs = append(m.msgs, m.next)
	m.next++
	return n
}

func (m *twin) remove(arg int) {
	mod, rest := 1+arg%7, arg/7%3
	match := func(msg any) bool { return msg.(int)%mod == min(rest, mod-1) }
	keep := arg&128 != 0
	m.note("remove, rest, mod, keep the next:", min(rest, mod-1), mod, keep)
	at := -1
	for i, msg := range m.msgs {
		if match(msg) && (!keep || i != m.passed) {
			at = i
			break
		}
	}
	require.Equal(m.t, at >= 0, m.q.Remove(match, keep), "%v", m.log)
	if at >= 0 {
		if m.delete(at); at < m.passed {
			m.passed--
		}
	}
}

// delete takes a message out of the model.
func (m *twin) delete(at int) {
	m.msgs = slices.Delete(m.msgs, at, at+1)
	for i := range m.at {
		if at < m.at[i].before {
			m.at[i].before--
		}
	}
}

func (m *twin) note(op string, args ...any) { m.log = append(m.log, append([]any{op}, args...)) }

// check compares the two after each operation, by hand: reflection would make the fuzzer slow.
func (m *twin) check() {
	at := 0
	for msg := range m.q.All() {
		if at == len(m.msgs) || msg != m.msgs[at] {
			break
		}
		at++
	}
	pinned(m.t, &m.q)
	next, more := m.q.Next()
	ok := more == m.q.More() && at == len(m.msgs) && m.q.Len() == at && m.q.Passed() == (m.passed > 0) && m.q.CountPassed() == m.passed
	if m.passed < at {
		ok = ok && more && next == m.msgs[m.passed]
	} else {
		ok = ok && !more
	}
	if at == 0 {
		ok = ok && m.q.head == nil && m.q.tail == nil
	}
	if !ok {
		require.FailNow(m.t, "queue and model differ", "%v\nqueue %v, %d long, passed %v; model %v, passed %d",
			m.log, collect(&m.q), m.q.Len(), m.q.Passed(), m.msgs, m.passed)
	}
}

func TestQueueModel(t *testing.T) {
	r := testkit.Rand(t)
	for range 300 {
		m := &twin{t: t}
		for range 1 + r.IntN(120) {
			m.do(byte(r.Uint32()), byte(r.Uint32()))
		}
	}
}

func FuzzQueue(f *testing.F) {
	f.Add([]byte{0, 0, 3, 0, 7, 0, 0, 0})         // remove messages that were passed over
	f.Add([]byte{0, 0, 4, 0, 2, 3})               // empty the queue, and fill it by a take
	f.Add([]byte{2, 4, 3, 0, 3, 0, 4, 0, 6, 0})   // drop the last, behind the cursor
	f.Add([]byte{2, 4, 3, 0, 7, 135, 4, 0, 0, 0}) // remove with an exception
	f.Fuzz(func(t *testing.T, ops []byte) {
		m := &twin{t: t}
		for i := 0; i+1 < len(ops) && i < 400; i += 2 {
			m.do(ops[i], ops[i+1])
		}
	})
}

func TestQueueAllStops(t *testing.T) {
	var q Queue
	for i := range 3 {
		q.Append(&Node{Msg: i})
	}
	for msg := range q.All() {
		require.Equal(t, 0, msg)
		break
	}
}

// A selective reader that leaves a thousand messages and takes the one behind them pays for the walk once: the cursor
// stays. The loads of the nodes walked over bound it; here that is only the last one.
func BenchmarkQueueSelective(b *testing.B) {
	var q Queue
	for range 1000 {
		q.Append(new(Node))
		q.Skip()
	}
	n := new(Node)
	b.ReportAllocs()
	for b.Loop() {
		q.Append(n)
		n = q.Drop()
	}
}

// In a long queue a message takes part of a run, and no node. Storing the message, and nil when it has been read,
// bounds it.
func BenchmarkQueueLong(b *testing.B) {
	var q Queue
	for range 2 * longQueue {
		q.Append(new(Node))
	}
	msg := any("m")
	b.ReportAllocs()
	for b.Loop() {
		q.AppendLong(msg)
		q.Drop()
	}
}

// If others append to a queue between any two appends, it does not become a run for each message.
func TestLongQueueInterleaved(t *testing.T) {
	var q Queue
	q.Append(new(Node))
	for range 1000 {
		q.Append(new(Node))
		if !q.Long() || !q.AppendLong("m") {
			q.Append(new(Node))
		}
	}
	runs := 0
	for n := q.head; n != nil; n = n.next {
		if _, ok := n.Msg.(*run); ok {
			runs++
		}
	}
	require.Equal(t, 2001, q.Len())
	require.Positive(t, runs)
	require.LessOrEqual(t, runs, 2000/LeastRun)
}
