package erpc

import (
	"errors"

	"github.com/actornode/actornode/internal/kernel/calls"

	"github.com/actornode/actornode/wire"
)

// Classes of outcomes. The others are wire.AtomError and exit.
const (
	returned wire.Atom = "return"
	throw    wire.Atom = "throw"
	exit     wire.Atom = "exit"
)

// Outcome is the result of a function.
type Outcome struct {
	class wire.Atom
	value any // the value returned or thrown, or the reason
	stack any // of class error; nil if unknown
}

// Raised makes the error for an exception. Package node/rpc sets it when the program starts: the error is public there, and
// without that package it is not used.
var Raised = func(class wire.Atom, reason, stack any) error { return errUntold }

// NotStarted makes the error for a process that a node has not started. Package node/rpc also sets it.
var NotStarted = func(reason any) error { return errUntold }

var errUntold = errors.New("erpc: a function was not called, or has raised an exception")

// Stack returns the stack trace of Erlang for the call of a function.
func Stack(module, function wire.Atom, args []any) wire.List {
	return wire.List{wire.Tuple{module, function, wire.List(args), wire.List{}}}
}

// Undef returns the outcome of a function that does not exist.
func Undef(module, function wire.Atom, args []any) Outcome {
	return Outcome{wire.AtomError, wire.Atom("undef"), Stack(module, function, args)}
}

// Run calls a function, given as call; module, function and args describe it. An error without a class is of class error,
// with the result of term as the reason. So is a panic: with an error like one, otherwise with its text.
func Run(module, function wire.Atom, args []any, term func(error) any, call func() (any, error)) (o Outcome) {
	o = Outcome{class: wire.AtomError, stack: Stack(module, function, args)}
	over := false
	defer func() {
		if !over {
			switch cause := recover().(type) {
			case error:
				o.value = term(cause)
			default:
				o.value = calls.GoText(cause)
			}
		}
	}()
	v, err := call()
	over = true
	thrown, throws := calls.Thrown(err)
	chosen, exits := calls.ChosenReason(err)
	switch {
	case err == nil:
		return Outcome{returned, v, nil}
	case throws:
		return Outcome{throw, thrown, nil}
	case errors.Is(err, ErrUndef):
		o.value = wire.Atom("undef")
	case exits:
		return Outcome{exit, chosen, nil}
	default:
		o.value = term(err)
	}
	return o
}

// Opened returns the outcome with the reason of class error converted by read.
func (o Outcome) Opened(read func(any) any) Outcome {
	if o.class == wire.AtomError {
		o.value = read(o.value)
	}
	return o
}

// Result returns the outcome for a caller in Go.
func (o Outcome) Result() (any, error) {
	if o.class == returned {
		return o.value, nil
	}
	return nil, Raised(o.class, o.value, o.stack)
}

// Called returns the error with which a process ends that was started for execute_call.
func (o Outcome) Called(ref any) error {
	if o.class == wire.AtomError {
		return &calls.Exit{Reason: wire.Tuple{ref, o.class, o.value, o.stack}}
	}
	return &calls.Exit{Reason: wire.Tuple{ref, o.class, o.value}}
}

// Unsent returns the exit reason that replaces one whose outcome cannot be sent: it reports to the caller that the call has
// raised err. It returns false if the reason has no outcome.
func Unsent(reason, err any) (wire.Tuple, bool) {
	t, ok := reason.(wire.Tuple)
	if !ok || len(t) == 0 {
		return nil, false
	}
	ref, ok := t[0].(wire.Ref)
	if !ok {
		return nil, false
	}
	if _, ok = ReadOutcome(ref, reason); !ok {
		return nil, false
	}
	return wire.Tuple{ref, wire.AtomError, err, wire.List{}}, true
}

// ReadOutcome returns the outcome in the exit reason of a process that was started for execute_call with ref, and false if
// the process was ended from outside.
func ReadOutcome(ref wire.Ref, reason any) (Outcome, bool) {
	t, ok := reason.(wire.Tuple)
	if !ok || len(t) < 3 || t[0] != ref {
		return Outcome{}, false
	}
	class, _ := t[1].(wire.Atom)
	switch {
	case len(t) == 3 && (class == returned || class == throw || class == exit || class == wire.AtomError):
		return Outcome{class, t[2], nil}, true
	case len(t) == 4 && class == wire.AtomError:
		return Outcome{class, t[2], t[3]}, true
	}
	return Outcome{}, false
}

// Cast returns the error with which a process ends that was started for execute_cast, or nil for normal.
func (o Outcome) Cast(args []any) error {
	here := Stack(module, executeCast, args)
	switch o.class {
	case returned:
		return nil
	case throw:
		return &calls.Exit{Reason: wire.Tuple{wire.Tuple{wire.Atom("nocatch"), o.value}, here}}
	case wire.AtomError:
		return &calls.Exit{Reason: wire.Tuple{wire.Tuple{wire.Atom("exception"), wire.Tuple{o.value, o.stack}}, here}}
	}
	return &calls.Exit{Reason: o.value}
}

// Spawned returns the error with which a process ends that only calls the function, or nil for normal.
func (o Outcome) Spawned() error {
	switch o.class {
	case returned:
		return nil
	case throw:
		return &calls.Exit{Reason: wire.Tuple{wire.Tuple{wire.Atom("nocatch"), o.value}, wire.List{}}}
	case wire.AtomError:
		return &calls.Exit{Reason: wire.Tuple{o.value, o.stack}}
	}
	return &calls.Exit{Reason: o.value}
}

// Answer returns the outcome as answered by the process rex: see rpc:call.
func (o Outcome) Answer() any {
	switch o.class {
	case returned, throw:
		return o.value
	case wire.AtomError:
		return BadRPC(wire.Tuple{o.value, o.stack})
	}
	return BadRPC(o.value)
}

// BadRPC returns the answer of rex to a failed call.
func BadRPC(why any) wire.Tuple {
	return wire.Tuple{wire.Atom("badrpc"), wire.Tuple{wire.Atom("EXIT"), why}}
}
