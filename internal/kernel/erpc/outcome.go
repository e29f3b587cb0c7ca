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

// Outcome is what has come of a function.
type Outcome struct {
	class wire.Atom
	value any // what it has returned or thrown, or the reason
	stack any // of class error; nil if it is not told
}

// Raised makes the error for an exception. Package node/rpc sets it when the program starts: the
// error is public there, and without that package nobody asks for it.
var Raised = func(class wire.Atom, reason, stack any) error { return errUntold }

// NotStarted makes the error for a process that a node has not started. Package node/rpc sets it,
// too.
var NotStarted = func(reason any) error { return errUntold }

var errUntold = errors.New("erpc: a function was not called, or has raised an exception")

// Stack is what Erlang would show of the place where a function was called.
func Stack(module, function wire.Atom, args []any) wire.List {
	return wire.List{wire.Tuple{module, function, wire.List(args), wire.List{}}}
}

// Undef is the outcome of a function that there is not.
func Undef(module, function wire.Atom, args []any) Outcome {
	return Outcome{wire.AtomError, wire.Atom("undef"), Stack(module, function, args)}
}

// Run calls a function, whose call is of module, function and args. An error that says no class is of
// class error, with what term makes of it as the reason. So is a panic: with an error like one, else with its text.
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

// Opened is an outcome whose reason of class error read has read.
func (o Outcome) Opened(read func(any) any) Outcome {
	if o.class == wire.AtomError {
		o.value = read(o.value)
	}
	return o
}

// Result is the outcome for a caller in Go.
func (o Outcome) Result() (any, error) {
	if o.class == returned {
		return o.value, nil
	}
	return nil, Raised(o.class, o.value, o.stack)
}

// Called is the error with which a process ends that was started for execute_call.
func (o Outcome) Called(ref any) error {
	if o.class == wire.AtomError {
		return &calls.Exit{Reason: wire.Tuple{ref, o.class, o.value, o.stack}}
	}
	return &calls.Exit{Reason: wire.Tuple{ref, o.class, o.value}}
}

// Unsent is the exit reason that says, instead of one that has an outcome which cannot be sent, that the call has raised
// an error, which the caller is told. False: the reason has none.
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

// ReadOutcome finds the outcome in the exit reason of a process that was started for execute_call with
// ref; false: the process has been ended from outside.
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

// Cast is the error with which a process ends that was started for execute_cast, nil for normal.
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

// Spawned is the error with which a process ends that does nothing but call the function, nil for
// normal.
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

// Answer is the outcome as the process rex tells it: see rpc:call.
func (o Outcome) Answer() any {
	switch o.class {
	case returned, throw:
		return o.value
	case wire.AtomError:
		return BadRPC(wire.Tuple{o.value, o.stack})
	}
	return BadRPC(o.value)
}

// BadRPC is the answer of rex to a call that has failed.
func BadRPC(why any) wire.Tuple {
	return wire.Tuple{wire.Atom("badrpc"), wire.Tuple{wire.Atom("EXIT"), why}}
}
