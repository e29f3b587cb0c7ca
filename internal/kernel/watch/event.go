package watch

import (
	"github.com/actornode/actornode/internal/kernel/calls"

	"github.com/actornode/actornode/wire"
)

// TraceKind is the kind of a [TraceEvent]. Kinds can be or-ed.
type TraceKind uint16

// The kinds of package node/trace, which documents each.
const (
	TraceReceive TraceKind = 1 << iota
	TraceSend
	TraceLink
	TraceUnlink
	TraceLinked
	TraceUnlinked
	TraceMonitor
	TraceDemonitor
	TraceSignal
	TraceSpawn
	TraceRegister
	TraceUnregister
	TraceExit

	// TraceAll is every kind.
	TraceAll TraceKind = 1<<iota - 1
)

// TraceEvent is something that a traced process has done, or that was done to it. Other is the other end, Name and Node the
// destination of a message, or the name registered.
type TraceEvent struct {
	Kind           TraceKind
	Process, Other wire.PID
	Name, Node     wire.Atom
	Message        any
}

// Traced reports whether a process is traced.
func (v *TraceView) Traced(p wire.PID) bool { return v.by(p) != nil }

// Event shows an event that is not a message. p may be zero for no process.
func (v *TraceView) Event(k TraceKind, p, other wire.PID, name wire.Atom, msg any) {
	if v != nil {
		v.event(k, p, other, name, msg)
	}
}

func (v *TraceView) event(k TraceKind, p, other wire.PID, name wire.Atom, msg any) {
	for _, t := range v.by(p) {
		t.show(TraceEvent{Kind: k, Process: p, Other: other, Name: name, Message: msg})
	}
}

// Message shows a message between two processes of this node. from is zero if there is no sender.
func (v *TraceView) Message(from, to wire.PID, msg any) {
	sends, gets := v.by(from), v.by(to)
	if sends == nil && gets == nil || v.isQuiet(from) || v.isQuiet(to) {
		return
	}
	for _, t := range sends {
		t.message(v.host, TraceEvent{Kind: TraceSend, Process: from, Other: to, Message: msg})
	}
	for _, t := range gets {
		t.message(v.host, TraceEvent{Kind: TraceReceive, Process: to, Other: from, Message: msg})
	}
}

// Received shows a message from another node. from is what that node says.
func (v *TraceView) Received(from, to wire.PID, msg any) {
	if v.isQuiet(to) {
		return
	}
	for _, t := range v.by(to) {
		t.message(v.host, TraceEvent{Kind: TraceReceive, Process: to, Other: from, Message: msg})
	}
}

// Away shows a message to another node: to a process, or, if to is zero, to the name there.
func (v *TraceView) Away(from, to wire.PID, name, node wire.Atom, msg any) {
	if v.isQuiet(from) {
		return
	}
	if name == "" {
		node = ""
	}
	for _, t := range v.by(from) {
		t.message(v.host, TraceEvent{Kind: TraceSend, Process: from, Other: to, Name: name, Node: node, Message: msg})
	}
}

// Answered shows the answer to a call of asker, as a message to watchers: {'$go_reply', Reply}. from is zero if unknown.
func (v *TraceView) Answered(from, asker wire.PID, value any, err error) {
	if v.by(from) == nil && v.by(asker) == nil {
		return
	}
	if err != nil {
		value = calls.FailureReason(v.host.ErrorTerm(err))
	}
	v.Message(from, asker, calls.GoReply(value))
}

// Spawned shows that a process has spawned another, and traces that if configured. ended is of the child.
func (v *TraceView) Spawned(parent, child wire.PID, ended EndedFunc) {
	v.Event(TraceSpawn, parent, child, "", nil)
	for _, t := range v.by(parent) {
		if t.Children && v.registry.add(t, child) != nil {
			t.Feed.Miss()
		}
	}
	v.registry.check(child, ended)
}

// show adds an event whose Message is kept as it is.
func (t *Trace) show(e TraceEvent) {
	if t.Kinds&e.Kind != 0 {
		t.Feed.Send(e)
	}
}

// message is show for a message that others may change.
func (t *Trace) message(h *TraceHost, e TraceEvent) {
	switch {
	case t.Kinds&e.Kind == 0:
		return
	case t.Feed.Full(): // not worth the work
		t.Feed.Miss()
		return
	}
	if !h.IsOwn(e.Message) { // otherwise possibly with locks held, of which Show must not know
		e.Message = t.Show(e.Message)
	}
	t.Feed.Send(e)
}
