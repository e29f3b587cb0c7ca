package inbox

import (
	"iter"
	"slices"
	"sync/atomic"
)

// Queue is the private half of a mailbox: the messages in order of arrival, and a cursor that has passed those that the
// reader has examined and left. It has one owner. Invariant: the messages up to and including skipped have been offered and
// left, or are before a [Position]; the following ones have not been offered since the last Rewind or Seek. The node
// skipped has one message.
type Queue struct {
	head, tail *Node
	skipped    *Node         // last skipped node, nil at the start
	n          atomic.Uint32 // number of messages, and the flag takingIn; only the owner writes it: see Inbox.Waiting
}

// takingIn is set in Queue.n while the owner moves messages from an inbox to the queue.
const takingIn = 1 << 31

// grow adds d to the number of messages.
func (q *Queue) grow(d uint32) { q.n.Add(d) }

// shrink subtracts 1 from the number of messages.
func (q *Queue) shrink() { q.n.Add(^uint32(0)) }

// Len returns the number of messages, including skipped ones.
func (q *Queue) Len() int { return int(q.n.Load()) }

// Passed reports whether the cursor has skipped any message.
func (q *Queue) Passed() bool { return q.skipped != nil }

// CountPassed returns the number of skipped messages, which it counts.
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

// Long reports whether the queue is long enough for AppendLong to be worth the memory of a [Run].
func (q *Queue) Long() bool { return q.n.Load() >= longQueue }

// AppendLong adds msg at the end of a Long queue without a separate node, if the queue ends in a run that is not full, or
// may start a new run. Only one in LeastRun messages may start one; otherwise a queue with single messages appended in
// between would consist of runs with one message each. It reports whether it has added msg.
func (q *Queue) AppendLong(msg any) bool {
	r, ok := q.tail.Msg.(*run)
	if !ok || r.n == RunSize {
		if q.n.Load()%LeastRun != 0 {
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
func (q *Queue) begin() { q.n.Or(takingIn) }

// cancel undoes begin.
func (q *Queue) cancel() { q.n.And(^uint32(takingIn)) }

// appendStack adds a stack, newest first, in order of arrival, and undoes begin.
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
	q.n.Store(q.n.Load()&^takingIn + n)
	return int(n)
}

// next returns the node of the oldest message that has not been skipped.
func (q *Queue) next() *Node {
	if q.skipped == nil {
		return q.head
	}
	return q.skipped.next
}

// More reports whether there is a message that has not been skipped.
func (q *Queue) More() bool { return q.next() != nil }

// Next returns the oldest message that has not been skipped, or false if there is none. The message stays in the queue.
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

// Set replaces the message that Next returns, which must exist.
func (q *Queue) Set(msg any) {
	n := q.next()
	if r, ok := n.Msg.(*run); ok {
		r.msgs[r.i] = msg
		return
	}
	n.Msg = msg
}

// Skip skips the message that Next returns, which must exist.
func (q *Queue) Skip() {
	n := q.next()
	if r, ok := n.Msg.(*run); ok && r.pin == nil {
		n = q.split(r)
	}
	q.skipped = n
}

// split moves the oldest message of r, which is next, to a separate node before r.
func (q *Queue) split(r *run) *Node {
	n := &Node{Msg: r.msgs[r.i], next: &r.node}
	q.follow(q.skipped, n)
	if r.drop() {
		q.unlink(n, &r.node)
		r.free()
	}
	return n
}

// follow inserts n after prev, or at the start if prev is nil.
func (q *Queue) follow(prev, n *Node) {
	if prev == nil {
		q.head = n
	} else {
		prev.next = n
	}
}

// unlink removes n, which comes after prev, from the list.
func (q *Queue) unlink(prev, n *Node) {
	q.follow(prev, n.next)
	if n.next == nil {
		q.tail = prev
	}
	n.next = nil
}

// Drop removes the message that Next returns, which must exist, and returns its node, with the message, or nil if the
// message was in a [Run].
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

// Rewind makes all skipped messages available again.
func (q *Queue) Rewind() { q.skipped = nil }

// All yields the messages in order, skipped ones first.
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

// Remove removes the first message for which match returns true, and reports whether there was one. With keep it does not
// remove the message that Next returns.
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

// removeIn is Remove for the messages of a run, which comes after prev. With keep it does not remove the first one.
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

// Prepend puts messages before all others, as skipped ones.
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
