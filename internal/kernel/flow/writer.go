package flow

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/mailbox/ring"
	"github.com/actornode/actornode/internal/wire/links"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Owner is notified of what a [Writer] does not send.
type Owner interface {
	// Lose is called with frames that are not sent because the connection has ended.
	Lose(frames []dist.Frame)
	// Unfit is called with a frame that the link has refused, because it holds a value that is not a term, or too much, or
	// something that the peer does not understand. If it is an exit signal or a Down, whose receiver must be notified, the
	// writer sends it with another reason. It returns the replacement of the reason, or nil for its text.
	Unfit(f *dist.Frame, why *wire.EncodeError) (instead any)
}

// Writer writes frames from a Box to a link. While a long message of a sender is being sent, it holds further frames of that
// sender; those of others continue.
type Writer struct {
	Box   *Box
	Link  dist.Link
	Done  <-chan struct{} // closed when the connection has ended
	Owner Owner
	Env   env.Env

	held   map[wire.PID][]dist.Frame // by sender, in order; no empty values
	behind []wire.PID                // keys of held whose own long message is being sent
	long   ring.Ring[wire.PID]       // keys of held whose next message is long and has no place in the link; in order
	limit  links.LongLimiter         // nil if Link has no such limit
	left   int                       // bytes of long messages in the link
}

// Run writes until Done is closed, and returns nil, or until the link fails, and what the peer has sent before has had a
// moment to be read.
func (w *Writer) Run() error {
	w.held = make(map[wire.PID][]dist.Frame)
	w.limit, _ = w.Link.(links.LongLimiter)
	err := w.run()
	if err != nil {
		w.Box.step(End)
		select {
		case <-w.Done:
		case <-w.Env.After(drainTime):
		}
		err = fmt.Errorf("writing to the connection failed: %w", err)
	}
	return err
}

// LoseHeld reports what the writer still holds to the owner. It is called after Run, when the connection has ended.
func (w *Writer) LoseHeld() {
	for _, from := range w.behind {
		w.Owner.Lose(w.held[from])
	}
	for w.long.Len() > 0 {
		w.Owner.Lose(w.held[w.long.Shift()])
	}
}

// run is Run without draining.
func (w *Writer) run() error {
	var batch []dist.Frame
	for {
		var tick bool
		batch, tick = w.Box.take(batch, w.left)
		if done, err := w.all(batch); err != nil {
			w.Owner.Lose(batch[done:])
			return err
		}
		more, err := w.flush(tick)
		if err != nil {
			return err
		}
		if more || !w.Box.Rest(w.Link) {
			if len(batch) == 0 && !more {
				runtime.Gosched() // senders have been released: the next pass is for their messages
			}
			continue
		}
		if more, err = w.flush(false); err != nil { // frames that have bypassed the queue meanwhile
			return err
		}
		if more {
			w.Box.on(LookedMore)
		} else {
			w.Box.settled()
			w.Box.step(Looked)
		}
		select {
		case <-w.Box.wake:
			runtime.Gosched() // let goroutines woken together write first, to flush it all at once
		case <-w.Done:
			return nil
		}
	}
}

// all writes a batch to the link, or holds it. After an error, done frames have been handled.
func (w *Writer) all(batch []dist.Frame) (done int, err error) {
	for i := range batch {
		f := &batch[i]
		if len(w.held) > 0 && w.held[f.From] != nil {
			w.hold(f, nil)
			continue
		}
		n, err := w.one(f)
		if errors.Is(err, dist.ErrLater) {
			w.hold(f, err)
			continue
		}
		if err == nil && n >= flushAt {
			_, err = w.flush(false)
		}
		if err != nil {
			return i, err
		}
	}
	return len(batch), nil
}

// hold holds a frame that the link has refused, or, if why is nil, that follows held ones of its sender.
func (w *Writer) hold(f *dist.Frame, why error) {
	if why != nil {
		w.wait(f.From, why)
	}
	w.held[f.From] = append(w.held[f.From], *f)
	w.Box.hold(f, frameCost(f))
}

// wait makes a sender in held wait, according to the link's answer.
func (w *Writer) wait(from wire.PID, why error) {
	if errors.Is(why, links.ErrLong) {
		w.long.Push(from)
	} else {
		w.behind = append(w.behind, from)
	}
}

// one writes a frame to the link.
func (w *Writer) one(f *dist.Frame) (buffered int, err error) {
	buffered, err = w.Link.Write(f)
	if err != nil && !errors.Is(err, dist.ErrLater) {
		err = w.unfit(f, err)
	}
	return buffered, err
}

// flush sends what the link holds, or a part of it, and then writes held frames that may be written now. more reports that
// there still is something to send.
func (w *Writer) flush(tick bool) (more bool, err error) {
	left, err := w.Link.Flush(tick)
	w.left = left
	more = left > 0 || len(w.held) > 0
	behind := w.behind
	w.behind = w.behind[:0]
	for _, from := range behind {
		if err != nil {
			w.behind = append(w.behind, from)
		} else if why := w.resume(from); errors.Is(why, dist.ErrLater) {
			w.wait(from, why)
		} else if why != nil {
			w.behind, err = append(w.behind, from), why
		}
	}
	for err == nil && w.long.Len() > 0 && (w.limit == nil || !w.limit.LongFull()) {
		switch why := w.resume(w.long.First()); {
		case errors.Is(why, links.ErrLong):
			return more, nil
		case errors.Is(why, dist.ErrLater):
			w.wait(w.long.Shift(), why)
		case why != nil:
			return more, why
		default:
			w.long.Shift()
		}
	}
	return more, err
}

// resume writes the held frames of a sender, until the link refuses one.
func (w *Writer) resume(from wire.PID) error {
	frames := w.held[from]
	for len(frames) > 0 {
		f := frames[0]
		cost := frameCost(&f)
		if _, err := w.one(&frames[0]); err != nil {
			w.held[from] = frames
			return err
		}
		w.Box.hold(&f, -cost)
		frames = frames[1:]
	}
	delete(w.held, from)
	return nil
}

// unfit handles a frame that the link has refused. It returns errors that are not about the frame.
func (w *Writer) unfit(f *dist.Frame, err error) error {
	var why *wire.EncodeError
	if !errors.As(err, &why) {
		return err
	}
	instead := w.Owner.Unfit(f, why)
	switch f.Op {
	case dist.OpExit, dist.OpDown, dist.OpSignal:
		if instead == nil {
			instead = reasonText(f.Payload)
		}
		f.Payload = instead
		if _, err := w.Link.Write(f); !errors.As(err, &why) {
			return err
		}
	}
	return nil
}

// reasonText returns a text that replaces a reason which cannot be sent.
func reasonText(reason any) string {
	text := []rune(fmt.Sprintf("%.*v", maxReason, reason))
	return string(text[:min(len(text), maxReason)])
}
