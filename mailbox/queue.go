package mailbox

import "iter"

// Queue is the private half of a mailbox: the messages in arrival order, and a
// cursor that has passed those which the reader looked at and left. It has one
// owner. Invariant: every node up to and including skipped has been offered
// and left; what follows it has not been offered since the last Rewind.
type Queue struct {
	head, tail *Node
	skipped    *Node // last node passed over, nil at the start
	n          int32
	passed     int32 // nodes up to and including skipped
}

// Len returns the number of messages, those passed over included.
func (q *Queue) Len() int { return int(q.n) }

// Passed returns how many messages the cursor has passed over.
func (q *Queue) Passed() int { return int(q.passed) }

// Append adds n at the end.
func (q *Queue) Append(n *Node) {
	if q.tail == nil {
		q.head = n
	} else {
		q.tail.next = n
	}
	q.tail = n
	q.n++
}

// appendStack adds a stack, newest first, in order of arrival.
func (q *Queue) appendStack(top *Node) int {
	if top == nil {
		return 0
	}
	var list *Node
	last, n := top, int32(0)
	for top != nil {
		next := top.next
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
	q.n += n
	return int(n)
}

// Next returns the oldest message that has not been passed over, nil if there
// is none. The node stays in the queue.
func (q *Queue) Next() *Node {
	if q.skipped == nil {
		return q.head
	}
	return q.skipped.next
}

// Skip passes over the node that Next returns, of which there must be one.
func (q *Queue) Skip() {
	q.skipped = q.Next()
	q.passed++
}

// Drop removes the node that Next returns, of which there must be one, and
// returns it.
func (q *Queue) Drop() *Node {
	n := q.head
	if q.skipped == nil {
		q.head = n.next
	} else {
		n = q.skipped.next
		q.skipped.next = n.next
	}
	if n.next == nil {
		q.tail = q.skipped
	}
	n.next = nil
	q.n--
	return n
}

// Rewind offers again all that was passed over.
func (q *Queue) Rewind() { q.skipped, q.passed = nil, 0 }

// All yields the messages in order, those passed over first.
func (q *Queue) All() iter.Seq[any] {
	return func(yield func(any) bool) {
		for n := q.head; n != nil; n = n.next {
			if !yield(n.Msg) {
				return
			}
		}
	}
}

// Remove takes out the first message that match wants, except stands for a node
// that must stay. It reports whether there was one.
func (q *Queue) Remove(match func(any) bool, except *Node) bool {
	var prev *Node
	passed := q.skipped != nil
	for n := q.head; n != nil; prev, n = n, n.next {
		if n == except || !match(n.Msg) {
			if n == q.skipped {
				passed = false
			}
			continue
		}
		if prev == nil {
			q.head = n.next
		} else {
			prev.next = n.next
		}
		if n.next == nil {
			q.tail = prev
		}
		if n == q.skipped {
			q.skipped = prev
		}
		if passed {
			q.passed--
		}
		q.n--
		return true
	}
	return false
}
