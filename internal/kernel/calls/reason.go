package calls

import (
	"errors"
	"strconv"
	"strings"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
)

// NormalExit is the exit reason of a process that has finished its work.
const NormalExit wire.Atom = "normal"

// Exit is the error by which a behaviour chooses its exit reason.
type Exit struct{ Reason any }

func (e *Exit) Error() string { return "exit: " + GoText(e.Reason) }

// Throw is an exception of class throw.
type Throw struct{ Reason any }

func (e *Throw) Error() string { return "throw: " + ReasonWords(e.Reason) }

// Term returns the reason of an uncaught throw.
func (e *Throw) Term() any { return wire.Tuple{wire.Atom("nocatch"), e.Reason} }

// Raise is an exception of class error.
type Raise struct{ Reason any }

func (e *Raise) Error() string { return "error: " + ReasonWords(e.Reason) }

// Term returns the reason.
func (e *Raise) Term() any { return e.Reason }

// ChosenReason returns the exit reason that a behaviour has chosen by returning err: normal for nil. It returns false if it
// has chosen none, so that err is a crash.
func ChosenReason(err error) (any, bool) {
	if err == nil {
		return NormalExit, true
	}
	if e, ok := errors.AsType[*Exit](err); ok {
		return e.Reason, true
	}
	return nil, false
}

// Thrown returns the value that err throws, and false if it is no throw.
func Thrown(err error) (any, bool) {
	if e, ok := errors.AsType[*Throw](err); ok {
		return e.Reason, true
	}
	return nil, false
}

// OwnReason returns the term of an error, which is not nil, or of one that it wraps, and false if there is none. E is the
// error of a process that has exited, which precedes other errors with a term of their own.
func OwnReason[E error](err error) (term any, ok bool) {
	if e, ok := errors.AsType[*Exit](err); ok {
		return e.Reason, true
	}
	if term, ok := termof.Of(err); ok { // before what it wraps
		return term, true
	}
	if e, ok := errors.AsType[E](err); ok {
		return termof.Of(e)
	}
	return termof.Error(err)
}

// ReasonTerm is OwnReason, or the text of the error.
func ReasonTerm[E error](err error) any {
	if term, ok := OwnReason[E](err); ok {
		return term
	}
	return err.Error()
}

// FailureReason returns the reply of a failed call: {error, Reason}.
func FailureReason(reason any) wire.Tuple { return wire.Tuple{wire.AtomError, reason} }

// Panicked returns the value for a panic with cause, as returned by recover; nil means runtime.Goexit.
func Panicked(cause any) any {
	if cause == nil {
		return "runtime.Goexit was called"
	}
	return cause
}

// CrashText formats a crash for a log line or an error, without its stack.
func CrashText(panicked bool, cause any) string {
	if panicked {
		return "panic: " + GoText(cause)
	}
	return "error: " + GoText(cause)
}

// MaxReasonText is the maximum number of bytes of a message, a reason or an error in a text.
const MaxReasonText = 1 << 10

// ReasonText returns the beginning of a term, in Erlang's syntax.
func ReasonText(term any) string { return wire.Formatter{Max: MaxReasonText}.Format(term) }

// GoText returns the beginning of a value's own text, or its type: see wire.Describe.
func GoText(v any) string { return wire.Describe(v, MaxReasonText) }

// ReasonWords formats the reason of an exit or of an exception for readers of Go: text as text, the failed start of a
// supervisor's child in words, an exception of Elixir's with its message first, otherwise GoText.
func ReasonWords(why any) string { return words(why, maxNested) }

// maxNested is the maximum number of nested supervisors that ReasonWords puts into words.
const maxNested = 16

func words(why any, left int) string {
	switch why := why.(type) {
	case []byte:
		if text, ok := wire.AsText(why); ok {
			return GoText(text)
		}
	case wire.Tuple:
		if failed, ok := failedChild(why); ok && left > 0 {
			return cut("shutdown: the child " + IDText(failed[1]) + " did not start: " + words(failed[2], left-1))
		}
	case wire.Map:
		said, _ := why.Get(wire.Atom("message"))
		if message, ok := wire.AsText(said); ok {
			return cut(GoText(message) + ": " + ReasonText(why))
		}
	}
	return GoText(why)
}

// failedChild returns the {failed_to_start_child, ID, Reason} in {shutdown, _}, and false if there is none.
func failedChild(why wire.Tuple) (failed wire.Tuple, ok bool) {
	if len(why) != 2 || why[0] != wire.Atom("shutdown") {
		return nil, false
	}
	failed, ok = why[1].(wire.Tuple)
	return failed, ok && len(failed) == 3 && failed[0] == wire.Atom("failed_to_start_child")
}

// IDText formats the ID of a child for readers of Go.
func IDText(id any) string {
	if s, ok := id.(string); ok {
		return wire.DescribeAll(strconv.Quote(s), MaxReasonText)
	}
	return ReasonText(id)
}

// ErrorText returns the beginning of the text of an error.
func ErrorText(err error) string { return cut(err.Error()) }

// cut returns the beginning of a text.
func cut(text string) string {
	if len(text) > MaxReasonText {
		text = strings.ToValidUTF8(text[:MaxReasonText], "") + "…"
	}
	return text
}

// IsExit reports whether err is, or wraps, an error of node.ExitWith.
func IsExit(err error) bool {
	_, ok := ChosenReason(err)
	return ok && err != nil
}

// IsClean reports whether an exit reason needs no report: normal, shutdown, {shutdown, _}.
func IsClean(reason any) bool {
	const shutdown wire.Atom = "shutdown"
	if t, ok := reason.(wire.Tuple); ok {
		return len(t) == 2 && t[0] == shutdown
	}
	return reason == NormalExit || reason == shutdown
}
