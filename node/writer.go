package node

import (
	"errors"
	"fmt"
	"time"

	"github.com/actornode/actornode/node/internal/flush"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// writer is the goroutine that writes to a peer: started when the peer is
// connected, ended by its end, waited for by Node.Stop. Signals of a sender whose
// long message is under way it holds until that has left; those of others go on.
type writer struct {
	p    *peer
	held map[PID][]dist.Frame // by sender, in order; none is empty
	left int                  // bytes of long messages in the link
}

func (p *peer) write() {
	defer p.n.dist.wg.Done()
	w := writer{p: p, held: make(map[PID][]dist.Frame)}
	if err := w.run(); err != nil {
		p.box.step(flush.End)
		select { // what the peer has said before it went is still to be read
		case <-p.done:
		case <-time.After(drainTime):
		}
		p.end(fmt.Errorf("writing to the connection failed: %w", err))
	}
	for _, frames := range w.held {
		p.n.loseAll(frames)
	}
}

// run writes until p is over; nil, or until the link fails.
func (w *writer) run() error {
	var batch []dist.Frame
	for {
		var tick bool
		batch, tick = w.p.box.take(batch, w.left)
		if done, err := w.all(batch); err != nil {
			w.p.n.loseAll(batch[done:])
			return err
		}
		more, err := w.flush(tick)
		if err != nil {
			return err
		}
		if more || !w.p.box.rest(w.p.link) {
			continue
		}
		if more, err = w.flush(false); err != nil { // what has come past the queue meanwhile
			return err
		}
		if more {
			w.p.box.on(flush.LookedMore)
		} else {
			w.p.box.settled()
			w.p.box.step(flush.Looked)
		}
		select {
		case <-w.p.box.wake:
		case <-w.p.done:
			return nil
		}
	}
}

// flushAt is how many bytes are written at once, at least.
const flushAt = 64 << 10

// all writes a batch into the link, or holds it. After an error done frames have
// been taken care of.
func (w *writer) all(batch []dist.Frame) (done int, err error) {
	for i := range batch {
		f := &batch[i]
		if len(w.held) > 0 && w.held[f.From] != nil {
			w.hold(f)
			continue
		}
		n, err := w.one(f)
		if errors.Is(err, dist.ErrLater) {
			w.hold(f)
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

func (w *writer) hold(f *dist.Frame) {
	w.held[f.From] = append(w.held[f.From], *f)
	w.p.box.held(f, frameCost(f))
}

// one writes a frame into the link.
func (w *writer) one(f *dist.Frame) (buffered int, err error) {
	buffered, err = w.p.link.Write(f)
	if err != nil && !errors.Is(err, dist.ErrLater) {
		err = w.p.unfit(f, err)
	}
	return buffered, err
}

// flush sends what the link holds, or a part of it, and then writes what has been
// held and may go now. more: there is something to send still.
func (w *writer) flush(tick bool) (more bool, err error) {
	left, err := w.p.link.Flush(tick)
	w.left = left
	more = left > 0
	for from, frames := range w.held {
		if err != nil {
			break
		}
		more = true
		for len(frames) > 0 && err == nil {
			f := frames[0]
			cost := frameCost(&f)
			if _, err = w.one(&frames[0]); err == nil {
				w.p.box.held(&f, -cost)
				frames = frames[1:]
			}
		}
		if errors.Is(err, dist.ErrLater) {
			err = nil
		}
		if w.held[from] = frames; len(frames) == 0 {
			delete(w.held, from)
		}
	}
	return more, err
}

// unfit is for a signal that Write has refused, for it holds what is no term, or
// too much, or what the peer does not understand; other errors it returns. A
// message is a dead letter. A reason is replaced, in its place, for its receiver
// must be told. Who waits for an answer gets the error.
func (p *peer) unfit(f *dist.Frame, err error) error {
	var why *wire.EncodeError
	if !errors.As(err, &why) {
		return err
	}
	p.n.cfg.Log.Warn("a signal was not sent: it holds a value that is not an Erlang term, or is too large", "peer", string(p.name),
		"signal", f.Op.String(), "error", why)
	switch f.Op {
	case dist.OpSend:
		p.n.bury(*f, CauseNotATerm)
		if ref, ok := requestRef(f.Payload); ok {
			p.answer(ref, nil, why)
		}
		if f.ID != 0 {
			p.answer(p.n.origin.RefOf(f.ID), nil, why)
		}
	case dist.OpSpawn:
		p.n.bury(*f, CauseNotATerm)
		p.answer(f.Ref, nil, why)
	case dist.OpMonitor:
		p.down(&dist.Frame{Ref: f.Ref, Payload: wire.Atom("notsup")})
	case dist.OpExit, dist.OpDown, dist.OpSignal:
		text := []rune(fmt.Sprintf("%.*v", maxReason, f.Payload))
		f.Payload = string(text[:min(len(text), maxReason)])
		if _, err := p.link.Write(f); !errors.As(err, &why) {
			return err
		}
	}
	return nil
}

// maxReason is how many characters a reason has at most that stands for one which
// cannot be sent.
const maxReason = 1000
