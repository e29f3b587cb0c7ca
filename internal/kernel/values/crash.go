package values

import (
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/wire"
)

// Crash is a crash as an exit reason: package node defines it with this name and these fields.
type Crash struct {
	Reason any // the error, or the value of the panic
	Panic  bool
	Stack  []byte // of the goroutine
}

// Exit is the error for the exit of a process: node.ExitError.
type Exit struct {
	Reason any
	Node   wire.Atom // of noconnection
	Cause  error     // of the same
}

// Outward returns a crash in the form in which it is sent.
func (c *Crash) Outward(known Known) *Crash {
	return &Crash{OfPanic(c.Reason, known), c.Panic, BoundStack(c.Stack)}
}

// Inward converts the crash of another node to one of this node.
func (c *Crash) Inward(known Known) {
	if e, ok := c.Reason.(*Error); ok && e != nil {
		c.Reason = e.Open(known)
	}
	c.Stack = BoundStack(c.Stack)
}

// Term returns {Reason, Stacktrace}. ofError returns the term of an error.
func (c *Crash) Term(known Known, ofError func(error) any) wire.Tuple {
	stack := StackTerm(c.Stack)
	if c.Panic {
		return wire.Tuple{PanicTerm(c.Reason, known), stack}
	}
	if err, ok := c.Reason.(error); ok {
		return wire.Tuple{ofError(err), stack}
	}
	return wire.Tuple{calls.GoText(c.Reason), stack}
}

// ReadCrash parses {Reason, Stacktrace}. It returns false if t is no crash.
func ReadCrash(t wire.Tuple, known Known) (*Crash, bool) {
	if len(t) != 2 {
		return nil, false
	}
	why, ok := t[0].(wire.Tuple)
	if !ok || len(why) != 3 || why[0] != PanicMark && why[0] != ErrorMark {
		return nil, false
	}
	stack, ok := readStack(t[1])
	if !ok {
		return nil, false
	}
	if why[0] == PanicMark {
		cause, ok := readPanic(why, known)
		return &Crash{cause, true, stack}, ok
	}
	err, ok := ReadError(why, known)
	return &Crash{err, false, stack}, ok
}

// readPanic parses {'$panic', Type, Text} and {'$panic', Type, Error}.
func readPanic(t wire.Tuple, known Known) (cause any, ok bool) {
	typ, ok := binary(t[1])
	if !ok {
		return nil, false
	}
	if inner, ok := t[2].(wire.Tuple); ok {
		e, ok := read(inner, known, 0)
		if !ok {
			return nil, false
		}
		e.Type = typ
		return e.Open(known), true
	}
	text, ok := binary(t[2])
	if typ == "string" {
		return text, ok
	}
	return Panic{typ, text}, ok
}
