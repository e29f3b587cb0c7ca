package node

import (
	"time"

	"github.com/actornode/actornode/internal/bias"
	"github.com/actornode/actornode/wire"
)

// To wake the writer costs more than to write: it is another goroutine, perhaps on
// another core. So what goes past the queue while the writer sleeps is sent by those
// who are about to wait for its answer anyway, or have done what they had to do: at
// the end of an actor's turn, of what a frame from the peer has set off, or frames that
// have come together, at the beginning of a call, by a reader that is awake. They try, and
// what the connection does not take at once is the writer's.

// stir sees to it that what has been written into the link leaves soon: by the
// writer, if it is up; by whoever hushes, or at the end of c's turn; or it wakes the
// writer.
func (b *outbox) stir(c *Context) {
	if !b.asleep.Load() {
		return // it looks at the link before it sleeps
	}
	if b.hushed.Load() > 0 {
		b.due.Store(true)
		if b.hushed.Load() > 0 {
			return // it is for speak to see
		}
	}
	if c == nil || !c.owe(b) {
		b.rouse()
	}
}

// hush has what is written wait for speak, which must follow soon, on whatever
// goroutine.
func (b *outbox) hush() { b.hushed.Add(1) }

// speak sends what has waited.
func (b *outbox) speak() {
	b.hushed.Add(-1)
	if b.due.Load() && b.due.Swap(false) {
		b.utter()
	}
}

// mostHushed is after how many frames, or parcels, their answers are sent, at the latest,
// together; before, when nothing else has come.
const mostHushed = 32

// keepQuiet has the answers to one more frame wait.
func (p *peer) keepQuiet() {
	if p.hushed++; p.hushed == 1 {
		p.box.hush()
	}
}

// speakUp sends the answers that have waited.
func (p *peer) speakUp() {
	if p.hushed > 0 {
		p.hushed = 0
		p.box.speak()
	}
}

// fewCalls is how many calls to a peer are under way, at most, if a caller sends its
// request itself. With more of them the writer sends several at a time.
const fewCalls = 4

// lone reports whether few calls to p are under way, and if so hushes: the caller
// speaks before it waits.
func (p *peer) lone() bool {
	p.mu.Lock()
	few := len(p.calls) < fewCalls
	p.mu.Unlock()
	if few {
		p.box.hush()
	}
	return few
}

// askSoon is ask for one who then waits for a start, or a receipt.
func (p *peer) askSoon(c *Context, t ticket, f wire.Frame) {
	if p.lone() {
		defer p.box.speak()
	}
	p.ask(c, t, forStart, &farCall{}, f)
}

// utter sends what is in the link, unless the writer is about to.
func (b *outbox) utter() {
	if b.asleep.Load() && (b.prompt == nil || b.prompt.Try()) {
		b.rouse()
	}
}

const (
	// mostOwed is how many messages of one turn wait for its end: who sends more has
	// the writer send beside it.
	mostOwed = 16
	// longOwed is how long they should wait, at most. A turn that takes longer makes
	// hasteFor turns on that worker wake the writer at once.
	longOwed = 50 * time.Microsecond
	hasteFor = 64
)

// owed is what the turn at hand has left to send. It is the worker's, but for box.
type owed struct {
	count int       // messages
	since time.Time // the first
	haste int       // as many times nothing waits
}

// owe has what has been written into b's link sent at the end of c's turn, or when its
// handler waits, or is seen to take long. False: c's turn has no such end.
func (c *Context) owe(b *outbox) bool {
	if c.w == nil || !c.w.Holds() {
		return false
	}
	switch c.owes.Load() {
	case b:
		c.owed.count++
		return c.owed.count <= mostOwed
	case nil:
		if c.owed.haste > 0 {
			c.owed.haste--
			return false
		}
		b.owing.Add(1)
		c.owed.count, c.owed.since = 1, time.Now()
		c.owes.Store(b)
		c.w.Owe()
		return true
	}
	return false
}

// by is the hand of c's goroutine.
func (c *Context) by() *bias.Hand {
	if c == nil {
		return nil
	}
	return &c.hand
}

// pay sends what c owes. busy: others wait for the stage, so the writer does it.
func (c *Context) pay(busy bool) {
	b := c.owes.Load()
	if time.Since(c.owed.since) > longOwed {
		c.owed.haste = hasteFor
	}
	if busy {
		b.rouse()
	} else {
		b.utter()
	}
	c.owes.Store(nil)
	b.owing.Add(-1)
}

// overdue has the writer send what c owes, whose turn takes long. The watcher calls it.
func (c *Context) overdue() {
	if b := c.owes.Load(); b != nil {
		b.rouse()
	}
}
