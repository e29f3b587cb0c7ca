package sysmsg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"strings"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// The maximum size of a displayed value, in bytes: in a log line, and in an answer to another node.
const (
	maxBrief = 1 << 10
	maxGiven = 64 << 10
)

// Brief describes a message for a log, without inspecting it: see package watch. For a call or a cast it describes the
// request.
func Brief(n *node.Node, msg any) string {
	if r, ok := n.AsRequest(msg); ok {
		msg = r.Body
	} else if body, ok := node.AsCast(msg); ok {
		msg = body
	}
	switch msg.(type) {
	case node.Down, node.Exited: // the term describes the event, and contains no message
		if t, ok := termof.Of(msg); ok {
			return wire.Formatter{Max: maxBrief}.Format(t)
		}
	}
	return watch.Of(msg)
}

// BriefState describes a state for a log: the result of its method State, or else the description of package watch.
func BriefState(state any) string {
	s, ok := state.(interface{ State() any })
	if _, tuple := state.(wire.Tuple); tuple {
		return wire.TypeAndSize(state) // other goroutines may write it
	}
	if !ok {
		return watch.Of(state)
	}
	text := ""
	if crash := Guard(func() { text = wire.Formatter{Max: maxBrief}.Format(Given(s.State())) }); crash != nil {
		return fmt.Sprintf("%T.State: %s", state, crash)
	}
	return fmt.Sprintf("%T %s", state, text)
}

// Words formats an exit reason, an ID or an answer in one line for logs: the first KiB, with text as text. The stack of a
// crash is in the node's crash report.
func Words(reason any) string {
	if c, ok := reason.(*node.Crash); ok {
		return c.Error()
	}
	if text, ok := asText(reason); ok {
		return wire.Describe(text, maxBrief)
	}
	left := maxBrief // no more fit in
	return wire.Formatter{Max: maxBrief, Foreign: func(v any) any {
		if left > 0 {
			if t, ok := said(v); ok {
				left--
				return t
			}
		}
		return wire.Describe(v, maxBrief)
	}}.Format(reason)
}

// asText returns the text of an error without a term, or of a binary that is text, or false if v is neither.
func asText(v any) (text any, ok bool) {
	if t, stands := said(v); stands {
		v = t
	}
	switch v.(type) {
	case string, []byte:
		return wire.AsText(v)
	case error:
		return v, true
	}
	return nil, false
}

// Terminating logs that a behaviour ends with err, unless that is a clean exit, and returns the error to end with. what is
// the kind of the behaviour, kind its Go type, and attrs are further log attributes. For a crash they are in the crash
// report.
func Terminating(c *node.Context, what, kind string, err error, attrs func() []any) error {
	reason := node.ReasonOf(err)
	log := c.Node().Log()
	switch _, crashed := reason.(*node.Crash); {
	case calls.IsClean(reason) || !log.Enabled(context.Background(), slog.LevelError):
		return err
	case crashed:
		c.Inside(process.Key{}).CrashDetails(attrs()...)
		return node.ExitWith(reason)
	}
	log.Error(what+" terminating", append([]any{what[strings.LastIndexByte(what, ' ')+1:], DisplayName(c),
		"process", c.Self().String(), "kind", kind, "reason", Words(reason)}, attrs()...)...)
	return err
}

// Reason converts an error of a failed start to an exit reason: the reason of an exit, the term of the error, or the error
// itself, so that errors.Is finds it. OTP nodes get its term.
func Reason(err error) any {
	var exit *node.ExitError
	if _, stands := termof.Error(err); stands || calls.IsExit(err) || errors.As(err, &exit) {
		return values.ErrorTerm(err)
	}
	return err
}

// Guard calls f, user code that must not end a server, and returns its panic, or nil.
func Guard(f func()) (crash *node.Crash) {
	returned := false
	defer func() {
		if !returned {
			crash = node.Panicked(recover())
		}
	}()
	f()
	returned = true
	return nil
}

// Term returns v if it is a term, or its term (see package termof), or else a binary with the text of [wire.Describe],
// which is its type unless it offers more. It converts the contents of tuples, lists and maps. The result can be sent to
// other nodes.
func Term(v any) any { return (&shown{describe: describe}).term(v, maxTerms) }

// Given is Term for a value that is meant to be shown, such as the result of a state's method State: the text of a Go value
// has all fields, as printed by fmt with %+v.
func Given(v any) any { return (&shown{describe: given}).term(v, maxTerms) }

func describe(v any) string { return wire.Describe(v, maxGiven) }

func given(v any) string { return wire.DescribeAll(v, maxGiven) }

// shown converts values to terms. describe returns the text of a value that is not a term.
type shown struct{ describe func(any) string }

// maxTerms is the maximum number of consecutive Term methods.
const maxTerms = 16

func (s *shown) term(v any, left int) any {
	switch v := v.(type) {
	case nil, bool, string, []byte, wire.Atom, wire.PID, wire.Ref, wire.Port, wire.Fun, wire.Export, wire.Bitstring, wire.Charlist:
		return v
	case *big.Int, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, uintptr, float32, float64:
		return v
	case wire.Tuple:
		return wire.Tuple(s.terms(v, left))
	case wire.List:
		return wire.List(s.terms(v, left))
	case wire.ImproperList:
		return wire.ImproperList{Head: s.terms(v.Head, left), Tail: s.term(v.Tail, left)}
	case wire.Map:
		m := wire.MakeMap(v.Len())
		for k, e := range v.Unordered() {
			m.Put(s.term(k, left), s.term(e, left))
		}
		return m
	}
	if left > 0 {
		if t, ok := said(v); ok {
			return s.term(t, left-1)
		}
	}
	return s.describe(v)
}

// said returns the term of v, or a description of its panic, which must not end a process.
func said(v any) (t any, ok bool) {
	defer func() {
		if cause := recover(); cause != nil {
			t, ok = fmt.Sprintf("%T.Term: panic: %s", v, wire.Describe(cause, maxBrief)), true
		}
	}()
	return termof.Of(v)
}

func (s *shown) terms(l []any, left int) []any {
	r := make([]any, len(l))
	for i, v := range l {
		r[i] = s.term(v, left)
	}
	return r
}
