package flow

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/wire/links"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Box is the queue of frames to be written to a peer: see the package comment. It is initialized by [Box.Init].
type Box struct {
	soft atomic.Int64  // number of bytes in the link up to which nothing has to be done
	wake chan struct{} // capacity 1: for the writer

	flushing atomic.Uint64 // a FlushState

	link   dist.Link           // set before flushing is direct for the first time
	quick  links.MessageWriter // nil if link does not support it
	check  links.Checker       // set once; may be nil
	prompt links.TryFlusher
	level  atomic.Int64 // bytes queued for the writer's next pass, as last seen

	mu      sync.Mutex
	frames  []dist.Frame
	backlog backlog
	tick    bool // a tick is due
	waits   waits
}

// ErrOver reports that the connection has ended.
var ErrOver = errors.New("node: the connection has ended")

// Init initializes b. limit is the number of queued bytes above which senders wait; q, which may be nil, counts what is
// queued for all peers; check, which may be nil, checks messages before they are queued.
func (b *Box) Init(limit int, q *limits.Quota, check links.Checker) {
	b.wake, b.check = make(chan struct{}, 1), check
	b.backlog = backlog{limit: limit, quota: q}
	b.soft.Store(int64(b.backlog.soft()))
}

// Direct reports whether frames are written to the link's buffer at once. This implies that the peer is connected.
func (b *Box) Direct() bool { return b.state().Direct() }

// Put adds a frame. full reports that more is queued now than should be. t is the turn in which the frame is sent, or nil.
// The error is [ErrOver], or a [*wire.EncodeError] for a message that cannot be encoded, if it is encoded at once: then it is
// not added. Encoding errors of queued frames are reported to the writer's owner.
func (b *Box) Put(t *Turn, f dist.Frame) (full bool, err error) {
	done, full, err := b.direct(t, &f)
	if done {
		return full, err
	}
	return b.enqueue(f)
}

// Send is Put for a frame whose sender must learn of an encoding error at once.
func (b *Box) Send(t *Turn, f dist.Frame) (full bool, err error) {
	done, full, err := b.direct(t, &f)
	if done {
		return full, err
	}
	if err := b.refuse(&f); err != nil {
		return false, err
	}
	return b.enqueue(f)
}

// direct writes f to the link's buffer. done is false if f must be queued.
func (b *Box) direct(t *Turn, f *dist.Frame) (done, full bool, err error) {
	if !b.state().Direct() {
		return false, false, nil
	}
	g := written.Get().(*dist.Frame)
	*g = *f
	n, err := b.link.Write(g)
	*g = dist.Frame{}
	written.Put(g)
	if err == nil {
		return true, b.written(t, n, f), nil
	}
	if f.Op == dist.OpSend && f.ID == 0 && isUnfit(err) { // for a receipt, the receipt reports it
		return true, false, err
	}
	return false, false, nil
}

// refuse returns the encoding error of a message that is to be queued.
func (b *Box) refuse(f *dist.Frame) error {
	if f.Op != dist.OpSend || f.ID != 0 || b.check == nil || isPlain(f) {
		return nil
	}
	switch {
	case !f.Ref.IsZero():
		return b.check.Check(f.Ref, f.Payload)
	case f.Name != "":
		return b.check.Check(f.Name, f.Payload)
	}
	return b.check.Check(f.To, f.Payload)
}

// written are frames for links to write: their pointers escape to the heap.
var written = sync.Pool{New: func() any { return new(dist.Frame) }}

// isUnfit reports whether a link has refused a frame because of its contents.
func isUnfit(err error) bool {
	_, unfit := err.(*wire.EncodeError)
	return unfit
}

// Message is Send for a message from one process to another.
func (b *Box) Message(t *Turn, from, to wire.PID, msg any) (full bool, err error) {
	if b.state().Direct() && b.quick != nil {
		n, err := b.quick.Send(from, to, msg)
		if err == nil {
			return b.written(t, n, nil), nil
		}
		if isUnfit(err) {
			return false, err
		}
		f := dist.Frame{Op: dist.OpSend, From: from, To: to, Payload: msg}
		if err := b.refuse(&f); err != nil {
			return false, err
		}
		return b.enqueue(f)
	}
	return b.Send(t, dist.Frame{Op: dist.OpSend, From: from, To: to, Payload: msg})
}

// Bytes is Message for a binary that the caller may reuse when Bytes returns. taken is false if nothing was done.
func (b *Box) Bytes(t *Turn, from, to wire.PID, msg []byte) (full, taken bool) {
	if !b.state().Direct() || b.quick == nil {
		return false, false
	}
	n, taken := b.quick.SendBytes(from, to, msg)
	return taken && b.written(t, n, nil), taken
}

