package inbox

import "weak"

// A position is the place behind a message that stands in a queue. The queue finds it again when
// that message is taken out, and looks for it nowhere else: the message is in a run of its own, in
// the place where its node had it, and what takes messages out of runs looks after positions.
//
// Invariants, beside those of Queue:
//
//  1. A run with a pin has one message and is full, so that nothing is appended to it. The node of
//     which it is the Msg is not its own.
//  2. pin.node is the node of the run that has the pin; nil: there is none any more.
//  3. A Position without moved and without a pin is the start of its queue.

// Position is a place between two messages of a [Queue]: what is in front of it when it is made
// stays in front, and what comes later comes behind it. It belongs to the owner of the queue. Once
// nothing refers to it, the queue forgets it.
type Position struct {
	pin   *pin
	moved *Position // where it is now, since there is no message between the two; nil: here
}

// start is the position of an empty queue: all that comes is behind it.
var start Position

// pin keeps a position on a message.
type pin struct {
	node *Node
	pos  weak.Pointer[Position] // who asks for it; nil once nobody does
}

// Positions are those of one queue that it may have to forget. The zero value has none.
type Positions struct {
	pins  []*pin
	limit int // at how many the queue looks for those that nobody asks for
}

// leastPositions is how many positions a queue has, at least, before it looks which are not asked for
// any more. Each takes the memory of a run.
const leastPositions = 16

// End returns the position behind all messages of q.
func (a *Positions) End(q *Queue) *Position {
	if q.tail == nil {
		return &start
	}
	n := q.apart(q.tail)
	r, pinned := n.Msg.(*run)
	if pinned {
		if p := r.pin.pos.Value(); p != nil {
			return p
		}
	} else {
		if len(a.pins) >= max(a.limit, leastPositions) {
			a.forget()
		}
		p := &pin{node: n}
		a.pins = append(a.pins, p)
		r = p.hold()
	}
	p := &Position{pin: r.pin}
	r.pin.pos = weak.Make(p)
	return p
}

// forget takes away the pins that nobody asks for.
func (a *Positions) forget() {
	kept := a.pins[:0]
	for _, p := range a.pins {
		switch {
		case p.node == nil:
		case p.pos.Value() != nil:
			kept = append(kept, p)
		default:
			r := p.node.Msg.(*run)
			p.node.Msg, r.msgs[r.i] = r.msgs[r.i], nil
			r.free()
		}
	}
	clear(a.pins[len(kept):])
	a.pins, a.limit = kept, 2*len(kept)
}

// hold puts the only message of p.node into a run with p.
func (p *pin) hold() *run {
	r := NewRun().run
	r.i, r.n, r.pin = RunSize-1, RunSize, p
	r.msgs[r.i], p.node.Msg = p.node.Msg, r
	return r
}

// apart returns the node of the last message of n, which has no other message and is in no run
// without a pin. If n has several, it is a new one behind n.
func (q *Queue) apart(n *Node) *Node {
	r, ok := n.Msg.(*run)
	switch {
	case !ok || r.pin != nil:
		return n
	case r.n-r.i == 1:
		n.Msg, r.msgs[r.i] = r.msgs[r.i], nil // it is the node of r, which becomes one like any other
		return n
	}
	last := &Node{next: n.next}
	r.n--
	last.Msg, r.msgs[r.n] = r.msgs[r.n], nil
	n.next = last
	if q.tail == n {
		q.tail = last
	}
	return last
}

// removed is what becomes of the run of n, which has been taken out of the list behind prev, nil: the
// start.
func (q *Queue) removed(prev, n *Node, r *run) {
	p := r.pin
	r.free()
	if p == nil {
		return
	}
	n.Msg, p.node = nil, nil
	pos := p.pos.Value()
	switch {
	case pos == nil:
	case prev == nil:
		pos.pin = nil
	default:
		q.back(pos, p, prev)
	}
}

// back moves a position, and its pin, to the place behind prev.
func (q *Queue) back(pos *Position, p *pin, prev *Node) {
	n := q.apart(prev)
	r, pinned := n.Msg.(*run)
	if !pinned {
		p.node = n
		p.hold()
	} else if other := r.pin.pos.Value(); other != nil {
		pos.pin, pos.moved = nil, other
	} else {
		r.pin.pos, pos.pin = p.pos, r.pin
	}
}

// Seek has the cursor stand at p, a position of q: what is in front of it counts as left.
func (q *Queue) Seek(p *Position) {
	at := p
	for at.moved != nil {
		at = at.moved
	}
	if at != p {
		p.moved = at
	}
	q.skipped = nil
	if at.pin != nil {
		q.skipped = at.pin.node
	}
}
