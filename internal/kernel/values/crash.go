package values

import (
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/wire"
)

// Crash is a crash as an exit reason: package node has it under this name, with these fields.
type Crash struct {
	Reason any // the error, or the value of the panic
	Panic  bool
	Stack  []byte // of the goroutine
}

// Exit is the error that says how a process has exited: node.ExitError.
type Exit struct {
	Reason any
	Node   wire.Atom // of noconnection
	Cause  error     // of the same
}

// Outward is a crash in the form in which it crosses.
func (c *Crash) Outward(known Known) *Crash {
	return &Crash{OfPanic(c.Reason, known), c.Panic, BoundStack(c.Stack)}
}

// Inward makes the crash of another node one of this.
func (c *Crash) Inward(known Known) {
	if e, ok := c.Reason.(*Error); ok && e != nil {
		c.Reason = e.Open(known)
	}
	c.Stack = BoundStack(c.Stack)
}

// Term is {Reason, Stacktrace}. ofError is the term of an error.
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

// ReadCrash reads {Reason, Stacktrace}. False: it is no crash.
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

// readPanic reads {'$panic', Type, Text} and {'$panic', Type, Error}.
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
