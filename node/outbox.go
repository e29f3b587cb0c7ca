package node

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/internal/flush"
	"github.com/actornode/actornode/node/internal/quota"
	"github.com/actornode/actornode/wire/dist"
)

// outbox is what waits to be written to a peer: frames in a queue, until the peer
// is connected and wherever the link cannot take them at once; otherwise bytes in
// the link, into which they are encoded by whoever sends.
//
// Invariants:
//
//  1. flushing is what package flush says of when bytes leave, and who sends them; its
//     invariants are there. It is direct only while nothing waits but in the link: not in
//     frames, not in the writer's hands. So what goes past the queue overtakes nothing.
//  2. What a step of flushing asks for is done by the goroutine that has made the step,
//     soon: see outbox.on.
//  3. Who waits for room is let go by the next pass of the writer, and there is
//     one: space wakes the writer. Who waits for messages of its own to be written
//     that a long one of its own holds up is let go when enough of them have been.
//  4. told is what the quota knows of: it differs from what waits here by less than
//     quota.Step, but for what has been sent since the writer's last pass; and it is 0 when
//     nothing waits, and when the box is over.
//  5. Nobody is held up for an answer, which any frame is but a message that says nothing of
//     that. What waits of them, beside the first bytes up to limit in the link, is counted in
//     answers, then in answersHand or answersHeld. longest is the largest of them, or of those
//     that have gone since some have waited.
type outbox struct {
	soft atomic.Int64  // up to so many bytes in the link there is nothing to do about them
	wake chan struct{} // capacity 1: for the writer

	flushing atomic.Uint64 // a flush.State

	link   dist.Link  // set before flushing is direct for the first time
	quick  dist.Quick // nil: link has none
	prompt dist.Prompt
	level  atomic.Int64 // bytes that wait for the writer's next pass, as last seen

	mu     sync.Mutex
	frames []dist.Frame
	bytes  int         // of frames, estimated
	late   map[PID]int // bytes, by sender, that the writer holds; nothing of 0
	sum    int         // of late
	tick   bool        // a tick is due
	over   bool

	// Nil: nobody waits.
	room     chan struct{} // closed by the writer's next pass
	lateRoom chan struct{} // closed when the writer holds less

	linked      int // bytes in the link since the writer's last pass, as last seen
	hand        int // bytes that the writer's last pass has taken
	told        int // see invariant 4
	answers     int // bytes since the last pass; so many more in answersHand, answersHeld
	answersHand int
	answersHeld int
	longest     int // bytes of one answer
	asked       int // answers when the quota was last asked to look

	// Set once.
	limit int
	quota *quota.Quota // nil: none
}

// errOver says that the connection is over.
var errOver = errors.New("node: the connection has ended")

// put adds a frame. full: more waits now than should. c is the context of the actor
// whose turn it is, nil elsewhere.
func (b *outbox) put(a *acting, f dist.Frame) (full bool, err error) {
	if b.state().Direct() {
		g := f // for the heap, only here
		if n, err := b.link.Write(&g); err == nil {
			return b.written(a, n, &g), nil
		}
	}
	return b.enqueue(f)
}

// message is put for a message from one process to another.
func (b *outbox) message(a *acting, from, to PID, msg any) (full bool, err error) {
	if b.state().Direct() && b.quick != nil {
		if n, err := b.quick.Send(from, to, msg); err == nil {
			return b.written(a, n, nil), nil
		}
		return b.enqueue(dist.Frame{Op: dist.OpSend, From: from, To: to, Payload: msg})
	}
	return b.put(a, dist.Frame{Op: dist.OpSend, From: from, To: to, Payload: msg})
}

// copied is message for a binary that is the caller's again. taken false: nothing has
// happened.
func (b *outbox) copied(a *acting, from, to PID, msg []byte) (full, taken bool) {
	if !b.state().Direct() || b.quick == nil {
		return false, false
	}
	n, taken := b.quick.SendBytes(from, to, msg)
	return taken && b.written(a, n, nil), taken
}

