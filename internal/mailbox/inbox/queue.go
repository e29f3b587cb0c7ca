package inbox

import (
	"iter"
	"slices"

	"github.com/actornode/actornode/internal/sched/bias"
)

// Queue is the private half of a mailbox: the messages in arrival order, and a
// cursor that has passed those which the reader looked at and left. It has one
// owner. Invariant: what stands up to and including skipped has been offered and left, or stands in
// front of a [Position]; what follows has not been offered since the last Rewind or Seek. The node
// skipped has one message.
type Queue struct {
	head, tail *Node
	skipped    *Node  // last node passed over, nil at the start
	n          uint32 // messages; takingIn apart; written by the owner, read by anybody: see Inbox.Waiting
}

// takingIn is set in Queue.n while the owner moves what is in an inbox to the queue.
const takingIn = 1 << 31

// grow adds d to the number of messages.
func (q *Queue) grow(d uint32) { bias.StoreRelaxed(&q.n, q.n+d) }

// shrink takes 1 off the number of messages.
func (q *Queue) shrink() { bias.StoreRelaxed(&q.n, q.n-1) }

// Len returns the number of messages, those passed over included.
func (q *Queue) Len() int { return int(q.n) }

// Passed reports whether the cursor has passed over any message.
func (q *Queue) Passed() bool { return q.skipped != nil }

// CountPassed returns how many messages the cursor has passed over. It walks along them.
func (q *Queue) CountPassed() (passed int) {
	if q.skipped == nil {
		return 0
	}
	for n := q.head; ; n = n.next {
		if r, ok := n.Msg.(*run); ok {
			passed += int(r.n - r.i)
		} else {
			passed++
		}
		if n == q.skipped {
			return passed
		}
	}
}

// Append adds n at the end.
func (q *Queue) Append(n *Node) {
	if q.tail == nil {
		q.head = n
	} else {
		q.tail.next = n
	}
	q.tail = n
	q.grow(1)
}

const longQueue = 32

// Long reports whether the queue is so long that AppendLong may be worth the memory of a [Run].
func (q *Queue) Long() bool { return q.n >= longQueue }

// AppendLong adds msg at the end of a queue that is Long without a separate node, if the queue
// ends in a run that is not full, or may begin one now: one in LeastRun messages may. Otherwise
// a queue to which messages are also appended singly, between any two, would be one run after
// the other with a message each. It reports whether it has added msg.
func (q *Queue) AppendLong(msg any) bool {
	r, ok := q.tail.Msg.(*run)
	if !ok || r.n == RunSize {
		if q.n%LeastRun != 0 {
			return false
		}
		r = NewRun().run
		q.follow(q.tail, &r.node)
		q.tail = &r.node
	}
	r.msgs[r.n] = msg
	r.n++
	q.grow(1)
	return true
}

// begin announces that appendStack or cancel follows.
func (q *Queue) begin() { bias.StoreRelaxed(&q.n, q.n|takingIn) }

// cancel ends what begin has begun.
func (q *Queue) cancel() { bias.StoreRelaxed(&q.n, q.n&^takingIn) }

// appendStack adds a stack, newest first, in order of arrival, and ends what begin has begun.
func (q *Queue) appendStack(top *Node) int {
	for m, ok := top.Msg.(*mark); ok; m, ok = top.Msg.(*mark) {
		top = m.pass()
	}
	var list *Node
	last, n := top, uint32(0)
	for top != nil {
		next := top.next
		switch m := top.Msg.(type) {
		case *run:
			n += uint32(m.n) - 1
		case *mark:
			top = m.pass()
			continue
		}
		top.next = list
		list, top = top, next
		n++
	}
	if q.tail == nil {
		q.head = list
	} else {
		q.tail.next = list
	}
	q.tail = last
	bias.StoreRelaxed(&q.n, q.n&^takingIn+n)
	return int(n)
}

// next returns the node of the oldest message that has not been passed over.
func (q *Queue) next() *Node {
	if q.skipped == nil {
		return q.head
	}
	return q.skipped.next
}

// More reports whether there is a message that has not been passed over.
func (q *Queue) More() bool { return q.next() != nil }

