package inbox

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// An observer counts the waiting messages while the reader works, and neither waits for the other. The queue stores its
// number of messages. The stack of the inbox does not, because then each push would need the number of the previous one. So
// the observer walks through the stack, which the reader must not change meanwhile: the observer pushes a mark, and a
// reader that takes a stack with a mark leaves the nodes below the mark unchanged and takes copies, unless the mark shows
// that the observer is done.
//
//	head -> message -> mark -> message -> message
//	                   \_____ the observer ______/
//
// Invariants:
//
//  1. Below a mark there is a message. A mark is never in a queue.
//  2. The nodes below a mark in a stack, also after the reader has taken the stack, do not change until the mark is
//     counted.
//  3. While a mark is in an inbox, q.n does not include the messages below it: the reader sets taken before it adds them.
//     While takingIn is set in q.n, messages may be neither in the inbox nor in q.n.

// mark is the Msg of its own node.
type mark struct {
	node    Node
	below   int         // messages below; set before counted
	counted atomic.Bool // the observer is done
	taken   atomic.Bool // the reader has taken the stack
}

// pass returns the nodes below m in a stack that the reader has taken, as nodes that the reader owns.
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

// count returns the number of messages below m.
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

// observers lets one observer at a time push marks: otherwise the observers of an inbox that gets no messages could push an
// unlimited number of marks.
var observers sync.Mutex

// stepsWorthMark is the minimum number of nodes that an observer has walked through for its mark to stay, so that the next
// observer need not walk through them again.
const stepsWorthMark = 64

// Waiting returns the number of messages that wait for the reader of an inbox: those in b and those in its queue. Any
// goroutine may call it at any time. It counts all messages that were pushed before the call and have not been dropped.
// While the reader moves messages from b to q, which is short, Waiting retries.
func (b *Inbox) Waiting(q *Queue) int {
	for {
		if n, ok := b.observe(q); ok {
			return n
		}
		runtime.Gosched()
	}
}

// Behind reports whether messages wait besides the one in the queue that the reader is handling. Any goroutine may call it
// at any time; it costs two loads.
func (b *Inbox) Behind(q *Queue) bool {
	return q.n.Load() > 1 || stacked(b.head.Load()) // or takingIn is set
}

// observe is one attempt of Waiting. It returns false if the reader is moving messages, or has moved some meanwhile.
func (b *Inbox) observe(q *Queue) (n int, ok bool) {
	if !stacked(b.head.Load()) {
		n := q.n.Load()
		return int(n), n&takingIn == 0
	}
	observers.Lock()
	defer observers.Unlock()
	m := b.mark()
	if m == nil {
		return 0, false
	}
	below, steps := m.count()
	queued := q.n.Load()
	ok = queued&takingIn == 0 && !m.taken.Load() // then queued does not include the messages below m
	m.below = below
	m.counted.Store(true)
	if steps < stepsWorthMark {
		b.head.CompareAndSwap(&m.node, m.node.next)
	}
	return below + int(queued), ok
}

// mark pushes a mark onto the stack, or returns nil if there is no stack.
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
