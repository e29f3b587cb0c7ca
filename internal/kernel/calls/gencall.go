package calls

import (
	"iter"

	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Labels of messages.
const (
	Call wire.Atom = "$gen_call"
	Cast wire.Atom = "$gen_cast"

	System wire.Atom = "system" // of OTP's sys

	alias  wire.Atom = "alias"
	ofGo   wire.Atom = "$go_call"
	answer wire.Atom = "$go_reply"
)

// ReadCall parses {'$gen_call', From, Body}.
func ReadCall(msg any) (from, body any, ok bool) {
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) != 3 || t[0] != Call {
		return nil, nil, false
	}
	return t[1], t[2], true
}

// ReadLabelled parses a request with a label of its own: {system, From, What} of sys, or {Pid, {Pid, Tag}, What} of
// gen_event, whose label is the calling process.
func ReadLabelled(msg any) (label, from, what any, ok bool) {
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) != 3 {
		return nil, nil, nil, false
	}
	if pid, isPID := t[0].(wire.PID); isPID {
		f, isFrom := ReadFrom(t[1])
		_, isRef := f.Ref()
		ok = isFrom && isRef && f.PID == pid
	} else {
		ok = t[0] == System
	}
	return t[0], t[1], t[2], ok
}

// MakeLabelled is the inverse of ReadLabelled.
func MakeLabelled(label, from, what any) wire.Tuple { return wire.Tuple{label, from, what} }

// ReadCast parses {'$gen_cast', Body}.
func ReadCast(msg any) (body any, ok bool) {
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) != 2 || t[0] != Cast {
		return nil, false
	}
	return t[1], true
}

// MakeCast is the inverse of ReadCast.
func MakeCast(body any) wire.Tuple { return wire.Tuple{Cast, body} }

// MakeCall is the inverse of ReadCall.
func MakeCall(from, body any) wire.Tuple { return wire.Tuple{Call, from, body} }

// MakeRequest returns a request that is answered to the alias ref of the process from.
func MakeRequest(label wire.Atom, from wire.PID, ref wire.Ref, body any) wire.Tuple {
	return wire.Tuple{label, MakeFrom(from, ref), body}
}

// MakeFrom returns the From of a request that is answered to the alias ref of the process from.
func MakeFrom(from wire.PID, ref wire.Ref) wire.Tuple {
	return wire.Tuple{from, wire.ImproperList{Head: []any{alias}, Tail: ref}}
}

// Message returns the message of an OpSend as a term, even if it is a request or a reply in one frame.
func Message(f *dist.Frame) any {
	switch p := f.Payload.(type) {
	case *links.Request:
		return MakeRequest(Call, f.From, p.Ref, p.Body)
	case *links.Reply:
		return FromAlias(wire.PID{}, f.Ref).Reply(p.Value)
	}
	return f.Payload
}

// RequestRef returns the reference in a request of MakeRequest.
func RequestRef(msg any) (wire.Ref, bool) {
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) != 3 {
		return wire.Ref{}, false
	}
	if from, ok := t[1].(wire.Tuple); ok && len(from) == 2 {
		return aliasOf(from[1])
	}
	return wire.Ref{}, false
}

// From is the destination of the reply to a request.
type From struct {
	PID     wire.PID // the calling process; zero if From has none
	Alias   wire.Ref // the destination if ToAlias, otherwise it is PID
	ToAlias bool
	term    wire.Tuple // the parsed term; its second element, the tag, is the first of the reply; if nil, MakeFrom makes it
}

// FromAlias returns the From of a request made by MakeRequest.
func FromAlias(from wire.PID, ref wire.Ref) From { return From{PID: from, Alias: ref, ToAlias: true} }

// Node returns the node that the reply goes to.
func (f From) Node() wire.Atom {
	if f.ToAlias {
		return f.Alias.Node()
	}
	return f.PID.Node()
}

