package port

import (
	"errors"
	"fmt"
	"time"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/seqtrace"
)

// act does what a frame of the program says. The error says what is wrong with it.
func (p *port) act(op any) error {
	switch op := op.(type) {
	case opReply:
		return p.reply(op.id, func(from node.From) { p.c.Reply(from, op.value) })
	case opError:
		return p.reply(op.id, func(from node.From) { from.Fail(&Error{op.reason}) })
	case opTrace:
		p.trace = op.label
	case opSend:
		defer p.labelled()()
		p.send(op.to, op.msg)
	case opCall:
		defer p.labelled()()
		return p.ask(op)
	case opReady:
		if p.starting && !p.ending {
			p.starting = false
			p.timer.Stop()
			p.c.Announce()
		}
	case opLink:
		return p.link(op.pid)
	case opUnlink:
		delete(p.links, op.pid)
		p.c.Unlink(op.pid)
	case opMonitor:
		return p.monitor(op)
	case opDemonitor:
		if ref, ok := p.monitors[op.id]; ok {
			delete(p.monitors, op.id)
			delete(p.refs, ref)
			p.c.DemonitorFlush(ref)
		}
	case opTrap:
		p.trap = op.on
	case opSignal:
		p.c.Exit(op.pid, op.reason)
	case opExit:
		p.stop(op.reason)
	}
	return nil
}

// labelled gives the port the trace that the program has named for what it sends next. restore takes it back.
func (p *port) labelled() (restore func()) {
	label := p.trace
	if p.trace = nil; label == nil {
		return func() {}
	}
	before, had := seqtrace.Label(p.c)
	seqtrace.SetLabel(p.c, label)
	return func() {
		if seqtrace.Clear(p.c); had {
			seqtrace.SetLabel(p.c, before)
		}
	}
}

// Error is a program's answer to a call instead of a reply.
type Error struct{ Reason any }

// Error is the reason in Erlang's syntax.
func (e *Error) Error() string { return "port: the program answered with an error: " + text(e.Reason) }

// term is the reason: what Erlang's callers find in {error, Reason}.
func (e *Error) term() any { return e.Reason }

func (p *port) reply(id int64, answer func(node.From)) error {
	from, ok := p.calls[id]
	if !ok {
		return fmt.Errorf("an answer to %d, which is not an open call", id)
	}
	delete(p.calls, id)
	answer(from)
	return nil
}

// at is a name on a node, or on this one.
func (p *port) at(d dest) node.At {
	if d.at.Node == "" {
		d.at.Node = p.c.Node().Name()
	}
	return d.at
}

// send sends as Erlang's does, but only logs that nobody has a name: the program does not wait for an answer.
func (p *port) send(to dest, msg any) {
	var err error
	switch {
	case !to.pid.IsZero():
		err = p.c.Send(to.pid, msg)
	case !to.alias.IsZero():
		err = p.c.Send(to.alias, msg)
	default:
		err = p.c.Send(p.at(to), msg)
	}
	if err != nil {
		p.warn("port: could not send a message of the program", "to", to.String(), "error", err)
	}
}

// String describes d for logs.
func (d dest) String() string {
	switch {
	case !d.pid.IsZero():
		return d.pid.String()
	case !d.alias.IsZero():
		return d.alias.String()
	case d.at.Node == "":
		return string(d.at.Name)
	}
	return d.at.String()
}

// ask makes a call for the program.
func (p *port) ask(op opCall) error {
	if _, twice := p.asks[op.id]; twice {
		return fmt.Errorf("a call with the id %d, which another open call has", op.id)
	}
	if len(p.asks) >= p.cfg.Open {
		return fmt.Errorf("call: %w", errTooMany)
	}
	a := &ask{id: op.id}
	p.asks[op.id] = a
	if op.wait > 0 {
		a.timer = time.AfterFunc(op.wait, func() { p.box.note(expired{a}) })
	}
	switch to := op.to; {
	case !to.pid.IsZero():
		node.SendRequest(p.c, to.pid, a, op.body)
	case !to.alias.IsZero():
		node.SendRequest(p.c, to.alias, a, op.body)
	default:
		node.SendRequest(p.c, p.at(to), a, op.body)
	}
	return nil
}

var errTooMany = errors.New("more than Config.Open allows at a time")

func (p *port) link(pid node.PID) error {
	if _, there := p.links[pid]; !there && len(p.links) >= p.cfg.Open {
		return fmt.Errorf("link: %w", errTooMany)
	}
	p.links[pid] = struct{}{}
	p.c.Link(pid)
	return nil
}

func (p *port) monitor(op opMonitor) error {
	if _, twice := p.monitors[op.id]; twice {
		return fmt.Errorf("a monitor with the id %d, which another monitor has", op.id)
	}
	if len(p.monitors) >= p.cfg.Open {
		return fmt.Errorf("monitor: %w", errTooMany)
	}
	var ref node.Ref
	switch to := op.to; {
	case !to.pid.IsZero():
		ref = p.c.Monitor(to.pid)
	case !to.alias.IsZero():
		return errors.New("monitor: want a process, not a reference")
	default:
		ref = p.c.Monitor(p.at(to))
	}
	p.monitors[op.id], p.refs[ref] = ref, op.id
	return nil
}

func init() {
	termof.Enter((*Error).term)
}