// written is told what the link holds after f; nil: after a message.
func (b *outbox) written(a *acting, n int, f *dist.Frame) (full bool) {
	if int64(n) <= b.soft.Load() {
		b.scheduleFlush(a)
		return false
	}
	if full = b.weigh(n, f); !full {
		b.scheduleFlush(a)
		return false
	}
	b.on(flush.Needed)
	b.level.Store(int64(n))
	return true
}

// weigh is written where there is more in the link than a little.
func (b *outbox) weigh(n int, f *dist.Frame) (full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.linked = n
	b.tell()
	full = b.fullLocked(n)
	if full && f != nil && isAnswer(f) {
		b.answered(frameCost(f))
	}
	return full
}

// fullLocked reports whether n bytes are more than may wait.
func (b *outbox) fullLocked(n int) bool {
	if n > b.limit {
		return true
	}
	if n > b.quota.Room(b.limit) {
		b.quota.Queued.Refuse()
		return true
	}
	return false
}

// tell tells the quota what waits here, if that has changed by much. The caller holds mu.
func (b *outbox) tell() {
	if b.over {
		return
	}
	if soft := int64(min(b.limit, b.linked+quota.Step)); soft != b.soft.Load() {
		b.soft.Store(soft)
	}
	now := b.linked + b.hand + b.bytes + b.sum
	if change := now - b.told; change >= quota.Step || change <= -quota.Step || now == 0 && b.told != 0 {
		b.quota.Change(b.told, now)
		b.told = now
	}
}

// isAnswer reports whether nobody is held up for f.
func isAnswer(f *dist.Frame) bool { return f.Answer || f.Op != dist.OpSend }

// answered counts an answer, and has the peer looked at if too many wait. The caller holds
// mu.
func (b *outbox) answered(cost int) {
	b.answers += cost
	b.longest = max(b.longest, cost)
	if q := b.quota; q != nil {
		if n := b.answers + b.answersHand + b.answersHeld; n > q.Of.Answers && n >= 2*b.asked {
			b.asked = n
			q.Ask()
		}
	}
}

// waitingBytes is what waits in an outbox at one moment, in bytes.
type waitingBytes struct {
	outside int // of the link, and in the writer's hands
	linked  int // in the link when it was last seen, or taken from there by the writer's pass that goes on
	answers int // of all
	longest int // of the answers
}

func (b *outbox) waits() waitingBytes {
	b.mu.Lock()
	defer b.mu.Unlock()
	answers := b.answers + b.answersHand + b.answersHeld
	return waitingBytes{b.hand + b.bytes + b.sum, b.linked, answers, min(b.longest, answers)}
}

// enqueue leaves a frame to the writer: there is no link yet, or it cannot take
// the frame now. What is wrong with one is for the writer to find, and to tell.
func (b *outbox) enqueue(f dist.Frame) (full bool, err error) {
	size := frameCost(&f)
	b.mu.Lock()
	if b.over {
		b.mu.Unlock()
		return false, errOver
	}
	wake := b.step(flush.Queued) == flush.WakeWriter
	b.frames = append(b.frames, f)
	b.bytes += size
	b.tell()
	if isAnswer(&f) {
		b.answered(size)
	}
	n := b.bytes
	full = b.fullLocked(n) || b.isLate(f.From)
	b.mu.Unlock()
	b.level.Store(int64(n))
	if wake {
		b.wakeWriter()
	}
	return full, nil
}

// frameCost estimates what a frame takes.
func frameCost(f *dist.Frame) int {
	size := frameSize + mailbox.Size(f.Payload)
	if f.Spawn != nil {
		size += mailbox.Size(f.Spawn.Args)
	}
	return size
}

const frameSize = int(unsafe.Sizeof(dist.Frame{}))

// A sender may have a lateShare of the limit waiting behind a long message of its
// own; when all senders together have lateSum times the limit, nothing more.
const (
	lateShare = 8
	lateSum   = 4
)

