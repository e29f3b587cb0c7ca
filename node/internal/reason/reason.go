package reason

import (
	"errors"
	"strings"

	"github.com/actornode/actornode/internal/termof"
	"github.com/actornode/actornode/wire"
)

// Normal is the exit reason of a process that has done what it was to do.
const Normal wire.Atom = "normal"

// Exit is the error by which a behaviour chooses its exit reason.
type Exit struct{ Reason any }

func (e *Exit) Error() string { return "exit: " + GoText(e.Reason) }

// Throw is an exception of class throw.
type Throw struct{ Reason any }

func (e *Throw) Error() string { return "throw: " + PlainText(e.Reason) }

// Term is what becomes of a throw that nobody catches.
func (e *Throw) Term() any { return wire.Tuple{wire.Atom("nocatch"), e.Reason} }

// Raise is an exception of class error.
type Raise struct{ Reason any }

func (e *Raise) Error() string { return "error: " + PlainText(e.Reason) }

// Term is the reason.
func (e *Raise) Term() any { return e.Reason }

// Chosen returns the exit reason that a behaviour has chosen by returning err: normal for nil.
// False: it has chosen none, so err is a crash.
func Chosen(err error) (any, bool) {
	if err == nil {
		return Normal, true
	}
	if e, ok := errors.AsType[*Exit](err); ok {
		return e.Reason, true
	}
	return nil, false
}

// Thrown returns what err throws; false: it is no throw.
func Thrown(err error) (any, bool) {
	if e, ok := errors.AsType[*Throw](err); ok {
		return e.Reason, true
	}
	return nil, false
}

// Own is the term that an error, which is not nil, or one that it wraps, stands for; false: for
// none. E is the error of a process that has exited, which comes before other errors with a term
// of their own.
func Own[E error](err error) (term any, ok bool) {
	if e, ok := errors.AsType[*Exit](err); ok {
		return e.Reason, true
	}
	if e, ok := errors.AsType[E](err); ok {
		return termof.Of(e)
	}
	return termof.Error(err)
}

// Term is Own, or the text of the error.
func Term[E error](err error) any {
	if term, ok := Own[E](err); ok {
		return term
	}
	return err.Error()
}

// Failure is a reply that says how a call has failed: {error, Reason}.
func Failure(reason any) wire.Tuple { return wire.Tuple{wire.Error, reason} }

// Panicked is what a panic with cause, which recover has returned, is called; nil is that of
// runtime.Goexit.
func Panicked(cause any) any {
	if cause == nil {
		return "runtime.Goexit was called"
	}
	return cause
}

// CrashText is a crash for a log line or an error, without its stack.
func CrashText(panicked bool, cause any) string {
	if panicked {
		return "panic: " + GoText(cause)
	}
	return "error: " + GoText(cause)
}

// MaxText is how many bytes of a message, a reason or an error a text shows.
const MaxText = 1 << 10

// Text is the beginning of a term, in Erlang's syntax.
func Text(term any) string { return wire.FormatMax(term, MaxText) }

// PlainText is Text without what an atom is quoted by.
func PlainText(term any) string { return wire.FormatPlainMax(term, MaxText) }

// GoText is the beginning of what a value says of itself, or its type: see wire.Describe.
func GoText(v any) string { return wire.Describe(v, MaxText) }

// ErrorText is the beginning of the text of an error.
func ErrorText(err error) string {
	text := err.Error()
	if len(text) > MaxText {
		text = strings.ToValidUTF8(text[:MaxText], "") + "…"
	}
	return text
}
