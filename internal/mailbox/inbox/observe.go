package inbox

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// An observer counts what waits for a reader while the reader works, and neither waits for the
// other. The number of messages in the queue is there to be read. The stack of the inbox has no
// number, for then each push would have to know that of the push before. So the observer walks
// through the stack, and must be sure that the reader does not change it meanwhile: it pushes a
// mark, and the reader that takes a stack with a mark in it leaves what is below the mark as it
// is, and takes copies, unless the mark says that the observer is done.
//
//	head -> message -> mark -> message -> message
//	                   \_____ the observer ______/
//
// Invariants:
//
//  1. Below a mark there is a message. A mark never stands in a queue.
//  2. What stands below a mark in a stack, or has when the reader took the stack, does not
//     change until the mark is counted.
//  3. While a mark is in an inbox, q.n does not have what is below it: the reader sets taken
//     before it adds that. While takingIn is set in q.n, messages may be neither in the inbox
//     nor in q.n.

// mark is the Msg of its own node.
type mark struct {
	node    Node
	below   int         // messages below; set before counted
	counted atomic.Bool // the observer is done
	taken   atomic.Bool // the reader has taken the stack
}

// pass returns what stands below m in a stack that the reader has taken: nodes that belong to
// the reader.
func (m *mark) pass() *Node {
	m.taken.Store(true)
	if m.counted.Load() {
		return m.node.next
	}
	return copyStack(m.node.next)
}

// copyStack copies a stack that an observer reads, without marks.
func copyStack(h *Node) (top *Node) {
	link := &top
	for ; h != nil; h = h.next {
		var c *Node
		switch m := h.Msg.(type) {
		case *mark:
			m.taken.Store(true)
			continue
		case *run:
			r := NewRun()
			r.Fill(copy(r.Unused(), m.msgs[m.i:m.n]))
			c = &r.node
		default:
			c = &Node{Msg: m}
		}
		*link, link = c, &c.next
	}
	return top
}

// count returns how many messages are below m.
func (m *mark) count() (count, steps int) {
	for h := m.node.next; h != nil; h = h.next {
		if o, ok := h.Msg.(*mark); ok && o.counted.Load() {
			return count + o.below, steps
		}
		count += h.count()
		steps++
	}
	return count, steps
}

// observers lets one observer at a time push marks: otherwise the observers of an inbox that
// gets no messages could push marks without end.
var observers sync.Mutex

// stepsWorthMark is how many nodes an observer has walked through, at least, if its mark
// stays, so that the next observer need not do so again.
const stepsWorthMark = 64

// Waiting returns how many messages wait for the reader of an inbox: those in b and those in
// its queue. Any goroutine may call it at any time. It counts all that was pushed before the
// call and has not been dropped. While the reader moves messages from b to q, which it does
// without a pause, Waiting tries again.
func (b *Inbox) Waiting(q *Queue) int {
	for {
		if n, ok := b.observe(q); ok {
			return n
		}
		runtime.Gosched()
	}
}

// Behind reports whether more messages wait than the one of the queue that the reader has in hand. It may be asked where
// Waiting may, and costs two loads.
func (b *Inbox) Behind(q *Queue) bool {
	return atomic.LoadUint32(&q.n) > 1 || stacked(b.head.Load()) // or takingIn is set
}

// observe is one look of Waiting. False: the reader moves messages, or has meanwhile.
func (b *Inbox) observe(q *Queue) (n int, ok bool) {
	if !stacked(b.head.Load()) {
		n := atomic.LoadUint32(&q.n)
		return int(n), n&takingIn == 0
	}
	observers.Lock()
	defer observers.Unlock()
	m := b.mark()
	if m == nil {
		return 0, false
	}
	below, steps := m.count()
	queued := atomic.LoadUint32(&q.n)
	ok = queued&takingIn == 0 && !m.taken.Load() // then queued does not have what is below m
	m.below = below
	m.counted.Store(true)
	if steps < stepsWorthMark {
		b.head.CompareAndSwap(&m.node, m.node.next)
	}
	return below + int(queued), ok
}

// mark pushes a mark onto a stack; nil: there is none.
func (b *Inbox) mark() *mark {
	m := new(mark)
	m.node.Msg = m
	for {
		h := b.head.Load()
		if !stacked(h) {
			return nil
		}
		m.node.next = h
		if b.head.CompareAndSwap(h, &m.node) {
			return m
		}
	}
}