// Next returns the oldest message that has not been passed over; false: there is none.
// It stays in the queue.
func (q *Queue) Next() (msg any, ok bool) {
	n := q.next()
	if n == nil {
		return nil, false
	}
	if r, ok := n.Msg.(*run); ok {
		return r.msgs[r.i], true
	}
	return n.Msg, true
}

// Set puts another message in the place of the one that Next returns, of which there
// must be one.
func (q *Queue) Set(msg any) {
	n := q.next()
	if r, ok := n.Msg.(*run); ok {
		r.msgs[r.i] = msg
		return
	}
	n.Msg = msg
}

// Skip passes over the message that Next returns, of which there must be one.
func (q *Queue) Skip() {
	n := q.next()
	if r, ok := n.Msg.(*run); ok && r.pin == nil {
		n = q.split(r)
	}
	q.skipped = n
}

// split gives the oldest message of r, which is next, a separate node before r.
func (q *Queue) split(r *run) *Node {
	n := &Node{Msg: r.msgs[r.i], next: &r.node}
	q.follow(q.skipped, n)
	if r.drop() {
		q.unlink(n, &r.node)
		r.free()
	}
	return n
}

// follow has n come after prev; nil: the start.
func (q *Queue) follow(prev, n *Node) {
	if prev == nil {
		q.head = n
	} else {
		prev.next = n
	}
}

// unlink takes n, which comes after prev, out of the list.
func (q *Queue) unlink(prev, n *Node) {
	q.follow(prev, n.next)
	if n.next == nil {
		q.tail = prev
	}
	n.next = nil
}

// Drop removes the message that Next returns, of which there must be one, and returns
// its node, with the message; nil: it was in a [Run].
func (q *Queue) Drop() *Node {
	n := q.next()
	q.shrink()
	if r, ok := n.Msg.(*run); ok {
		if r.drop() {
			q.unlink(q.skipped, n)
			q.removed(q.skipped, n, r)
		}
		return nil
	}
	q.unlink(q.skipped, n)
	return n
}

// Rewind offers again all that was passed over.
func (q *Queue) Rewind() { q.skipped = nil }

// All yields the messages in order, those passed over first.
func (q *Queue) All() iter.Seq[any] {
	return func(yield func(any) bool) {
		for n := q.head; n != nil; n = n.next {
			for msg := range n.all() {
				if !yield(msg) {
					return
				}
			}
		}
	}
}

// Remove takes out the first message that match wants; keep: not the one that Next
// returns. It reports whether there was one.
func (q *Queue) Remove(match func(any) bool, keep bool) bool {
	var prev *Node
	for n := q.head; n != nil; prev, n = n, n.next {
		keep := keep && n == q.next()
		msg := n.Msg
		r, ok := n.Msg.(*run)
		if ok && r.pin == nil {
			if q.removeIn(prev, r, match, keep) {
				return true
			}
			continue
		}
		if ok {
			msg = r.msgs[r.i]
		}
		if keep || !match(msg) {
			continue
		}
		if n == q.skipped {
			if prev != nil {
				prev = q.apart(prev)
			}
			q.skipped = prev
		}
		q.unlink(prev, n)
		q.shrink()
		if ok {
			r.drop()
			q.removed(prev, n, r)
		}
		return true
	}
	return false
}

// removeIn is Remove for the messages of a run, which comes after prev. keep: not the
// first.
func (q *Queue) removeIn(prev *Node, r *run, match func(any) bool, keep bool) bool {
	for k := r.i; k < r.n; k++ {
		if keep && k == r.i || !match(r.msgs[k]) {
			continue
		}
		q.shrink()
		if r.remove(k) {
			q.unlink(prev, &r.node)
			r.free()
		}
		return true
	}
	return false
}

// Prepend puts messages before all others, as passed over.
func (q *Queue) Prepend(msgs []any) {
	for _, msg := range slices.Backward(msgs) {
		n := &Node{Msg: msg, next: q.head}
		q.head = n
		if q.tail == nil {
			q.tail = n
		}
		if q.skipped == nil {
			q.skipped = n
		}
		q.grow(1)
	}
}