// isLate reports whether who has more waiting behind a long message of its own
// than it may. The caller holds mu.
func (b *outbox) isLate(who PID) bool {
	late, limit := b.late[who], b.quota.Room(b.limit)
	return late > limit/lateShare || late > 0 && b.sum > lateSum*limit
}

// space returns what to wait for if the box is over its limit, or what waits of
// who's; nil otherwise.
func (b *outbox) space(who PID) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	full := b.level.Load() > int64(b.quota.Room(b.limit))
	room := &b.room
	switch {
	case b.over:
		return nil
	case b.isLate(who):
		room = &b.lateRoom
	case !full:
		return nil
	}
	if *room == nil {
		*room = make(chan struct{})
	}
	b.on(flush.Needed)
	return *room
}

// held adds to what the writer holds of a sender, or takes it away: the cost of f, or less
// that.
func (b *outbox) held(f *dist.Frame, bytes int) {
	who := f.From
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sum += bytes
	b.tell()
	if isAnswer(f) {
		b.answersHeld += bytes
	}
	if b.late == nil {
		b.late = make(map[PID]int)
	}
	if b.late[who] += bytes; b.late[who] == 0 {
		delete(b.late, who)
	}
	if bytes < 0 {
		letGo(&b.lateRoom)
	}
}

// idle reports whether all has been written.
func (b *outbox) idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over || len(b.frames) == 0 && b.state().Settled()
}

// requestTick asks for a tick.
func (b *outbox) requestTick() {
	b.mu.Lock()
	b.tick = true
	b.mu.Unlock()
	b.on(flush.Needed)
}

// take begins a pass of the writer: it returns all that waits in the queue; spent
// is the slice of the time before, to be used again; left is what the link has of long
// messages.
func (b *outbox) take(spent []dist.Frame, left int) (frames []dist.Frame, tick bool) {
	if cap(spent) > keptFrames {
		spent = nil
	}
	clear(spent)
	b.mu.Lock()
	defer b.mu.Unlock()
	frames, tick = b.frames, b.tick
	b.passed(b.linked + b.bytes + left)
	b.frames, b.bytes, b.tick = spent[:0], 0, false
	b.level.Store(0)
	letGo(&b.room)
	return frames, tick
}

// passed begins a pass that has taken so many bytes: those of the one before have gone.
// The caller holds mu.
func (b *outbox) passed(taken int) {
	if b.answers > 0 || b.answersHand > 0 {
		b.answersHand, b.answers = b.answers, 0
		if b.answersHand+b.answersHeld < b.asked/2 {
			b.asked = 0
		}
		if b.answersHand+b.answersHeld == 0 {
			b.longest = 0
		}
	}
	if taken == 0 && b.hand == 0 && b.told == 0 {
		return
	}
	b.hand, b.linked = taken, 0
	bytes := b.bytes
	b.bytes = 0
	b.tell()
	b.bytes = bytes
}

// settled says that what the last pass has taken has gone, and nothing is left. It is
// the writer's, which alone changes hand and answersHand.
func (b *outbox) settled() {
	if b.hand == 0 && b.answersHand == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hand, b.answersHand = 0, 0
	b.tell()
}

// keptFrames is how long a slice is kept for the next batch.
const keptFrames = 4096

// rest says that the writer has nothing to write and will sleep, once it has
// looked at link again. False: there is something.
func (b *outbox) rest(link dist.Link) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.frames) > 0 || b.tick || b.room != nil {
		return false
	}
	if b.link == nil {
		b.link = link
		b.quick, _ = link.(dist.Quick)
		b.prompt, _ = link.(dist.Prompt)
	}
	b.passed(b.linked)
	b.step(flush.Rest)
	return true
}

// letGo lets those go on who wait for room. The caller holds mu.
func letGo(room *chan struct{}) {
	if *room != nil {
		close(*room)
		*room = nil
	}
}

// close ends the box and returns what was not written.
func (b *outbox) close() []dist.Frame {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	b.step(flush.End)
	left := b.frames
	b.frames = nil
	b.quota.Change(b.told, 0)
	b.told = 0
	letGo(&b.room)
	letGo(&b.lateRoom)
	return left
}
