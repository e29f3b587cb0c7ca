package inbox

import (
	"context"
	"fmt"
	"sync"

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
type Bounded struct {
	limits mailbox.Limits

	mu     sync.Mutex
	space  sync.Cond
	msgs   []entry // a ring
	first  int
	n      int
	popped []int // sizes of the messages that the reader has and is not done with, oldest first
	count  int   // messages that count
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
	b := &Bounded{limits: l, awake: true}
	b.space.L = &b.mu
	return b
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
	return b.count == b.n ||
		(b.limits.Messages == 0 || b.count-b.n < b.limits.Messages) &&
			(b.limits.Bytes == 0 || b.held+size <= b.limits.Bytes)
}

// Push is part of Box. With the policies DropNewest and DropOldest it answers
// Dropped in place of Full.
func (b *Bounded) Push(msg any) mailbox.Result { return b.push(msg, false) }

// Force is part of Forcer.
func (b *Bounded) Force(msg any) mailbox.Result { return b.push(msg, true) }

func (b *Bounded) push(msg any, force bool) mailbox.Result {
	size := 0
	if b.limits.Bytes != 0 {
		size = b.limits.Size(msg)
	}
	r, dropped := b.add(msg, size, force)
	for _, m := range dropped {
		b.limits.Dropped(m)
	}
	return r
}

// add is push without the consequences: the messages that are lost.
func (b *Bounded) add(msg any, size int, force bool) (r mailbox.Result, dropped []any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return mailbox.Closed, nil
	}
	for !force && !b.fits(size) {
		switch {
		case b.limits.Policy == mailbox.DropOldest && b.n > 0 && b.canFit(size):
			dropped = append(dropped, b.shift().msg)
			continue
		case b.limits.Policy == mailbox.DropNewest, b.limits.Policy == mailbox.DropOldest: // what the reader has cannot be dropped
			return mailbox.Dropped, append(dropped, msg)
		}
		return mailbox.Full, nil
	}
	if b.n == len(b.msgs) {
		b.grow()
	}
	b.msgs[(b.first+b.n)%len(b.msgs)] = entry{msg, size}
	b.n++
	b.count++
	b.bytes += size
	if b.awake {
		return mailbox.Queued, dropped
	}
	b.awake = true
	return mailbox.Wake, dropped
}

func (b *Bounded) grow() {
	ring := make([]entry, max(4, 2*len(b.msgs)))
	for i := range b.n {
		ring[i] = b.msgs[(b.first+i)%len(b.msgs)]
	}
	b.msgs, b.first = ring, 0
}

// shift removes the oldest entry, which no longer counts.
func (b *Bounded) shift() entry {
	e := b.msgs[b.first]
	b.msgs[b.first] = entry{}
	b.first = (b.first + 1) % len(b.msgs)
	b.n--
	b.count--
	b.bytes -= e.size
	return e
}

// Pop is part of Box.
func (b *Bounded) Pop() (any, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n == 0 {
		b.awake = b.closed
		return nil, false
	}
	e := b.shift()
	b.count++ // until Done
	b.bytes += e.size
	b.held += e.size
	b.popped = append(b.popped, e.size)
	return e.msg, true
}

// Done is part of Box. With messages left by a selective reader the bytes of
// the oldest of them are the ones given back.
func (b *Bounded) Done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.popped) == 0 {
		return
	}
	b.bytes -= b.popped[0]
	b.held -= b.popped[0]
	b.popped = b.popped[:copy(b.popped, b.popped[1:])]
	b.count--
	b.space.Broadcast() // the next sender may need more space than there is
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
	b.msgs, b.popped, b.n, b.count, b.bytes, b.held = nil, nil, 0, 0, 0, 0
	b.space.Broadcast()
}

// Blocks is part of Waiter.
func (b *Bounded) Blocks() bool { return b.limits.Policy == mailbox.Block }

// Lacks returns a function that says whether there is no space for msg.
func (b *Bounded) Lacks(msg any) func() bool {
	size := 0
	if b.limits.Bytes != 0 {
		size = b.limits.Size(msg)
	}
	return func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return !b.closed && !b.fits(size)
	}
}

// AwaitRoom is part of Waiter.
func (b *Bounded) AwaitRoom(ctx context.Context, msg any) error {
	size := 0
	if b.limits.Bytes != 0 {
		size = b.limits.Size(msg)
	}
	defer context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.space.Broadcast()
	})()
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.closed && !b.fits(size) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b.space.Wait()
	}
	return nil
}
