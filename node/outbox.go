package node

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/wire"
)

// outbox is what waits to be written to a peer: frames in a queue, until the peer
// is connected and wherever the link cannot take them at once; otherwise bytes in
// the link, into which they are encoded by whoever sends.
//
// Invariants:
//
//  1. direct is set only while nothing waits but in the link: not in frames, not
//     in the writer's hands. So what goes past the queue overtakes nothing.
//  2. asleep is set only while the writer waits for wake, or is about to look at
//     the link once more before it does. Who clears it wakes the writer.
//  3. Who waits for room is let go by the next pass of the writer that finds less
//     than limit waiting, and there is one: space wakes the writer.
type outbox struct {
	limit int
	wake  chan struct{} // capacity 1: for the writer

	link   wire.Link  // once direct has been set
	quick  wire.Quick // nil: link has none
	direct atomic.Bool
	asleep atomic.Bool
	level  atomic.Int64 // bytes that wait in all, as last seen: exact or too much once a pass is over

	mu     sync.Mutex
	frames []wire.Frame
	bytes  int  // of frames, estimated
	late   int  // bytes that the writer could not write yet
	tick   bool // a tick is due
	over   bool
	room   chan struct{} // closed when there is room again; nil: nobody waits
}

// errOver says that the connection is over.
var errOver = errors.New("node: the connection is over")

// put adds a frame. full: more waits now than should.
func (b *outbox) put(f wire.Frame) (full bool, err error) {
	if b.direct.Load() {
		g := f // for the heap, only here
		if n, err := b.link.Write(&g); err == nil {
			return b.written(n), nil
		}
	}
	return b.enqueue(f)
}

// message is put for a message from one process to another.
func (b *outbox) message(from, to PID, msg any) (full bool, err error) {
	if b.direct.Load() && b.quick != nil {
		if n, err := b.quick.Send(from, to, msg); err == nil {
			return b.written(n), nil
		}
		return b.enqueue(wire.Frame{Op: wire.OpSend, From: from, To: to, Payload: msg})
	}
	return b.put(wire.Frame{Op: wire.OpSend, From: from, To: to, Payload: msg})
}

// written is told what the link holds.
func (b *outbox) written(n int) (full bool) {
	b.rouse()
	if n <= b.limit {
		return false
	}
	b.level.Store(int64(n))
	return true
}

// enqueue leaves a frame to the writer: there is no link yet, or it cannot take
// the frame now. What is wrong with one is for the writer to find, and to tell.
func (b *outbox) enqueue(f wire.Frame) (full bool, err error) {
	size := frameCost(&f)
	b.mu.Lock()
	if b.over {
		b.mu.Unlock()
		return false, errOver
	}
	b.direct.Store(false)
	b.frames = append(b.frames, f)
	b.bytes += size
	n := b.bytes + b.late
	b.mu.Unlock()
	b.level.Store(int64(n))
	b.rouse()
	return n > b.limit, nil
}

// frameCost estimates what a frame takes.
func frameCost(f *wire.Frame) int { return frameSize + mailbox.Size(f.Payload) }

const frameSize = int(unsafe.Sizeof(wire.Frame{}))

// space returns what to wait for if the box is over its limit; nil otherwise.
func (b *outbox) space() <-chan struct{} {
	if b.level.Load() <= int64(b.limit) {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return nil
	}
	if b.room == nil {
		b.room = make(chan struct{})
	}
	b.rouse()
	return b.room
}

// idle reports whether all has been written.
func (b *outbox) idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over || len(b.frames) == 0 && b.asleep.Load()
}

// rouse wakes the writer.
func (b *outbox) rouse() {
	if b.asleep.Load() && b.asleep.CompareAndSwap(true, false) {
		b.wake <- struct{}{} // has room: one for each time that the writer sleeps
	}
}

// remind asks for a tick.
func (b *outbox) remind() {
	b.mu.Lock()
	b.tick = true
	b.mu.Unlock()
	b.rouse()
}

// take returns all that waits in the queue; spent is the slice of the time
// before, to be used again, and late what the writer still has in its hands.
func (b *outbox) take(spent []wire.Frame, late int) (frames []wire.Frame, tick bool) {
	if cap(spent) > keptFrames {
		spent = nil
	}
	clear(spent)
	b.mu.Lock()
	defer b.mu.Unlock()
	frames, tick = b.frames, b.tick
	b.frames, b.bytes, b.late, b.tick = spent[:0], 0, late, false
	b.level.Store(int64(late))
	if late <= b.limit {
		b.release()
	}
	return frames, tick
}

// keptFrames is how long a slice is kept for the next batch.
const keptFrames = 4096

// rest says that the writer has nothing to write and will sleep, once it has
// looked at link again. False: there is something.
func (b *outbox) rest(link wire.Link) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.frames) > 0 || b.tick || b.room != nil {
		return false
	}
	if b.link == nil {
		b.link = link
		b.quick, _ = link.(wire.Quick)
	}
	if !b.over {
		b.direct.Store(true)
	}
	b.asleep.Store(true)
	return true
}

// release lets those go on who wait for room. The caller holds mu.
func (b *outbox) release() {
	if b.room != nil {
		close(b.room)
		b.room = nil
	}
}

// close ends the box and returns what was not written.
func (b *outbox) close() []wire.Frame {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	b.direct.Store(false)
	left := b.frames
	b.frames = nil
	b.release()
	return left
}
