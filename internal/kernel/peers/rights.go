package peers

import (
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/wire/links"

	"github.com/actornode/actornode/internal/kernel/process"

	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// What a peer may do: see package rights. A frame is checked when it is received, against what is granted to the connection.
// A refused frame is treated like one for a destination that does not exist. What is done later on behalf of a peer, or by
// another process for it, is checked by an [Asker].

// Services whose rights differ from those of other processes.
const (
	kernel   wire.Atom = "net_kernel" // every peer may call it
	rex      wire.Atom = "rex"        // checks rights itself for each function
	operator wire.Atom = "actornode"  // checks rights itself for each request
)

// Refused is the counter of refusals to peers for lack of a right, by right.
const Refused = "rights_refused"

// IsLimited reports whether Permits must check each frame of the peer, because the peer may not do everything. It is for the
// reader.
func (p *Peer) IsLimited() bool {
	if p.Visitor.Policy == nil {
		return false
	}
	p.granted = p.Visitor.Granted(p.granted)
	return !p.granted.Connect() || !p.granted.Send("") || !p.granted.Call("") || !p.granted.Signal()
}

// Permits reports whether a frame is permitted; if not, the peer has been told. The error ends the connection: the peer may
// no longer be connected. A spawn is permitted: see MayRun. It is for the reader.
func (p *Peer) Permits(f *dist.Frame) (ok bool, err error) {
	if !p.IsLimited() {
		return true, nil
	}
	g := p.granted
	if !g.Connect() {
		return false, p.Visitor.MayConnect()
	}
	switch f.Op {
	case dist.OpSend:
		return p.permitsSend(g, f), nil
	case dist.OpLink, dist.OpSignal, dist.OpGroupLeader, dist.OpMonitor:
	default: // an answer, or a removal
		return true, nil
	}
	at := *f
	if f.Op == dist.OpMonitor {
		at.Ref = wire.Ref{} // the monitor's own
	}
	q := p.processOf(&at)
	if q == nil || p.owns(q) || g.Signal() {
		return true, nil
	}
	switch name := registered(q); f.Op {
	case dist.OpLink:
		p.Put(dist.Frame{Op: dist.OpExit, From: f.To, To: f.From, Payload: process.NoProc})
	case dist.OpMonitor:
		if mayCall(g, name) || mayTell(g, name) {
			return true, nil
		}
		p.Put(dist.Frame{Op: dist.OpDown, From: f.To, Name: f.Name, To: f.From, Ref: f.Ref, Payload: process.NoProc})
		return false, nil // only the request that follows is counted
	}
	p.refuse("signal", f)
	return false, nil
}

// permitsSend is Permits for a message.
func (p *Peer) permitsSend(g *rights.Granted, f *dist.Frame) bool {
	_, packed := f.Payload.(*links.Request)
	if _, reply := f.Payload.(*links.Reply); reply || g.Send("") && g.Call("") && g.Signal() {
		return true
	}
	right := "call"
	if !packed {
		right = needs(f.Payload)
	}
	if !p.asksForItself(f) {
		return p.refuseSend(f, "send")
	}
	if (!f.Ref.IsZero() || tables.IsAlias(f.Name)) && right != "signal" {
		return true
	}
	q, name := p.processOf(f), f.Name
	switch {
	case q != nil && p.owns(q):
		return true
	case q == nil && name == "":
		return true // to a dead process
	case name == "":
		name = registered(q)
	}
	if may(g, right, name) {
		return true
	}
	if ref, ok := calls.ReplyRef(f.Payload); ok && right == "send" && f.Name == "" && p.hasAsked(ref) {
		return true // it is a reply and cannot reach another process
	}
	return p.refuseSend(f, right)
}

// asksForItself reports whether the answer to f, if f is a request, goes to the peer itself: a peer that may not send to
// everything may only send such requests.
func (p *Peer) asksForItself(f *dist.Frame) bool {
	var from calls.From
	switch m := f.Payload.(type) {
	case *links.Request:
		from = calls.FromAlias(f.From, m.Ref)
	case wire.Tuple:
		ok := false
		if len(m) != 3 || m[0] != calls.Call && m[0] != calls.System {
			return true
		} else if from, ok = calls.ReadFrom(m[1]); !ok {
			return true
		}
	default:
		return true
	}
	return p.Asker().MayAnswer(from)
}

// refuseSend is refuse for a message; a caller that waits for an answer is told. It returns false.
func (p *Peer) refuseSend(f *dist.Frame, right string) bool {
	p.refuse(right, f)
	if f.ID != 0 {
		p.Put(dist.Frame{Op: dist.OpReceipt, ID: f.ID, Payload: process.NoProc})
	}
	var down []wire.Ref // monitors by which the sender waits for an answer
	if request, packed := f.Payload.(*links.Request); packed {
		down = append(down, request.Ref)
	}
	for ref := range calls.Refs(f.Payload) {
		if p.HandleDemonitor(ref) {
			down = append(down, ref)
		}
	}
	for _, ref := range down {
		p.Put(dist.Frame{Op: dist.OpDown, From: f.To, Name: f.Name, To: f.From, Ref: ref, Payload: process.NoProc})
	}
	return false
}

// needs returns the right that a message needs. A call is a message that waits for a reply like gen of OTP: gen_event has
// labels of its own. A system message can suspend or end a process.
func needs(msg any) string {
	if t, ok := msg.(wire.Tuple); ok && len(t) == 3 {
		_, request := calls.ReadFrom(t[1])
		switch {
		case t[0] == calls.System:
			return "signal"
		case request || t[0] == calls.Call:
			return "call"
		}
	}
	return "send"
}

// may reports whether g includes right, as returned by needs, for the process called name.
func may(g *rights.Granted, right string, name wire.Atom) bool {
	switch {
	case right == "call":
		return mayCall(g, name)
	case right == "signal":
		return g.Signal()
	}
	return mayTell(g, name)
}

// mayCall reports whether a process may be called; mayTell is for messages that are not calls.
func mayCall(g *rights.Granted, name wire.Atom) bool {
	switch name {
	case kernel, rex:
		return true
	case operator:
		return g.Look() || g.Act() || g.Trace()
	}
	return g.Call(name)
}

func mayTell(g *rights.Granted, name wire.Atom) bool {
	switch name {
	case kernel, rex:
		return true
	case operator:
		return g.Look() || g.Act() || g.Trace() // it accepts requests only
	}
	return g.Send(name)
}

// owns reports whether the peer has started q.
func (p *Peer) owns(q *process.Process) bool { return p.Asker().owns(q) }

// registered returns the registered name of q, or "".
func registered(q *process.Process) wire.Atom {
	q.Mu.Lock()
	defer q.Mu.Unlock()
	if q.Cold == nil {
		return ""
	}
	return q.Cold.Name
}

// hasAsked reports whether a request with that reference waits for the peer's answer.
func (p *Peer) hasAsked(ref wire.Ref) (asked bool) {
	p.Tables(func(t *Tables) { asked = t.IsAsked(ref) })
	return asked
}

// MayRun reports whether the peer has the right to a spawn; if not, the refusal is counted. It is for the reader, and for the
// process that has been started, for which granted does not change.
func (p *Peer) MayRun(s *dist.Spawn) bool {
	g := p.Visitor.Granted(nil)
	if r, ok := erpc.Asked(s); ok {
		e := wire.Export{Module: r.Module, Function: r.Function, Arity: len(r.Args)}
		asksRelease := e == release && r.Args[0] == any(wire.Atom("otp_release"))
		return r.Bad || asksRelease || g.RPC(e) || p.refuseRun("rpc", e)
	}
	module, function, args := erpc.Applied(s)
	e := wire.Export{Module: module, Function: function, Arity: len(args)}
	return g.Spawn(e) || p.refuseRun("spawn", e)
}

// release is the function that nodes of this module call on each other as soon as they are connected.
var release = wire.Export{Module: "erlang", Function: "system_info", Arity: 1}

func (p *Peer) refuseRun(right string, e wire.Export) bool {
	p.System.Reports.Count(Refused, right)
	p.System.Reports.NoRight(p.Name, p.Conn().Peer().Addr, right, e.String())
	return false
}

// refuse counts and logs an operation for which the peer lacks a right.
func (p *Peer) refuse(right string, f *dist.Frame) {
	p.System.Reports.Count(Refused, right)
	of := string(f.Name)
	if q := p.processOf(f); of == "" && q != nil {
		of = q.Name()
	}
	p.System.Reports.NoRight(p.Name, p.Conn().Peer().Addr, right, of)
}
