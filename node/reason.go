package node

import (
	"errors"
	"runtime/debug"

	"github.com/actornode/actornode/wire"
)

// Exit reasons that the runtime itself gives. Any term, and any Go value, can
// be an exit reason.
const (
	Normal       wire.Atom = "normal"
	Shutdown     wire.Atom = "shutdown"
	Kill         wire.Atom = "kill"   // as a signal: cannot be trapped
	Killed       wire.Atom = "killed" // what others see of a process that was killed
	NoProc       wire.Atom = "noproc"
	NoConnection wire.Atom = "noconnection"
)

// Crash is the exit reason of a process that panicked, or that returned an
// error which is not an exit of its own choosing. It prints as Erlang's
// {Reason, Stack}.
type Crash struct {
	Reason any    // the error, or the value of the panic
	Panic  bool   // whether it was a panic
	Stack  []byte // of the goroutine, where it is known
}

// Panicked returns the exit reason for code that has panicked with cause, which is
// what recover has returned; nil stands for runtime.Goexit. It is for the deferred
// function that recovers, whose stack still is the panic's.
func Panicked(cause any) *Crash {
	if cause == nil {
		cause = "runtime.Goexit was called"
	}
	return &Crash{Reason: cause, Panic: true, Stack: debug.Stack()}
}

// maxBrief is how much of a message or a reason an error text shows, in bytes: what
// comes from another node may be as long as a message may be.
const maxBrief = 1 << 10

// brief is the beginning of a term, in Erlang's syntax.
func brief(t any) string { return wire.FormatMax(t, maxBrief) }

// goBrief is the beginning of what fmt prints of a Go value.
func goBrief(v any) string { return wire.FormatGo("%v", v, maxBrief) }

// String prints the reason without the stack: its first KiB.
func (c *Crash) String() string {
	if c.Panic {
		return "panic: " + goBrief(c.Reason)
	}
	return "error: " + goBrief(c.Reason)
}

// Unwrap returns the error that the process ended with, if it was one.
func (c *Crash) Unwrap() error {
	err, _ := c.Reason.(error)
	return err
}

// exit is the error by which a behaviour chooses its exit reason.
type exit struct{ reason any }

func (e *exit) Error() string { return "exit: " + goBrief(e.reason) }

// ExitWith returns an error that, returned from a behaviour, ends its process
// with exactly this reason, as exit/1 does in Erlang.
func ExitWith(reason any) error { return &exit{reason} }

// ErrStop, returned from an Actor's Receive, ends it with the reason normal.
var ErrStop = ExitWith(Normal)

// ErrUnhandled, returned from an Actor's Receive, leaves the message in the mailbox
// for a behaviour that wants it: it is offered again, in its place, after
// the next Become or Unbecome.
var ErrUnhandled = errors.New("node: the behaviour does not handle this message now")

// reasonOf turns what a behaviour returned into an exit reason.
func reasonOf(err error) any {
	if err == nil {
		return Normal
	}
	if e, ok := errors.AsType[*exit](err); ok {
		return e.reason
	}
	return &Crash{Reason: err}
}

// ExitError is the error form of an exit reason: what a Call answers when the
// process it called has exited.
type ExitError struct{ Reason any }

func (e *ExitError) Error() string { return "node: the process exited: " + goBrief(e.Reason) }

// Term is the reason, as other nodes see the error.
func (e *ExitError) Term() any { return e.Reason }

// Is makes errors.Is(err, ErrNoProcess) true for the reason noproc, and
// errors.Is(err, ErrNoConnection) for noconnection.
func (e *ExitError) Is(target error) bool {
	return target == ErrNoProcess && e.Reason == NoProc || target == ErrNoConnection && e.Reason == NoConnection
}

// IsExit reports whether err is, or wraps, what [ExitWith] has made.
func IsExit(err error) bool {
	var e *exit
	return errors.As(err, &e)
}

// ReasonOf returns the exit reason of a process whose behaviour returns err: what
// [ExitWith] was given, normal for nil, else a [*Crash].
func ReasonOf(err error) any { return reasonOf(err) }

// Term is {Reason, []}, as other nodes see the reason.
func (c *Crash) Term() any {
	var reason any = goBrief(c.Reason)
	if err, ok := c.Reason.(error); ok {
		reason = ErrorTerm(err)
	}
	return wire.Tuple{reason, wire.List{}}
}

// thrown is an exception of class throw.
type thrown struct{ reason any }

func (e *thrown) Error() string { return "throw: " + wire.FormatPlainMax(e.reason, maxBrief) }

// Term is what becomes of a throw that nobody catches.
func (e *thrown) Term() any { return wire.Tuple{wire.Atom("nocatch"), e.reason} }

// raised is an exception of class error.
type raised struct{ reason any }

func (e *raised) Error() string { return "error: " + wire.FormatPlainMax(e.reason, maxBrief) }

// Term is the reason.
func (e *raised) Term() any { return e.reason }

// Raise returns an error that, returned from a [Function], is an exception of the
// class error with exactly this reason for its caller on another node, as error/1
// makes it in Erlang.
func Raise(reason any) error { return &raised{reason} }

// Throw returns an error that, returned from a [Function], is an exception of the
// class throw for its caller on another node, as throw/1 makes it in Erlang.
func Throw(reason any) error { return &thrown{reason} }
