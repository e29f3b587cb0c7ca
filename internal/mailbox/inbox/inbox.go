package inbox

import (
	"slices"
	"sync/atomic"

	"github.com/actornode/actornode/mailbox"
)

// The sentinels end an inbox's stack and mark its state. Nil, the zero
// value, is "armed": empty, and the next goroutine that pushes must wake the reader.
var (
	awake  = new(Node) // empty; the reader will take again without a wake-up
	closed = new(Node) // accepts no more messages
)

// Inbox is the shared half of a default mailbox: a stack that many goroutines push to and one reader takes as a whole. The
// zero value is armed. The results of its methods, and the resulting states:
//
//	           armed          awake          stack          closed
//	Push       Wake, stack    Queued, stack  Queued, stack  Closed
//	Offer      Wake, awake    Queued, stack  Queued, stack  Closed
//	Take       0, armed       0, awake       n, awake       0
//	TakeArmed  0, armed       0, armed       n, armed       0
//	Arm        false, armed   true, armed    false, stack   false
//	Claim      true, awake    false, awake   false, stack   false
//	Close      true, closed   false, closed  false, closed  false
//
// Invariants, whenever no method is running:
//
//  1. head is nil (armed), awake, closed, or the newest of a stack of nodes.
//  2. A stack ends in nil.
//  3. Each time the inbox is armed, exactly one call ends that state, and its result reports it: a push or an offer that
//     returns Wake, or a Claim or a Close that returns true.
//  4. Nothing is taken from or pushed onto a closed inbox.
//  5. Two pushes by one goroutine are taken in their order.
//
// The reader reverses the stack into its private [Queue]: this is the "cached stack" of libcppa's mailbox.
type Inbox struct{ head atomic.Pointer[Node] }

// Push adds n and returns Queued, Wake or Closed. Any goroutine may push.
func (b *Inbox) Push(n *Node) mailbox.Result {
	for {
		old := b.head.Load()
		switch old {
		case nil, awake:
			n.next = nil
		case closed:
			return mailbox.Closed
		default:
			n.next = old
		}
		if b.head.CompareAndSwap(old, n) {
			if old == nil {
				return mailbox.Wake
			}
			return mailbox.Queued
		}
	}
}

// Offer is Push for a reader that gets a message with the wake-up: where Push would return Wake, n is not added, and the
// caller must pass n to the reader itself, ahead of all later pushes.
func (b *Inbox) Offer(n *Node) mailbox.Result {
	for {
		old := b.head.Load()
		switch old {
		case nil:
			if n.next = nil; b.head.CompareAndSwap(nil, awake) {
				return mailbox.Wake
			}
			continue
		case awake:
			n.next = nil
		case closed:
			return mailbox.Closed
		default:
			n.next = old
		}
		if b.head.CompareAndSwap(old, n) {
			return mailbox.Queued
		}
	}
}

// countStack returns the number of messages in a stack.
func countStack(h *Node) (count int) {
	for ; h != nil; h = h.next {
		count += h.count()
	}
	return count
}

// Oldest returns the oldest messages, at most max. The caller must prevent the reader from taking them meanwhile; pushes
// may continue.
func (b *Inbox) Oldest(max int) []any {
	h := b.head.Load()
	if !stacked(h) {
		return nil
	}
	var nodes []*Node // the nodes of the oldest messages, oldest last
	for left := countStack(h); h != nil; h = h.next {
		if left -= h.count(); left < max && h.count() > 0 { // otherwise it is a mark
			nodes = append(nodes, h)
		}
	}
	var all []any
	for _, n := range slices.Backward(nodes) {
		for msg := range n.all() {
			if len(all) >= max {
				return all
			}
			all = append(all, msg)
		}
	}
	return all
}

// Armed reports whether the inbox is armed: empty, open, and without a pending wake-up. It is the only load that a sender
// on the reader's own stage needs.
func (b *Inbox) Armed() bool { return b.head.Load() == nil }

// Pending reports whether a take would find messages. Reader only.
func (b *Inbox) Pending() bool {
	return stacked(b.head.Load())
}

// Take moves all messages to the end of q and leaves the inbox awake, or unchanged if there are none. It returns the number
// of messages moved. Reader only.
func (b *Inbox) Take(q *Queue) int {
	h := b.head.Load()
	if !stacked(h) {
		return 0
	}
	q.begin()
	// A swap fails if another goroutine pushed, or closed the inbox, after the load.
	for stacked(h) {
		if b.head.CompareAndSwap(h, awake) {
			return q.appendStack(h)
		}
		h = b.head.Load()
	}
	q.cancel()
	return 0
}

// stacked reports whether h, the head of an inbox, is the top of a stack.
func stacked(h *Node) bool { return h != nil && h != awake && h != closed }

// TakeArmed moves all messages to the end of q and leaves the inbox armed.
// Reader only; for readers whose wake-ups are queued, so that a wake-up may follow while the reader is still working.
func (b *Inbox) TakeArmed(q *Queue) int {
	h := b.head.Load()
	begun := false
	for {
		if !begun && stacked(h) {
			begun = true
			q.begin()
		}
		if h == closed {
			break
		}
		if b.head.CompareAndSwap(h, nil) {
			if stacked(h) {
				return q.appendStack(h)
			}
			break
		}
		h = b.head.Load()
	}
	if begun {
		q.cancel()
	}
	return 0
}

// Arm makes the next push onto an awake and empty inbox return Wake, and reports whether it did. It returns false if there
// are messages to take, or the inbox is closed or already armed. Reader only.
func (b *Inbox) Arm() bool { return b.head.CompareAndSwap(awake, nil) }

// Claim is the opposite of Arm: it moves the obligation to wake the reader from the next push to the caller. It returns
// false if the next push has no such obligation: another call was first, the reader will take without a wake-up, or b is
// closed.
func (b *Inbox) Claim() bool { return b.head.CompareAndSwap(nil, awake) }

// Close refuses all later messages; messages that have not been taken are lost. Any goroutine may close. It reports whether
// the inbox was armed: if so, the caller must wake the reader.
func (b *Inbox) Close() (armed bool) { return b.head.Swap(closed) == nil }

// Closed reports whether b has been closed.
func (b *Inbox) Closed() bool { return b.head.Load() == closed }
