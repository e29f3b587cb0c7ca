package inbox

import (
	"context"

	"github.com/actornode/actornode/mailbox"
)

// line is the list of senders that wait for space, the longest waiting first.
type line struct{ first, last *Place }

// Place is the place of one sender, with its message, in the line of a [Bounded].
type Place struct {
	box        *Bounded
	entry      entry
	next, prev *Place
	over       chan struct{}  // closed when the wait is over
	answer     mailbox.Result // result of the push; set before over is closed
}

func (l *line) add(p *Place) {
	p.prev = l.last
	if p.prev != nil {
		p.prev.next = p
	} else {
		l.first = p
	}
	l.last = p
}

func (l *line) remove(p *Place) {
	if p.prev != nil {
		p.prev.next = p.next
	} else {
		l.first = p.next
	}
	if p.next != nil {
		p.next.prev = p.prev
	} else {
		l.last = p.prev
	}
	p.next, p.prev = nil, nil
}

// admit adds the messages of the first waiting senders, as many as fit. If b is closed, it releases all senders.
func (b *Bounded) admit() {
	for p := b.line.first; p != nil && (b.closed || b.fits(p.entry.size)); p = b.line.first {
		b.line.remove(p)
		if p.answer = mailbox.Closed; !b.closed {
			p.answer = b.put(p.entry)
		}
		p.entry = entry{}
		close(p.over)
	}
}

// Join pushes msg, or puts it in line until it fits: see [Place.Wait], which must follow.
func (b *Bounded) Join(msg any) *Place {
	p := &Place{box: b, entry: entry{msg, b.size(msg)}, over: make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.line.add(p)
	b.admit()
	return p
}

// Waits reports whether the message is still waiting.
func (p *Place) Waits() bool {
	select {
	case <-p.over:
		return false
	default:
		return true
	}
}

// Wait waits until the message is added or the box is closed, and returns the result: see [mailbox.Waiter]. If ctx ends
// first, the message leaves the line, and the error is the cause.
func (p *Place) Wait(ctx context.Context) (mailbox.Result, error) {
	select {
	case <-p.over:
	case <-ctx.Done():
		if p.Leave() {
			return mailbox.Full, context.Cause(ctx)
		}
	}
	return p.answer, nil
}

// Leave gives up the place. It reports whether the message was still waiting: if not, Wait returns the result at once.
func (p *Place) Leave() bool {
	b := p.box
	b.mu.Lock()
	defer b.mu.Unlock()
	if !p.Waits() {
		return false
	}
	b.line.remove(p)
	b.admit() // the next may need less space
	return true
}

// Blocks implements Waiter.
func (b *Bounded) Blocks() bool { return b.limits.Policy == mailbox.Block }

// PushWait implements Waiter.
func (b *Bounded) PushWait(ctx context.Context, msg any) (mailbox.Result, error) {
	if !b.Blocks() {
		return b.Push(msg), nil
	}
	return b.Join(msg).Wait(ctx)
}
