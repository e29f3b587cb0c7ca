package inbox

import (
	"fmt"
	"sync"

	"github.com/actornode/actornode/internal/mailbox/ring"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/wire"
)

// Limited reports whether l sets any limit.
func Limited(l mailbox.Bounds) bool { return l.Messages != 0 || l.Bytes != 0 }

// Check validates l.
func Check(l mailbox.Bounds) error {
	switch {
	case l.Messages < 0:
		return fmt.Errorf("mailbox: Bounds.Messages %d: want 0 for any number, or more", l.Messages)
	case l.Bytes < 0:
		return fmt.Errorf("mailbox: Bounds.Bytes %d: want 0 for any number, or more", l.Bytes)
	case l.Policy > mailbox.DropOldest:
		return fmt.Errorf("mailbox: Bounds.Policy %d: want Refuse, Block, DropNewest or DropOldest", l.Policy)
	}
	return nil
}

var (
	_ mailbox.Box    = (*Bounded)(nil)
	_ mailbox.Waiter = (*Bounded)(nil)
	_ mailbox.Forcer = (*Bounded)(nil)
)

// Bounded is the mailbox of a process with limits. Messages that the reader has popped but not finished count too, so a
// reader that leaves messages cannot make it grow. A message larger than Bounds.Bytes is accepted when the box is empty:
// otherwise it could never be delivered. It takes a lock for each message. Any goroutine may call all methods except Pop
// and Done, which belong to the reader.
//
//  1. The waiting messages, and those that the reader has popped but not finished, count towards the limits.
//  2. It is within its limits, with two exceptions. A message larger than Bounds.Bytes is accepted when no other message
//     counts. A message that is forced or returned is always accepted.
//  3. Every message for which a push returned Queued or Wake is popped once, passed to Bounds.Dropped once, or lost by
//     Close.
//  4. While senders wait in line, the message of the first one does not fit, and only forced messages are accepted. When
//     space becomes free, as many messages of the first senders as fit are added for them, and only those senders are
//     woken.
type Bounded struct {
	limits mailbox.Bounds

	mu     sync.Mutex
	msgs   ring.Ring[entry]
	popped ring.Ring[int] // sizes of the messages that the reader has popped but not finished, oldest first
	line   line           // senders that wait
	count  int            // messages that count
	bytes  int
	held   int    // the part of the bytes in popped
	lost   uint64 // messages refused or dropped; with Block, none
	awake  bool
	closed bool
}

type entry struct {
	msg  any
	size int
}

// NewBounded returns an empty box. It panics if l is not valid: check first. It does not know whose box it is, so l.Dropped
// gets no PID: the caller puts a function between that adds it.
func NewBounded(l mailbox.Bounds) *Bounded {
	if err := Check(l); err != nil {
		panic(err)
	}
	if l.Size == nil {
		l.Size = mailbox.Size
	}
	if l.Dropped == nil {
		l.Dropped = func(wire.PID, any) {}
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

// canFit reports whether a message would fit if no messages were waiting.
func (b *Bounded) canFit(size int) bool {
	n := b.popped.Len()
	return n == 0 || (b.limits.Messages == 0 || n < b.limits.Messages) && (b.limits.Bytes == 0 || b.held+size <= b.limits.Bytes)
}

// Push implements Box. With the policies DropNewest and DropOldest it returns Dropped instead of Full.
func (b *Bounded) Push(msg any) mailbox.Result { return b.push(msg, false) }

// Force implements Forcer.
func (b *Bounded) Force(msg any) mailbox.Result { return b.push(msg, true) }

func (b *Bounded) push(msg any, force bool) mailbox.Result {
	r, dropped := b.add(entry{msg, b.size(msg)}, force)
	for _, m := range dropped {
		b.limits.Dropped(wire.PID{}, m)
	}
	return r
}

// size returns the size of msg that counts towards the limits.
func (b *Bounded) size(msg any) int {
	if b.limits.Bytes == 0 {
		return 0
	}
	return b.limits.Size(msg)
}

// add adds an entry and returns the messages that are lost.
func (b *Bounded) add(e entry, force bool) (r mailbox.Result, dropped []any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return mailbox.Closed, nil
	}
	for !force && !b.takes(e.size) {
		switch {
		case b.limits.Policy == mailbox.DropOldest && b.msgs.Len() > 0 && b.canFit(e.size):
			b.lost++
			dropped = append(dropped, b.shift().msg)
			continue
		case b.limits.Policy == mailbox.DropNewest, b.limits.Policy == mailbox.DropOldest: // popped messages cannot be dropped
			b.lost++
			return mailbox.Dropped, append(dropped, e.msg)
		case b.limits.Policy == mailbox.Refuse:
			b.lost++
		}
		return mailbox.Full, nil
	}
	return b.put(e), dropped
}

// takes reports whether a message is accepted at once.
func (b *Bounded) takes(size int) bool { return b.line.first == nil && b.fits(size) }

// put adds a message that fits or is forced.
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

// Pop implements Box.
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

// Done implements Box. If a selective reader has left messages, it releases the bytes of the oldest one.
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

// Return puts a message back that has been popped and is finished, before all others and past the limits.
func (b *Bounded) Return(msg any) {
	e := entry{msg, b.size(msg)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.msgs.Unshift(e)
	b.count++
	b.bytes += e.size
}

// Bound returns the limits of b, and how many messages have been refused or dropped because of them.
func (b *Bounded) Bound() (limits mailbox.Bounds, lost uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limits, b.lost
}

// Len implements Box.
func (b *Bounded) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count
}

// Close implements Box.
func (b *Bounded) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.awake = true, true
	b.msgs, b.popped, b.count, b.bytes, b.held = ring.Ring[entry]{}, ring.Ring[int]{}, 0, 0, 0
	b.admit()
}