// written is called with the number of bytes in the link after f, or nil for a message.
func (b *Box) written(t *Turn, n int, f *dist.Frame) (full bool) {
	if int64(n) <= b.soft.Load() {
		b.scheduleFlush(t)
		return false
	}
	if full = b.weigh(n, f); !full {
		b.scheduleFlush(t)
		return false
	}
	b.on(Needed)
	b.level.Store(int64(n))
	return true
}

// weigh is written for more than a little in the link.
func (b *Box) weigh(n int, f *dist.Frame) (full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	full = b.backlog.write(n, f)
	b.softenLocked()
	return full
}

// softenLocked updates soft.
func (b *Box) softenLocked() {
	if soft := int64(b.backlog.soft()); soft != b.soft.Load() && !b.backlog.over {
		b.soft.Store(soft)
	}
}

// enqueue leaves a frame to the writer: there is no link yet, or it cannot accept the frame now.
func (b *Box) enqueue(f dist.Frame) (full bool, err error) {
	cost := frameCost(&f)
	b.mu.Lock()
	if b.backlog.over {
		b.mu.Unlock()
		return false, ErrOver
	}
	wake := b.step(Queued) == WakeWriter
	b.frames = append(b.frames, f)
	full = b.backlog.queue(&f, cost)
	n := b.backlog.queued
	b.softenLocked()
	b.mu.Unlock()
	b.level.Store(int64(n))
	if wake {
		b.wakeWriter()
	}
	return full, nil
}

// Held reports whether the queue is over its limit, or a sender waits until it is shorter: see Space.
func (b *Box) Held() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Level() > b.backlog.limit || b.waits.held > 0
}

// Waiting returns what is queued now.
func (b *Box) Waiting() Waiting {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.backlog.waiting()
}

// Queue returns the estimated bytes to be encoded, and the number of frames among them that the writer has not taken.
func (b *Box) Queue() (bytes, frames int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.backlog.queued + b.backlog.sum, len(b.frames)
}

// Level returns the number of bytes queued for the writer's next pass, as last seen.
func (b *Box) Level() int { return int(b.level.Load()) }

// Limit returns the number of queued bytes above which senders wait, as set by Init.
func (b *Box) Limit() int { return b.backlog.limit }

// Idle reports whether everything has been written.
func (b *Box) Idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.backlog.over || len(b.frames) == 0 && b.state().Settled()
}

// RequestTick requests a tick.
func (b *Box) RequestTick() {
	b.mu.Lock()
	b.tick = true
	b.mu.Unlock()
	b.on(Needed)
}

// Close ends the box and returns the unwritten frames.
func (b *Box) Close() []dist.Frame {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.step(End)
	left := b.frames
	b.frames = nil
	b.backlog.end()
	b.waits.end()
	return left
}

// hold records that the writer holds f, of size cost, behind a long message of its sender; a negative cost that it no longer
// does.
func (b *Box) hold(f *dist.Frame, cost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backlog.hold(f, cost)
	b.softenLocked()
	if cost < 0 {
		b.waits.wrote(&b.backlog, f.From)
	}
}

// take begins a pass of the writer: it returns all frames in the queue; spent is the slice of the previous pass, to be
// reused; left is the link's rest of long messages.
func (b *Box) take(spent []dist.Frame, left int) (frames []dist.Frame, tick bool) {
	if cap(spent) > keptFrames {
		spent = nil
	}
	clear(spent)
	b.mu.Lock()
	defer b.mu.Unlock()
	frames, tick = b.frames, b.tick
	b.backlog.take(left)
	b.softenLocked()
	b.frames, b.tick = spent[:0], false
	b.level.Store(0)
	b.waits.let(&b.waits.space, b.backlog.quota.Room(b.backlog.limit))
	return frames, tick
}

// settled records that everything taken by the last pass has been sent, and nothing is left. It is for the writer.
func (b *Box) settled() {
	if !b.backlog.busy() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backlog.settle()
	b.softenLocked()
}

// Rest records that the writer has nothing to write and will sleep, after a last look at link. It returns false if there is
// something to write.
func (b *Box) Rest(link dist.Link) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.frames) > 0 || b.tick || b.waits.space.Len() > 0 {
		return false
	}
	if b.link == nil {
		b.link = link
		b.quick, _ = link.(links.MessageWriter)
		b.prompt, _ = link.(links.TryFlusher)
	}
	b.backlog.pass(b.backlog.linked)
	b.softenLocked()
	b.step(Rest)
	return true
}
