package peers

import (
	"fmt"
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/flow"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Calls, spawns and receipts: what local processes wait for from remote nodes.

// ended returns the result of r after a Down of the called process.
func (r *Request) ended(reason any) (v any, err error) {
	sys := r.peer.System
	switch name := r.Ends.Name; {
	case r.Kind == ByResult:
		if o, ok := erpc.ReadOutcome(r.Ref, reason); ok {
			return o.Opened(sys.Values.ReadErrorTerm).Result()
		}
	case name != "" && reason == process.NoProc && !tables.IsAlias(name):
		return nil, fmt.Errorf("%w: %s", process.ErrNoName, name) // as for a local process
	}
	return nil, sys.Host.ErrorOf(reason)
}

// lost returns the error of a call whose answer cannot come because the connection has ended.
func (p *Peer) lost() error { return p.System.Host.Lost(p.Name, p.Why()) }

// TakesRequests reports whether p is connected by a link that sends and receives a request, or a reply, in one frame: see
// [links.Requester].
func (p *Peer) TakesRequests() bool { return p.requests.Load() }

// Ask adds r to the tables and sends f, in turn unless that is nil. It returns false if the connection has ended. If f is not
// sent, r is settled.
func (p *Peer) Ask(a *process.Acting, turn *flow.Turn, r *Request, f dist.Frame) bool {
	r.peer = p
	p.mu.Lock()
	ok := p.tables.Ask(r)
	if ok && r.Ticket.Call != nil {
		r.Ticket.Call.Away = r
	}
	p.mu.Unlock()
	if !ok {
		r.Ticket.Settle(a, nil, p.lost())
		return false
	}
	if _, err := p.Box.Put(turn, f); err != nil {
		_ = p.unsent(f, err) // also settles r
	} else if r.setWritten() {
		p.mu.Lock()
		p.putIf(r.demonitor())
		p.mu.Unlock()
	}
	return true
}

// askFor makes t wait for the answer to f, from the process that e names.
func (p *Peer) askFor(a *process.Acting, t process.Ticket, kind Answered, e Ends, f dist.Frame) bool {
	ref := f.Ref
	if f.Op == dist.OpSend { // for a receipt
		ref = p.System.Origin.RefOf(f.ID)
	}
	e.By = f.From
	return p.Ask(a, nil, &Request{Ref: ref, Ends: e, Kind: kind, Ticket: t}, f)
}

// AskSoon sends f for a caller that then waits for the start of a process, or for a receipt.
func (p *Peer) AskSoon(a *process.Acting, t process.Ticket, f dist.Frame) {
	if p.DeferForRequest() {
		defer p.Box.EndDefer()
	}
	p.askFor(a, t, ByStart, Ends{}, f)
}

// Apply calls f on the peer; its result settles t. leader is the group leader of the process that runs it there.
func (p *Peer) Apply(a *process.Acting, t process.Ticket, f erpc.Function, leader wire.PID, token any) {
	ref := a.System.NewRef() // of the request, and of the result
	p.askFor(a, t, ByResult, Ends{}, dist.Frame{Op: dist.OpSpawn, Ref: ref, From: a.Sender(), Token: token,
		Spawn: f.Call(ref, leader)})
}

// AwaitExit makes t wait for the exit of a remote process. ok is false if the connection has ended; t is settled then.
func (p *Peer) AwaitExit(a *process.Acting, t process.Ticket, to process.Target) (ref wire.Ref, ok bool) {
	ref = p.CallRef(p.System.NewNumber())
	pid, name := to.PIDOrName()
	return ref, p.askFor(a, t, ByReply, Ends{To: pid, Name: name},
		dist.Frame{Op: dist.OpMonitor, From: a.Sender(), To: pid, Name: name, Ref: ref})
}

// Deliver sends a message to a remote process and returns the ticket of its receipt. ok is false, and nothing is sent, if the
// link has no receipts.
func (p *Peer) Deliver(a *process.Acting, to process.Target, msg, token any) (t process.Ticket, ok bool) {
	if link := p.Conn(); link == nil || !link.Peer().Receipts {
		return t, false
	}
	f := frameFor(a, to, msg, token)
	f.ID = p.System.NewRef().Number()
	p.System.Traces().Away(a.PID(), f.To, f.Name, p.Name, msg)
	t = a.Promise().NewTicket()
	t.Call.Target = nil
	p.AskSoon(a, t, f)
	return t, true
}

// Call sends a request to a remote process. The answer is addressed to an alias, if the peer supports aliases, so that a late
// one is discarded.
func (p *Peer) Call(a *process.Acting, t process.Ticket, to process.Target, label wire.Atom, body, token any) {
	from := a.Sender()
	pid, name := to.PIDOrName()
	if label == calls.Call && p.TakesRequests() {
		ref := p.CallRef(p.System.NewNumber())
		r := &Request{Ref: ref, Ends: Ends{By: from, To: pid, Name: name}, Kind: ByReply, Ticket: t,
			sent: links.Request{Ref: ref, Body: body, Wait: p.wait(t)}}
		p.Ask(a, a.OutboxTurn(), r, dist.Frame{Op: dist.OpSend, From: from, To: pid, Name: name, Payload: &r.sent,
			Token: token})
		return
	}
	ref, ok := p.AwaitExit(a, t, to)
	if !ok {
		return
	}
	f := dist.Frame{Op: dist.OpSend, From: from, To: pid, Name: name, Payload: calls.MakeRequest(label, from, ref, body),
		Token: token}
	if _, err := p.Box.Put(a.OutboxTurn(), f); err != nil {
		_ = p.unsent(f, err) // also settles t
	}
}

// wait returns how long the caller of t will wait, or 0: see [links.Request].
func (p *Peer) wait(t process.Ticket) time.Duration {
	at, ok := t.Deadline()
	if !ok {
		return 0
	}
	d := p.System.Env.Until(at)
	if d > links.MostWait {
		return 0
	}
	return max(d, time.Millisecond)
}

// Forget removes r, whose caller no longer waits; an answer that arrives later is discarded.
func (r *Request) Forget() {
	if r.isOut() {
		return
	}
	p := r.peer
	p.mu.Lock()
	defer p.mu.Unlock()
	p.putIf(p.tables.Forget(r))
}

// DeferForRequest reports whether few requests wait for p, and if so defers writes: the caller must call Box.EndDefer before
// it waits.
func (p *Peer) DeferForRequest() bool {
	p.mu.Lock()
	few := p.tables.Requests() < fewRequests
	p.mu.Unlock()
	if few {
		p.Box.Defer()
	}
	return few
}

// Answered removes the request with the reference ref and returns it, or nil if there is none. down reports that its monitor
// has ended, by the exit of the called process or by [links.Reply].
func (p *Peer) Answered(ref wire.Ref, down bool) *Request {
	if !p.System.Origin.Equal(ref.Origin()) {
		return nil
	}
	p.mu.Lock()
	r, f, ok := p.tables.Answered(ref, down)
	p.putIf(f, ok)
	p.mu.Unlock()
	return r
}

// answer settles the call with the reference ref on behalf of a. It reports whether a caller waited. down reports whether its
// monitor has ended.
func (p *Peer) answer(a *process.Acting, ref wire.Ref, v any, err error, down bool) bool {
	r := p.Answered(ref, down)
	return r != nil && r.Ticket.Settle(a, v, err)
}

// answerDown settles the call with the reference ref, if there is one, because the called process has ended.
func (p *Peer) answerDown(a *process.Acting, ref wire.Ref, reason any) bool {
	r := p.Answered(ref, true)
	if r == nil {
		return false
	}
	v, err := r.ended(reason)
	return r.Ticket.Settle(a, v, err)
}

// handleSpawnReply handles the answer to a spawn request.
func (p *Peer) handleSpawnReply(f *dist.Frame) {
	if f.From.IsZero() {
		p.answer(&p.reading, f.Ref, nil, erpc.NotStarted(f.Payload), false)
		return
	}
	if p.spawned(f) {
		p.answer(&p.reading, f.Ref, f.From, nil, false)
	}
}

// spawned notes which process has been started. It reports whether a request waits for that.
func (p *Peer) spawned(f *dist.Frame) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	answers, g, ok := p.tables.Started(f.Ref, f.From, f.To, f.Watched)
	p.putIf(g, ok)
	return answers
}
