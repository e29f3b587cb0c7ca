package node

import (
	"time"

	"github.com/actornode/actornode/node/internal/flush"
	"github.com/actornode/actornode/wire/dist"
)

// To wake the writer costs more than to write: it is another goroutine, perhaps on
// another core. So what goes past the queue while the writer sleeps is sent by those
// who are about to wait for its answer anyway, or have done what they had to do: at
// the end of an actor's turn, of what a frame from the peer has set off, or frames that
// have come together, at the beginning of a call, by a reader that spins. They try, and
// what the connection does not take at once is the writer's. Package flush decides.

func (b *outbox) state() flush.State { return flush.State(b.flushing.Load()) }

// step takes a step, and leaves to the caller what is to be done.
func (b *outbox) step(e flush.Event) flush.Action {
	for {
		was := b.flushing.Load()
		next, a := flush.Step(flush.State(was), e)
		if uint64(next) == was || b.flushing.CompareAndSwap(was, uint64(next)) {
			return a
		}
	}
}

// on takes a step, and does what is to be done.
func (b *outbox) on(e flush.Event) {
	switch b.step(e) {
	case flush.TryFlush:
		b.tryFlush()
	case flush.WakeWriter:
		b.wakeWriter()
	}
}

// tryFlush sends what is in the link, as far as that takes it at once.
func (b *outbox) tryFlush() {
	if b.prompt == nil || b.prompt.Try() {
		b.on(flush.TryLeft)
	}
}

// wakeWriter wakes the writer, for a step has asked for it.
func (b *outbox) wakeWriter() { b.wake <- struct{}{} } // has room: once for each time that the writer sleeps

// scheduleFlush sees to it that what has been written into the link leaves soon: by the
// writer, if it is awake; by whoever defers, or at the end of a's turn; or it wakes the
// writer.
func (b *outbox) scheduleFlush(a *acting) {
	s := b.state()
	if !s.Asleep() {
		return // it looks at the link before it sleeps
	}
	if s.Deferring() == 0 && a.w != nil && a.ctx.deferToTurnEnd(b) {
		return
	}
	b.on(flush.Written)
}

// deferFlush has what is written wait for flushDeferred, which must follow soon, on
// whatever goroutine.
func (b *outbox) deferFlush() { b.step(flush.Defer) }

// flushDeferred sends what has waited.
func (b *outbox) flushDeferred() { b.on(flush.EndDefer) }

// mostDeferred is after how many frames, or parcels, their answers are sent, at the latest,
// together; before, when nothing else has come.
const mostDeferred = 32

// deferAnswers has the answers to one more frame wait.
func (p *peer) deferAnswers() {
	if p.deferred++; p.deferred == 1 {
		p.box.deferFlush()
	}
}

// flushAnswers sends the answers that have waited.
func (p *peer) flushAnswers() {
	if p.deferred > 0 {
		p.deferred = 0
		p.box.flushDeferred()
	}
}

// fewCalls is how many calls to a peer are under way, at most, if a caller sends its
// request itself. With more of them the writer sends several at a time.
const fewCalls = 4

// deferForCall reports whether few calls to p are under way, and if so defers: the caller
// flushes before it waits.
func (p *peer) deferForCall() bool {
	p.mu.Lock()
	few := len(p.calls) < fewCalls
	p.mu.Unlock()
	if few {
		p.box.deferFlush()
	}
	return few
}

// askSoon is ask for one who then waits for a start, or a receipt.
func (p *peer) askSoon(a *acting, t ticket, f dist.Frame) {
	if p.deferForCall() {
		defer p.box.flushDeferred()
	}
	p.ask(a, t, forStart, &farCall{}, f)
}

const (
	// mostInTurn is how many messages of one turn wait for its end: who sends more has
	// the writer send beside it.
	mostInTurn = 16
	// longTurn is how many times longer than the sending at its end a turn takes, from its
	// first message on, whose messages should not have waited. For atOnce turns more on
	// that worker the writer is woken at once.
	longTurn = 8
	atOnce   = 64
)

// deferred is what the turn at hand has left to send. It is the worker's, but for box.
type deferred struct {
	count  int       // messages
	since  time.Time // the first
	atOnce int       // as many times nothing waits
}

// deferToTurnEnd has what has been written into b's link sent at the end of c's turn, or
// when its handler waits, or is seen to take long. False: c's turn has no such end.
func (c *Context) deferToTurnEnd(b *outbox) bool {
	if !c.w.Holds() {
		return false
	}
	switch c.sendsAtEnd.Load() {
	case b:
		c.deferred.count++
		return c.deferred.count <= mostInTurn
	case nil:
		if c.deferred.atOnce > 0 {
			c.deferred.atOnce--
			return false
		}
		b.step(flush.TurnWritten)
		c.deferred.count, c.deferred.since = 1, time.Now()
		c.sendsAtEnd.Store(b)
		c.w.Owe()
		return true
	}
	return false
}

// turnEnded sends what c's turn has left to send. busy: others wait for the stage, so the
// writer does it.
func (c *Context) turnEnded(busy bool) {
	b := c.sendsAtEnd.Load()
	if busy {
		b.on(flush.Needed)
	}
	if b.step(flush.TurnEnd) == flush.TryFlush {
		ended := time.Now()
		b.tryFlush()
		if ended.Sub(c.deferred.since) > longTurn*time.Since(ended) {
			c.deferred.atOnce = atOnce
		}
	}
	c.sendsAtEnd.Store(nil)
}

// overdue has the writer send what c's turn has left to send, for it takes long. The
// watcher calls it.
func (c *Context) overdue() {
	if b := c.sendsAtEnd.Load(); b != nil {
		b.on(flush.Needed)
	}
}
