package runner

import (
	"sync"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/mailbox"
)

// Order is the queue of an ordered stage.
type Order struct {
	mu          sync.Mutex
	first, last *entry
}

// entry is a message of an Order.
type entry struct {
	box  *box
	msg  any
	next *entry
}

// box is the mailbox of an actor of an ordered stage: its part of the Order. It is a mailbox.Box, and a
// mailbox.Forcer: it has no bound.
type box struct {
	order *Order
	owner *process.Process

	// Guarded by order.mu.
	count  int // messages that have not been handled
	armed  bool
	closed bool
}

// Apply gives p, which nobody knows yet, the mailbox that its place asks for.
func (p *Place) Apply(q *process.Process) {
	if p.Order != nil {
		q.ColdPart().Box, q.Boxed = &box{order: p.Order, owner: q}, true
	}
}

// Push is part of mailbox.Box.
func (b *box) Push(msg any) mailbox.Result {
	o := b.order
	o.mu.Lock()
	defer o.mu.Unlock()
	if b.closed {
		return mailbox.Closed
	}
	b.count++
	e := &entry{box: b, msg: msg}
	if o.first == nil {
		o.first, o.last = e, e
		if b.armed {
			b.armed = false
			return mailbox.Wake
		}
		return mailbox.Queued
	}
	o.last.next, o.last = e, e
	return mailbox.Queued
}

// Force is part of mailbox.Forcer.
func (b *box) Force(msg any) mailbox.Result { return b.Push(msg) }

// Pop is part of mailbox.Box. It is called on the stage of the actor.
func (b *box) Pop() (msg any, ok bool) {
	o := b.order
	o.mu.Lock()
	e := o.first
	if e == nil || e.box != b {
		b.armed = true
		o.mu.Unlock()
		return nil, false
	}
	o.first = e.next
	due := o.dueLocked()
	o.mu.Unlock()
	switch {
	case due == nil:
	case due.owner.Stage() == b.owner.Stage(): // which the caller holds, so that it does not change
		due.owner.Stage().Wake(&due.owner.Entity)
	default:
		go due.wake() // not on this stage, which is held. It ends by itself
	}
	return e.msg, true
}

// dueLocked drops the messages of those that have exited, as a mailbox does, and returns whoever is to be woken
// for the oldest that is left.
func (o *Order) dueLocked() *box {
	for o.first != nil && o.first.box.closed {
		o.first = o.first.next
	}
	if o.first == nil {
		o.last = nil
		return nil
	}
	if b := o.first.box; b.armed {
		b.armed = false
		return b
	}
	return nil
}

// wake has the actor look at its box.
func (b *box) wake() { b.owner.Runner().Prod(&b.owner.System.Plain) }

// Done is part of mailbox.Box.
func (b *box) Done() {
	b.order.mu.Lock()
	b.count--
	b.order.mu.Unlock()
}

// Len is part of mailbox.Box.
func (b *box) Len() int {
	b.order.mu.Lock()
	defer b.order.mu.Unlock()
	return b.count
}

// Close is part of mailbox.Box.
func (b *box) Close() {
	o := b.order
	o.mu.Lock()
	b.closed = true
	due := o.dueLocked()
	o.mu.Unlock()
	if due != nil {
		go due.wake() // the caller may be on the stage, or have locks. It ends by itself
	}
}