// Ref returns the reference in the reply, by which the caller waits for it. ok is false if it has none, and may have any
// form.
func (f From) Ref() (ref wire.Ref, ok bool) {
	if f.ToAlias {
		return f.Alias, true
	}
	if f.term != nil {
		ref, ok = f.term[1].(wire.Ref)
	}
	return ref, ok
}

// IsCast reports whether the reply, {Tag, Reply}, would be a cast.
func (f From) IsCast() bool { return f.term != nil && f.term[1] == wire.Atom("$gen_cast") }

// Term returns the term that ReadFrom parses.
func (f From) Term() wire.Tuple {
	if f.term == nil {
		return MakeFrom(f.PID, f.Alias)
	}
	return f.term
}

// ReadFrom parses the second element of a request.
func ReadFrom(term any) (From, bool) {
	t, ok := term.(wire.Tuple)
	if !ok || len(t) != 2 {
		return From{}, false
	}
	pid, isPID := t[0].(wire.PID)
	ref, isAlias := aliasOf(t[1])
	return From{pid, ref, isAlias, t}, isPID || isAlias
}

// Reply returns the message that replies with a value.
func (f From) Reply(v any) wire.Tuple { return wire.Tuple{f.Term()[1], v} }

// GoFrom returns the From shown to observers of a call between Go processes: {Pid, '$go_call'}, with undefined for a caller
// that is not a process.
func GoFrom(caller wire.PID) wire.Tuple {
	if caller.IsZero() {
		return wire.Tuple{wire.AtomUndefined, ofGo}
	}
	return wire.Tuple{caller, ofGo}
}

// GoReply returns the reply to a call between Go processes as shown to observers.
func GoReply(v any) wire.Tuple { return wire.Tuple{answer, v} }

// ReplyRef returns the reference of a call in a message that may be its reply.
func ReplyRef(msg any) (wire.Ref, bool) {
	t, ok := msg.(wire.Tuple)
	if !ok || len(t) != 2 {
		return wire.Ref{}, false
	}
	if ref, ok := t[0].(wire.Ref); ok {
		return ref, true
	}
	return aliasOf(t[0])
}

// Refs yields the references in a message by which its sender may wait for an answer: those of its elements, including the
// tag of a From.
func Refs(msg any) iter.Seq[wire.Ref] {
	return func(yield func(wire.Ref) bool) {
		t, _ := msg.(wire.Tuple)
		for _, e := range t {
			if from, ok := e.(wire.Tuple); ok && len(from) == 2 {
				e = from[1]
			}
			ref, ok := e.(wire.Ref)
			if !ok {
				ref, ok = aliasOf(e)
			}
			if ok && !yield(ref) {
				return
			}
		}
	}
}

// aliasOf returns the alias in the tag of a call: [alias|Ref] or [[alias|Ref]|_].
func aliasOf(tag any) (wire.Ref, bool) {
	for range 2 {
		switch l := tag.(type) {
		case wire.ImproperList:
			if len(l.Head) == 0 {
				return wire.Ref{}, false
			}
			if ref, ok := l.Tail.(wire.Ref); ok && len(l.Head) == 1 && l.Head[0] == alias {
				return ref, true
			}
			tag = l.Head[0]
		case wire.List:
			if len(l) == 0 {
				return wire.Ref{}, false
			}
			tag = l[0]
		default:
			return wire.Ref{}, false
		}
	}
	return wire.Ref{}, false
}

// Body returns the body of a request in the Go type by which it is dispatched: a boolean of Erlang's is the atom true or
// false. exact reports that it comes from a Go node and has the same type as there.
func Body(exact bool, body any) any {
	if a, ok := body.(wire.Atom); ok && !exact {
		if b, ok := wire.AsBool(a); ok {
			return b
		}
	}
	return body
}

// Labelled is a request whose message to another node has another label than '$gen_call'.
type Labelled interface {
	Label() (label wire.Atom, body any)
}

// End is the error with which a call of another node is settled when the process that the request was forwarded to has
// exited. Tell notifies the caller's node. It returns nil, or the error to reply with if that node does not wait for an exit.
type End interface{ Tell() error }
