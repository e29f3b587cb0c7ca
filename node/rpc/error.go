package rpc

import (
	"fmt"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"

	"github.com/actornode/actornode/wire"
)

func init() {
	erpc.Raised = func(class wire.Atom, reason, stack any) error { return &Error{class, reason, stack} }
	erpc.NotStarted = func(reason any) error { return &SpawnError{reason} }
}

// ErrUndef says that nothing is exported under a module, function and arity:
// Erlang's undef.
var ErrUndef = erpc.ErrUndef

// Error is an exception raised by a function that was called by [Call] or one of its
// variants.
type Error struct {
	Class  wire.Atom // error, exit or throw
	Reason any       // for a Go function's error that others know by errors.Is or errors.As, that error
	Stack  any       // for the class error, as terms; nil if not known
}

func (e *Error) Error() string {
	return fmt.Sprintf("rpc: the called function raised %s: %s", e.Class, calls.ReasonWords(e.Reason))
}

// Unwrap returns the errors in the Reason: what a Go function returned, as far as its errors are known here. See
// [node.ErrorOf] and [node.TypeOf].
func (e *Error) Unwrap() []error { return (&node.ExitError{Reason: e.Reason}).Unwrap() }

// Is makes errors.Is(err, ErrUndef) true for the error undef.
func (e *Error) Is(target error) bool {
	return target == ErrUndef && e.Class == wire.AtomError && e.Reason == wire.Atom("undef")
}

// term is the reason with which erpc:call raises the exception in its caller, if
// nothing catches it: {exception, Reason, Stack}, {exception, Reason}, or for a
// throw {nocatch, Reason}.
func (e *Error) term() any {
	switch {
	case e.Class == "throw":
		return (&calls.Throw{Reason: e.Reason}).Term()
	case e.Class == wire.AtomError && e.Stack != nil:
		return wire.Tuple{wire.Atom("exception"), e.Reason, e.Stack}
	case e.Class == wire.AtomError:
		return e.Reason // {erpc, What}: the function did not raise it
	}
	return wire.Tuple{wire.Atom("exception"), e.Reason}
}

// SpawnError says why a node has not started a process.
type SpawnError struct{ Reason any }

func (e *SpawnError) Error() string {
	return "rpc: the process was not started: " + calls.ReasonWords(e.Reason)
}

// Unwrap returns the errors in the Reason.
func (e *SpawnError) Unwrap() []error { return (&node.ExitError{Reason: e.Reason}).Unwrap() }

// Is makes errors.Is(err, node.ErrTooMany) true if the node has no space for the process.
func (e *SpawnError) Is(target error) bool {
	return target == node.ErrTooMany && e.Reason == wire.Atom("system_limit")
}

// Raise returns an error that, returned from a [Function], is an exception of the
// class error with exactly this reason for its caller on another node, as error/1
// makes it in Erlang.
func Raise(why any) error { return &calls.Raise{Reason: why} }

// Throw returns an error that, returned from a [Function], is an exception of the
// class throw for its caller on another node, as throw/1 makes it in Erlang.
func Throw(why any) error { return &calls.Throw{Reason: why} }

func init() { termof.Enter((*Error).term) }
