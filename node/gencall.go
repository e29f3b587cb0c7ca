package node

import "github.com/actornode/actornode/wire"

// Labels of the messages by which Erlang's gen behaviours talk.
const (
	genCall wire.Atom = "$gen_call"
	alias_  wire.Atom = "alias"
)

// AsRequest reads a message that is a call, of whatever kind: a Request of any
// type, or Erlang's {'$gen_call', From, Body}. It reports false for any other
// message. A behaviour that is called from Erlang, or from servers it knows
// nothing of, uses it in place of a type switch.
func (n *Node) AsRequest(msg any) (Request[any], bool) {
	switch m := msg.(type) {
	case wire.Tuple:
		if len(m) != 3 || m[0] != genCall {
			return Request[any]{}, false
		}
		from, ok := n.ReadFrom(m[1])
		return Request[any]{m[2], from}, ok
	case interface{ untyped() Request[any] }:
		return m.untyped(), true
	}
	return Request[any]{}, false
}

func (r Request[T]) untyped() Request[any] { return Request[any]{r.Body, r.From} }

// ReadFrom reads the second element of a '$gen_call' or of a system message:
// {Pid, Tag}. The reply is the message {Tag, Reply}, to the alias if Tag is
// [alias|Ref] or [[alias|Ref]|_], else to Pid; see gen:reply in stdlib.
func (n *Node) ReadFrom(term any) (From, bool) {
	t, ok := term.(wire.Tuple)
	if !ok || len(t) != 2 {
		return From{}, false
	}
	to, ok := t[0].(PID)
	if !ok {
		return From{}, false
	}
	p := &promise{node: n, from: to}
	p.then = []func(){func() {
		reply := p.value
		if p.err != nil {
			reply = wire.Tuple{wire.Error, ErrorTerm(p.err)}
		}
		msg := wire.Tuple{t[1], reply}
		if ref, ok := aliasOf(t[1]); ok {
			n.SendAlias(ref, msg)
		} else {
			n.Send(to, msg)
		}
	}}
	return From{p}, true
}

// aliasOf finds the alias in the tag of a call.
func aliasOf(tag any) (Ref, bool) {
	l, ok := tag.(wire.ImproperList)
	if !ok || len(l.Head) != 1 {
		if list, proper := tag.(wire.List); !proper || len(list) == 0 {
			return Ref{}, false
		} else if l, ok = list[0].(wire.ImproperList); !ok || len(l.Head) != 1 {
			return Ref{}, false
		}
	} else if inner, nested := l.Head[0].(wire.ImproperList); nested && len(inner.Head) == 1 {
		l = inner
	}
	if l.Head[0] != alias_ {
		return Ref{}, false
	}
	ref, ok := l.Tail.(Ref)
	return ref, ok
}

// ErrorTerm is an error as Erlang's {error, Reason} should carry it: the exit
// reason of an error that has one, what a method Term returns, else the
// error's text as a binary.
func ErrorTerm(err error) any {
	switch e := err.(type) {
	case *exit:
		return e.reason
	case *ExitError:
		return e.Reason
	case interface{ Term() any }:
		return e.Term()
	}
	return err.Error()
}

// BodyOf returns what is asked in a message that is a call, of whatever kind.
func BodyOf(msg any) (any, bool) {
	switch m := msg.(type) {
	case wire.Tuple:
		if len(m) == 3 && m[0] == genCall {
			return m[2], true
		}
	case interface{ untyped() Request[any] }:
		return m.untyped().Body, true
	}
	return nil, false
}
