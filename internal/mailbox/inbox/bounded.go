package inbox

import (
	"fmt"
	"sync"

	"github.com/actornode/actornode/internal/mailbox/ring"
	"github.com/actornode/actornode/mailbox"
)

// Limited reports whether l bounds anything.
func Limited(l mailbox.Limits) bool { return l.Messages != 0 || l.Bytes != 0 }

// Check says what is wrong with l.
func Check(l mailbox.Limits) error {
	switch {
	case l.Messages < 0:
		return fmt.Errorf("mailbox: Limits.Messages %d: want 0 for any number, or more", l.Messages)
	case l.Bytes < 0:
		return fmt.Errorf("mailbox: Limits.Bytes %d: want 0 for any number, or more", l.Bytes)
	case l.Policy > mailbox.DropOldest:
		return fmt.Errorf("mailbox: Limits.Policy %d: want Refuse, Block, DropNewest or DropOldest", l.Policy)
	}
	return nil
}

var (
	_ mailbox.Box    = (*Bounded)(nil)
	_ mailbox.Waiter = (*Bounded)(nil)
	_ mailbox.Forcer = (*Bounded)(nil)
)

// Bounded is the mailbox of a process that has limits: a Box that takes so much. Messages that the reader has popped
// but not done with count too, so a reader that leaves messages cannot make it
// grow. A message that is larger than Limits.Bytes gets in when the box is
// empty: otherwise it never could. It takes a lock a message. Any goroutine may call all
// methods but Pop and Done, which belong to the reader.
//
//  1. The messages that count towards the limits are those that wait, and those that the
//     reader has popped and is not done with.
//  2. It is within its limits, with two exceptions. A message larger than Limits.Bytes gets
//     in when no message counts. A message that is forced always gets in.
//  3. Every message that was answered Queued or Wake is popped once, given to
//     Limits.Dropped once, or lost by Close.
//  4. While senders wait in line the message of the first does not fit, and no other but a forced one
//     gets in. When there is space the messages of the first are put in for them, as many as
//     fit, and those senders alone are woken.
type Bounded struct {
	limits mailbox.Limits

	mu     sync.Mutex
	msgs   ring.Ring[entry]
	popped ring.Ring[int] // sizes of the messages that the reader has and is not done with, oldest first
	line   line           // senders that wait
	count  int            // messages that count
	bytes  int
	held   int // those of the bytes that are in popped
	awake  bool
	closed bool
}

type entry struct {
	msg  any
	size int
}

// NewBounded returns an empty box. It panics if l is not valid: check first.
func NewBounded(l mailbox.Limits) *Bounded {
	if err := Check(l); err != nil {
		panic(err)
	}
	if l.Size == nil {
		l.Size = mailbox.Size
	}
	if l.Dropped == nil {
		l.Dropped = func(any) {}
	}
	return &Bounded{limits: l, awake: true}
}

func (b *Bounded) fits(size int) bool {
	if b.count == 0 {
		return true
	}
	return (b.limits.Messages == 0 || b.count < b.limits.Messages) &&
		(b.limits.Bytes == 0 || b.bytes+size <= b.limits.Bytes)
}

// canFit reports whether a message would fit if nothing waited for the reader.
func (b *Bounded) canFit(size int) bool {
	n := b.popped.Len()
	return n == 0 || (b.limits.Messages == 0 || n < b.limits.Messages) && (b.limits.Bytes == 0 || b.held+size <= b.limits.Bytes)
}

// Push is part of Box. With the policies DropNewest and DropOldest it answers
// Dropped in place of Full.
func (b *Bounded) Push(msg any) mailbox.Result { return b.push(msg, false) }

// Force is part of Forcer.
func (b *Bounded) Force(msg any) mailbox.Result { return b.push(msg, true) }

func (b *Bounded) push(msg any, force bool) mailbox.Result {
	r, dropped := b.add(entry{msg, b.size(msg)}, force)
	for _, m := range dropped {
		b.limits.Dropped(m)
	}
	return r
}

// size is what msg counts.
func (b *Bounded) size(msg any) int {
	if b.limits.Bytes == 0 {
		return 0
	}
	return b.limits.Size(msg)
}

// add is push without the consequences: the messages that are lost.
func (b *Bounded) add(e entry, force bool) (r mailbox.Result, dropped []any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return mailbox.Closed, nil
	}
	for !force && !b.takes(e.size) {
		switch {
		case b.limits.Policy == mailbox.DropOldest && b.msgs.Len() > 0 && b.canFit(e.size):
			dropped = append(dropped, b.shift().msg)
			continue
		case b.limits.Policy == mailbox.DropNewest, b.limits.Policy == mailbox.DropOldest: // what the reader has cannot be dropped
			return mailbox.Dropped, append(dropped, e.msg)
		}
		return mailbox.Full, nil
	}
	return b.put(e), dropped
}

// takes reports whether a message gets in at once.
func (b *Bounded) takes(size int) bool { return b.line.first == nil && b.fits(size) }

// put adds a message that fits, or need not.
func (b *Bounded) put(e entry) mailbox.Result {
	b.msgs.Push(e)
	b.count++
	b.bytes += e.size
	if b.awake {
		return mailbox.Queued
	}
	b.awake = true
	return mailbox.Wake
}

// shift removes the oldest entry, which no longer counts.
func (b *Bounded) shift() entry {
	e := b.msgs.Shift()
	b.count--
	b.bytes -= e.size
	return e
}

// Pop is part of Box.
func (b *Bounded) Pop() (any, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.msgs.Len() == 0 {
		b.awake = b.closed
		return nil, false
	}
	e := b.msgs.Shift()
	b.held += e.size
	b.popped.Push(e.size)
	return e.msg, true
}

// Done is part of Box. With messages left by a selective reader the bytes of
// the oldest of them are the ones given back.
func (b *Bounded) Done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.popped.Len() == 0 {
		return
	}
	size := b.popped.Shift()
	b.bytes -= size
	b.held -= size
	b.count--
	b.admit()
}

// Len is part of Box.
func (b *Bounded) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count
}

// Close is part of Box.
func (b *Bounded) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.awake = true, true
	b.msgs, b.popped, b.count, b.bytes, b.held = ring.Ring[entry]{}, ring.Ring[int]{}, 0, 0, 0
	b.admit()
}
