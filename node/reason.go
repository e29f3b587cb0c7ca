package node

import (
	"runtime/debug"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

// Exit reasons that the runtime itself gives. Any term, and any Go value, can
// be an exit reason.
const (
	Normal       wire.Atom = "normal"
	Shutdown     wire.Atom = "shutdown"
	Kill         wire.Atom = "kill"   // as a signal: cannot be trapped
	Killed       wire.Atom = "killed" // what others see when a process was killed
	NoProc       wire.Atom = "noproc"
	NoConnection wire.Atom = "noconnection"
)

// chosen is the error by which a behaviour chooses its exit reason.
type chosen = calls.Exit

// Crash is the exit reason of a process that panicked, or that returned an error which is not an exit of its own
// choosing. It wraps that error: errors.Is and errors.As find it, also through the [ExitError] of a call or a start. To
// Erlang it is {Reason, Stack}. It says the same of a process on another node: errors.Is and errors.As find in Reason
// what both nodes have registered. The value of a panic keeps its type if that is basic or registered; else it prints
// as it did, and has a method GoType() string.
type Crash struct {
	Reason any    // the error, or the value of the panic
	Panic  bool   // whether it was a panic
	Stack  []byte // of the goroutine, where it is known
}

// Panicked returns the exit reason for code that panicked with cause, the result of recover; nil stands for
// runtime.Goexit. Call it in the deferred function that recovers, whose stack still is the panic's.
func Panicked(cause any) *Crash {
	return &Crash{Reason: calls.Panicked(cause), Panic: true, Stack: debug.Stack()}
}

// Error returns the reason without the stack: its first KiB.
func (c *Crash) Error() string { return calls.CrashText(c.Panic, c.Reason) }

// term is {Reason, Stacktrace}, as nodes of OTP see the reason.
func (c *Crash) term() any { return byDefault.CrashTerm((*values.Crash)(c)) }

// Unwrap returns the error that the process ended with, if it was one.
func (c *Crash) Unwrap() error {
	err, _ := c.Reason.(error)
	return err
}

// ExitWith returns an error that, returned from a behaviour, ends its process
// with exactly this reason, as exit/1 does in Erlang.
func ExitWith(reason any) error { return &chosen{Reason: reason} }

// ErrStop, returned from an Actor's Receive, ends it with the reason normal.
var ErrStop = ExitWith(Normal)

// ErrUnhandled, returned from an Actor's Receive, leaves the message in the mailbox
// for a behaviour that wants it: it is offered again, in its place, after
// the next Become or Unbecome.
var ErrUnhandled = process.ErrUnhandled

// ExitError is the error form of an exit reason: what a Call returns when the process it called has exited. errors.Is
// and errors.As find the errors in the reason, such as the one that Init of a supervisor's child has returned, and
// [ErrNameTaken] where a child's name was taken. The reasons that AwaitExit returns, and those in a [Down] or an
// [Exited], can be searched in the same way: errors.Is(&ExitError{r}, err).
type ExitError struct {
	Reason any

	// For noconnection: the node that cannot be reached, or was lost, and why, if known. errors.Is and errors.As find
	// the cause, too.
	Node  Atom
	Cause error
}

func (e *ExitError) Error() string {
	if e.Reason != NoConnection || e.Node == "" {
		return "node: the process exited: " + calls.ReasonWords(e.Reason)
	}
	text := "node: noconnection: there is no connection to " + string(e.Node)
	if e.Cause != nil {
		text += ": " + calls.ErrorText(e.Cause)
	}
	return text
}

// term is the reason, as other nodes see the error.
func (e *ExitError) term() any { return e.Reason }

// Is makes errors.Is(err, ErrNoProcess) true for the reason noproc, and
// errors.Is(err, ErrNoConnection) for noconnection.
func (e *ExitError) Is(target error) bool {
	switch target {
	case ErrNoProcess:
		return e.Reason == NoProc
	case ErrNoConnection:
		return e.Reason == NoConnection
	case ErrNameTaken:
		t, ok := e.Reason.(wire.Tuple)
		return ok && len(t) == 2 && t[0] == wire.Atom("already_started")
	case ErrTooMany:
		return raised(e.Reason, wire.Atom(limits.SystemLimit))
	case erpc.ErrUndef:
		return raised(e.Reason, "undef")
	}
	return false
}

// raised reports whether a reason is {'EXIT', {What, _}}: what a supervisor says of a child that was not spawned.
func raised(why any, what wire.Atom) bool {
	t, ok := why.(wire.Tuple)
	if !ok || len(t) != 2 || t[0] != wire.Atom("EXIT") {
		return false
	}
	t, ok = t[1].(wire.Tuple)
	return ok && len(t) == 2 && t[0] == what
}

// Unwrap returns the errors in the reason, and the cause.
func (e *ExitError) Unwrap() []error {
	all := causes(nil, e.Reason, 0)
	if e.Cause != nil {
		all = append(all, e.Cause)
	}
	return all
}

// How many errors are looked for in an exit reason, and how deep.
const (
	mostCauses  = 64
	causesDepth = 16
)

// causes appends the errors in an exit reason to all: the reason itself, or those in its tuples and lists. The reason
// why a supervisor's child has not started is an [ExitError] of its own.
func causes(all []error, why any, depth int) []error {
	if depth > causesDepth || len(all) >= mostCauses {
		return all
	}
	var in []any
	switch why := why.(type) {
	case error:
		return append(all, why)
	case wire.Tuple:
		if len(why) == 3 && why[0] == wire.Atom("failed_to_start_child") {
			return append(all, &ExitError{Reason: why[2]})
		}
		in = why
	case wire.List:
		in = why
	}
	for _, e := range in[:min(len(in), mostCauses)] {
		all = causes(all, e, depth+1)
	}
	return all
}

// ReasonOf returns the exit reason of a process whose behaviour returns err: what
// [ExitWith] was given, normal for nil, else a [*Crash].
func ReasonOf(err error) any {
	if r, ok := calls.ChosenReason(err); ok {
		return r
	}
	return &Crash{Reason: err}
}

// errorTerm is an error, which must not be nil, as Erlang's {error, Reason} carries it.
func errorTerm(err error) any { return byDefault.ErrorTerm(err) }

// The messages and errors of this package that stand for terms.
func init() {
	termof.Enter((*Crash).term)
	termof.Enter((*ExitError).term)
	termof.Enter(Exited.term)
	termof.Enter(Down.term)
	termof.Enter(NodeUp.term)
	termof.Enter(NodeDown.term)
	termof.Enter(From.term)
	termof.Enter(PeerMessage.term)
	termof.EnterAll(func(m interface{ wireTerm() any }) any { return m.wireTerm() }) // Request and Cast
}
