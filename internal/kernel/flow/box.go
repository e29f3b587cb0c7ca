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

// Box is what waits to be written to a peer: see the package comment. It is made by
// [Box.Init].
type Box struct {
	soft atomic.Int64  // up to so many bytes in the link there is nothing to do about them
	wake chan struct{} // capacity 1: for the writer

	flushing atomic.Uint64 // a FlushState

	link   dist.Link           // set before flushing is direct for the first time
	quick  links.MessageWriter // nil: link has none
	check  links.Checker       // set once; nil: nothing is checked
	prompt links.TryFlusher
	level  atomic.Int64 // bytes that wait for the writer's next pass, as last seen

	mu      sync.Mutex
	frames  []dist.Frame
	backlog backlog
	tick    bool // a tick is due
	waits   waits
}

// ErrOver says that the connection is over.
var ErrOver = errors.New("node: the connection has ended")

// Init makes b ready. limit is how many bytes may wait until senders are held up; q counts
// what waits for all peers, nil: nothing does; check is asked about messages that are to wait,
// nil: nothing is.
func (b *Box) Init(limit int, q *limits.Quota, check links.Checker) {
	b.wake, b.check = make(chan struct{}, 1), check
	b.backlog = backlog{limit: limit, quota: q}
	b.soft.Store(int64(b.backlog.soft()))
}

// Direct reports whether what is put goes into the link's buffer at once. So the peer is
// connected.
func (b *Box) Direct() bool { return b.state().Direct() }

// Put adds a frame. full: more waits now than should. t is the turn that the frame is put in,
// nil: none. The error is [ErrOver], or a [*wire.EncodeError] for a message that cannot be
// encoded, where it is encoded at once: it is not in the box then. What is wrong with one that
// waits the writer finds, and tells its owner.
func (b *Box) Put(t *Turn, f dist.Frame) (full bool, err error) {
	done, full, err := b.direct(t, &f)
	if done {
		return full, err
	}
	return b.enqueue(f)
}

// Send is Put for a frame whose sender is to know at once what is wrong with the message in it.
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

// direct writes f into the link's buffer. done false: it is for the queue.
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
	if f.Op == dist.OpSend && f.ID == 0 && isUnfit(err) { // a receipt says so itself
		return true, false, err
	}
	return false, false, nil
}

// refuse returns what is wrong with a message that is to wait.
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

// written are frames for links to write: what they get a pointer to is on the heap.
var written = sync.Pool{New: func() any { return new(dist.Frame) }}

// isUnfit reports whether a link has refused a frame because of what is in it.
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

// Bytes is Message for a binary that is the caller's again when Bytes returns. taken false:
// nothing has happened.
func (b *Box) Bytes(t *Turn, from, to wire.PID, msg []byte) (full, taken bool) {
	if !b.state().Direct() || b.quick == nil {
		return false, false
	}
	n, taken := b.quick.SendBytes(from, to, msg)
	return taken && b.written(t, n, nil), taken
}

// written is told what the link holds after f; nil: after a message.
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

// weigh is written where there is more in the link than a little.
func (b *Box) weigh(n int, f *dist.Frame) (full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	full = b.backlog.write(n, f)
	b.softenLocked()
	return full
}

// softenLocked says anew up to how many bytes in the link there is nothing to do about them.
func (b *Box) softenLocked() {
	if soft := int64(b.backlog.soft()); soft != b.soft.Load() && !b.backlog.over {
		b.soft.Store(soft)
	}
}

// enqueue leaves a frame to the writer: there is no link yet, or it cannot take
// the frame now.
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

// Held reports whether more waits than may, or a sender waits for less: see Space.
func (b *Box) Held() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Level() > b.backlog.limit || b.waits.held > 0
}

// Waiting returns what waits now.
func (b *Box) Waiting() Waiting {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.backlog.waiting()
}

// Queue returns the bytes that wait to be encoded, estimated, and the frames among them that
// the writer has not taken.
func (b *Box) Queue() (bytes, frames int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.backlog.queued + b.backlog.sum, len(b.frames)
}

// Level returns how many bytes wait for the writer's next pass, as last seen. Limit returns
// how many may until senders are held up.
func (b *Box) Level() int { return int(b.level.Load()) }

// Limit returns what Init was given.
func (b *Box) Limit() int { return b.backlog.limit }

// Idle reports whether all has been written.
func (b *Box) Idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.backlog.over || len(b.frames) == 0 && b.state().Settled()
}

// RequestTick asks for a tick.
func (b *Box) RequestTick() {
	b.mu.Lock()
	b.tick = true
	b.mu.Unlock()
	b.on(Needed)
}

// Close ends the box and returns what was not written.
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

// hold notes that the writer holds f, which costs so much, behind a long message of its
// sender; less than nothing: no longer.
func (b *Box) hold(f *dist.Frame, cost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backlog.hold(f, cost)
	b.softenLocked()
	if cost < 0 {
		b.waits.wrote(&b.backlog, f.From)
	}
}

// take begins a pass of the writer: it returns all that waits in the queue; spent
// is the slice of the time before, to be used again; left is what the link has of long
// messages.
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

// settled says that what the last pass has taken has gone, and nothing is left. It is
// the writer's.
func (b *Box) settled() {
	if !b.backlog.busy() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backlog.settle()
	b.softenLocked()
}

// Rest says that the writer has nothing to write and will sleep, once it has
// looked at link again. False: there is something.
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
