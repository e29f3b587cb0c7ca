package peers

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/wire/fault"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Messages to remote processes, and handling of those that cannot be sent.

// Send puts a message into the queue to the peer. If the queue is full, a sender that can block waits: see Pace.
func (p *Peer) Send(a *process.Acting, f dist.Frame) error {
	p.System.Traces().Away(a.PID(), f.To, f.Name, p.Name, f.Payload)
	full, err := p.Box.Send(a.OutboxTurn(), f)
	if err != nil {
		return p.unsent(f, err)
	}
	if full {
		p.PaceAfter(a, f.Payload)
	}
	return nil
}

// Message is Send for a message to a remote process.
func (p *Peer) Message(a *process.Acting, to wire.PID, msg any) error {
	p.System.Traces().Away(a.PID(), to, "", "", msg)
	from := a.Sender()
	full, err := p.Box.Message(a.OutboxTurn(), from, to, msg)
	if err != nil {
		return p.unsent(dist.Frame{Op: dist.OpSend, From: from, To: to, Payload: msg}, err)
	}
	if full {
		p.PaceAfter(a, msg)
	}
	return nil
}

// Answer sends the message of a frame, an answer, to a process there. It never waits: see node.ClusterLimits.Answers. It goes
// behind what its sender has sent before. If the answer is a reply, answer.Answer, and cannot be sent, the caller that waits for
// it is told.
func (p *Peer) Answer(a *process.Acting, to process.Target, answer dist.Frame) (err error) {
	f := frameFor(a, to, answer.Payload, answer.Token)
	f.Answer, f.Lossy = answer.Answer, answer.Lossy
	p.System.Traces().Away(a.PID(), f.To, f.Name, p.Name, f.Payload)
	if f.Answer {
		_, err = p.Box.Put(a.OutboxTurn(), f)
	} else {
		f.Answer = true
		_, err = p.Box.Send(a.OutboxTurn(), f)
		f.Answer = false // the error goes to its sender
	}
	if err != nil {
		err = p.unsent(f, err)
	}
	return err
}

// Pace blocks while the peer's queue is over its limit: until there is space, the connection has ended or the calling process
// is killed. Every operation that a process starts itself ends with Pace; those caused by its exit, or by the peer, never
// wait. An actor gives up its stage before it waits.
func (p *Peer) Pace(a *process.Acting) { p.PaceAfter(a, nil) }

// PaceAfter is Pace after msg has been sent.
func (p *Peer) PaceAfter(a *process.Acting, msg any) {
	sender := a.Sender()
	w := p.Box.Space(sender, msg)
	if w == nil {
		return
	}
	a.Process.WaitsFor(calls.WaitSpace, wire.At{Node: p.Name})
	defer a.Process.WaitsNoMore()
	var killed <-chan struct{}
	if a.Process != nil {
		killed = a.Process.Context().Done()
	}
	for ; w != nil; w = p.Box.Space(sender, msg) {
		a.Block()
		select {
		case <-w.Over:
			if !w.Again {
				return
			}
		case <-killed:
			p.Box.Forget(w)
			return
		}
	}
}

// Lose implements flow.Owner.
func (p *Peer) Lose(frames []dist.Frame) {
	for _, f := range frames {
		p.lose(f)
	}
}

// lose makes a dead letter of a frame that will not be sent and whose loss is not reported otherwise.
func (p *Peer) lose(f dist.Frame) {
	if !f.Lossy {
		p.bury(f, deadletter.NotConnected, p.Why())
	}
}

// bury makes a dead letter of the message in f, if there is one.
func (p *Peer) bury(f dist.Frame, cause deadletter.Cause, why error) {
	if l, ok := watch.LetterOfFrame(f, cause); ok {
		l.Node, l.Why = p.Name, why
		p.System.DeadLetter(l)
	}
}

// unsent handles a frame that the box has not accepted. The error is about the value in it, and is for the sender; that of a
// reply, f.Answer, is not.
func (p *Peer) unsent(f dist.Frame, err error) error {
	if why, ok := err.(*wire.EncodeError); ok {
		if f.Answer {
			p.Unfit(&f, why)
		} else {
			p.tellUnfit(&f, why)
		}
		if _, itself := f.Payload.(wire.Tuple); itself {
			return err
		}
		return p.ofValue(why, f.Payload)
	}
	p.lose(f) // no error: as for any message to the dead
	return nil
}

// Unfit implements flow.Owner. It logs the error if there is no one to report it to: the sender has continued. The caller of a
// function whose result cannot be sent gets the error.
func (p *Peer) Unfit(f *dist.Frame, why *wire.EncodeError) (instead any) {
	if f.Op == dist.OpDown {
		ours := &wire.EncodeError{Err: fault.Below(why.Err, "{3}")}
		term := p.System.Values.ErrorTerm(fmt.Errorf("node: the result cannot be sent: %w", ours))
		if o, ok := erpc.Unsent(f.Payload, term); ok {
			return o
		}
	}
	if !p.tellUnfit(f, why) {
		p.c.cfg.Log.Warn("a signal was not sent: it holds a value that is not an Erlang term, or is too large", "peer", string(p.Name),
			"signal", f.Op.String(), "error", why)
	}
	return nil
}

// tellUnfit makes a dead letter of a message that cannot be sent, and reports the error to the caller that waits for an answer.
// For a reply that is an error it sends the text. told reports whether anyone was notified.
func (p *Peer) tellUnfit(f *dist.Frame, why *wire.EncodeError) (told bool) {
	if plain, ok := values.TextReply(f); ok {
		p.Put(plain)
		return true
	}
	a := &p.System.Plain
	why = p.ofValue(why, f.Payload)
	switch f.Op {
	case dist.OpSend:
		p.bury(*f, deadletter.NotATerm, why)
		msg := calls.Message(f)
		if ref, ok := calls.RequestRef(msg); ok {
			told = p.answer(a, ref, nil, why, false)
		}
		told = p.System.Host.Unanswered(f.Payload, why, false) || told
		if _, ok := calls.ReplyRef(msg); ok && f.Answer { // a caller waits
			again := *f
			again.Payload = wire.Tuple{msg.(wire.Tuple)[0], p.System.Values.Reply(why)}
			p.Put(again)
			told = true
		}
		if f.ID != 0 {
			told = p.answer(a, p.System.Origin.RefOf(f.ID), nil, why, false) || told
		}
	case dist.OpSpawn:
		p.bury(*f, deadletter.NotATerm, why)
		told = p.answer(a, f.Ref, nil, why, false)
	}
	return told
}

// ofValue returns the error for a message as the error for the value in it that a program has sent, called or replied with:
// its path starts there.
func (p *Peer) ofValue(why *wire.EncodeError, msg any) *wire.EncodeError {
	step := p.c.cfg.Node.BodyPath(msg)
	if m, ok := msg.(wire.Tuple); ok {
		if _, ok := calls.RequestRef(m); ok {
			step = "{3}"
		} else if _, ok := calls.ReplyRef(m); ok {
			step = "{2}"
		}
	}
	return &wire.EncodeError{Err: fault.Below(why.Err, step)}
}
