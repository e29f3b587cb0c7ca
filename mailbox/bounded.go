package mailbox

import (
	"context"
	"fmt"
	"sync"
)

// Policy says what happens to a message when a bounded mailbox is full.
type Policy uint8

const (
	Refuse     Policy = iota // the sender gets an error
	Block                    // the sender waits
	DropNewest               // the message is lost, and counted
	DropOldest               // the oldest message that the reader has not seen yet is lost, and counted
)

// String returns the name of p.
func (p Policy) String() string {
	switch p {
	case Refuse:
		return "refuse"
	case Block:
		return "block"
	case DropNewest:
		return "drop newest"
	case DropOldest:
		return "drop oldest"
	}
	return "invalid"
}

// Limits bound a mailbox. The zero value bounds nothing.
type Limits struct {
	Messages int // at most this many messages; 0: any number
	Bytes    int // at most this many bytes, as Size counts them; 0: any number
	Policy   Policy
	// Size gives a message's size in bytes. Default: Size, the function.
	Size func(msg any) int
	// Dropped is called for each message that a Drop policy loses, by the
	// goroutine that pushes. Default: nothing.
	Dropped func(msg any)
}

// Set reports whether l bounds anything.
func (l Limits) Set() bool { return l.Messages != 0 || l.Bytes != 0 }

// Validate says what is wrong with l.
func (l Limits) Validate() error {
	switch {
	case l.Messages < 0:
		return fmt.Errorf("mailbox: Limits.Messages %d: want 0 for any number, or more", l.Messages)
	case l.Bytes < 0:
		return fmt.Errorf("mailbox: Limits.Bytes %d: want 0 for any number, or more", l.Bytes)
	case l.Policy > DropOldest:
		return fmt.Errorf("mailbox: Limits.Policy %d: want Refuse, Block, DropNewest or DropOldest", l.Policy)
	}
	return nil
}

var (
	_ Box    = (*Bounded)(nil)
	_ Waiter = (*Bounded)(nil)
	_ Forcer = (*Bounded)(nil)
)

// Bounded is a Box with Limits. Messages that the reader has popped
// but not done with count too, so a reader that leaves messages cannot make it
// grow. A message that is larger than Limits.Bytes gets in when the box is
// empty: otherwise it never could. It takes a lock a message.
type Bounded struct {
	limits Limits

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
func NewBounded(l Limits) *Bounded {
	if err := l.Validate(); err != nil {
		panic(err)
	}
	if l.Size == nil {
		l.Size = Size
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
func (b *Bounded) Push(msg any) Result { return b.push(msg, false) }

// Force is part of Forcer.
func (b *Bounded) Force(msg any) Result { return b.push(msg, true) }

func (b *Bounded) push(msg any, force bool) Result {
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
func (b *Bounded) add(msg any, size int, force bool) (r Result, dropped []any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return Closed, nil
	}
	for !force && !b.fits(size) {
		switch {
		case b.limits.Policy == DropOldest && b.n > 0 && b.canFit(size):
			dropped = append(dropped, b.shift().msg)
			continue
		case b.limits.Policy == DropNewest, b.limits.Policy == DropOldest: // what the reader has fills the limits
			return Dropped, append(dropped, msg)
		}
		return Full, nil
	}
	if b.n == len(b.msgs) {
		b.grow()
	}
	b.msgs[(b.first+b.n)%len(b.msgs)] = entry{msg, size}
	b.n++
	b.count++
	b.bytes += size
	if b.awake {
		return Queued, dropped
	}
	b.awake = true
	return Wake, dropped
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
func (b *Bounded) Blocks() bool { return b.limits.Policy == Block }

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
