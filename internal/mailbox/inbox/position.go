package inbox

import "weak"

// A position is the place after a message in a queue. When that message is removed, the queue finds the position through
// it: the message is in a separate run, which replaces the message in its node, and the code that removes messages from
// runs updates positions.
//
// Invariants, in addition to those of Queue:
//
//  1. A run with a pin has one message and is full, so that nothing is appended to it. The run is the Msg of another node,
//     not of its own.
//  2. pin.node is the node of the run that has the pin, or nil if there is none any more.
//  3. A Position without moved and without a pin is the start of its queue.

// Position is a place between two messages of a [Queue]: messages before it when it is made stay before it, and later
// messages come after it. It belongs to the owner of the queue. When it is unreachable, the queue forgets it.
type Position struct {
	pin   *pin
	moved *Position // the equivalent position, because there is no message between the two; or nil
}

// start is the position of an empty queue: all messages come after it.
var start Position

// pin keeps a position on a message.
type pin struct {
	node *Node
	pos  weak.Pointer[Position] // nil once the position is unreachable
}

// Positions are the positions of a queue that it may have to forget. The zero value has none.
type Positions struct {
	pins  []*pin
	limit int // number of positions from which the queue looks for unreachable ones
}

// leastPositions is the minimum number of positions of a queue before it looks for unreachable ones. Each takes the memory
// of a run.
const leastPositions = 16

// End returns the position after all messages of q.
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

// forget removes the pins of unreachable positions.
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

// apart returns the node of the last message of n, which has only that message and is not in a run without a pin. If n has
// several messages, it is a new node after n.
func (q *Queue) apart(n *Node) *Node {
	r, ok := n.Msg.(*run)
	switch {
	case !ok || r.pin != nil:
		return n
	case r.n-r.i == 1:
		n.Msg, r.msgs[r.i] = r.msgs[r.i], nil // n is the node of r, and becomes an ordinary node
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

// removed handles the run of n, which was removed from the list after prev, or from the start if prev is nil.
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

// back moves a position, and its pin, to the place after prev.
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

// Seek sets the cursor to p, a position of q: the messages before it count as left.
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
