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

// box is the mailbox of an actor of an ordered stage: its part of the Order. It is a mailbox.Box, and a mailbox.Forcer,
// because it has no bound.
type box struct {
	order *Order
	owner *process.Process

	// Guarded by order.mu.
	count  int // unhandled messages
	armed  bool
	closed bool
}

// Apply gives q, which is not yet known to others, the mailbox that its place requires.
func (p *Place) Apply(q *process.Process) {
	if p.Order != nil {
		q.ColdPart().Box, q.Boxed = &box{order: p.Order, owner: q}, true
	}
}

// Push implements mailbox.Box.
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

// Force implements mailbox.Forcer.
func (b *box) Force(msg any) mailbox.Result { return b.Push(msg) }

// Pop implements mailbox.Box. It is called on the stage of the actor.
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
	case due.owner.Stage() == b.owner.Stage(): // held by the caller, so that it does not change
		due.owner.Stage().Wake(&due.owner.Entity)
	default:
		go due.wake() // not on this stage, which is held; ends by itself
	}
	return e.msg, true
}

// dueLocked drops the messages of exited actors, like a mailbox does, and returns the box to be woken for the oldest
// remaining one, or nil.
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

// wake makes the actor check its box.
func (b *box) wake() { b.owner.Runner().Prod(&b.owner.System.Plain) }

// Done implements mailbox.Box.
func (b *box) Done() {
	b.order.mu.Lock()
	b.count--
	b.order.mu.Unlock()
}

// Len implements mailbox.Box.
func (b *box) Len() int {
	b.order.mu.Lock()
	defer b.order.mu.Unlock()
	return b.count
}

// Close implements mailbox.Box.
func (b *box) Close() {
	o := b.order
	o.mu.Lock()
	b.closed = true
	due := o.dueLocked()
	o.mu.Unlock()
	if due != nil {
		go due.wake() // the caller may be on the stage, or hold locks; ends by itself
	}
}
