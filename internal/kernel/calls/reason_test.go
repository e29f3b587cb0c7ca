package calls_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

var errPlain = errors.New("plain")

// exitedReason stands for the error of a process that has exited.
type exitedReason struct{ reason any }

func (e *exitedReason) Error() string { return "exited" }
func (e *exitedReason) Term() any     { return e.reason }

// own is any other error with a term.
type own struct{ term any }

func (own) Error() string { return "own" }
func (o own) Term() any   { return o.term }

func TestTerm(t *testing.T) {
	for _, c := range []struct {
		err  error
		want any
	}{
		{errPlain, "plain"},
		{&calls.Exit{Reason: 1}, 1},
		{&calls.Throw{Reason: 1}, wire.Tuple{wire.Atom("nocatch"), 1}},
		{&calls.Raise{Reason: 1}, 1},
		{&exitedReason{2}, 2},
		{own{3}, 3},
		{fmt.Errorf("%w %w", own{3}, &exitedReason{2}), 2},
		{fmt.Errorf("%w %w", &exitedReason{2}, &calls.Exit{Reason: 1}), 1},
		{fmt.Errorf("a: %w", errPlain), "a: plain"},
	} {
		require.Equal(t, c.want, calls.ReasonTerm[*exitedReason](c.err), "%v", c.err)
	}
}

// The order of the rules does not depend on how errors are wrapped.
func TestTermOfAnyChain(t *testing.T) {
	r := testkit.Rand(t)
	for range 5000 {
		var first [4]error // by rule
		var build func(depth int) error
		build = func(depth int) error {
			if depth == 0 || r.IntN(3) == 0 {
				v := r.IntN(100)
				rule := r.IntN(4)
				err := []error{&calls.Exit{Reason: v}, &exitedReason{v}, own{v}, errPlain}[rule]
				if first[rule] == nil {
					first[rule] = err
				}
				return err
			}
			if r.IntN(2) == 0 {
				return fmt.Errorf("so: %w", build(depth-1))
			}
			a := build(depth - 1)
			return errors.Join(a, build(depth-1))
		}
		err := build(4)
		var want any = err.Error()
		switch {
		case first[0] != nil:
			want = first[0].(*calls.Exit).Reason
		case first[1] != nil:
			want = first[1].(*exitedReason).reason
		case first[2] != nil:
			want = first[2].(own).term
		}
		require.Equal(t, want, calls.ReasonTerm[*exitedReason](err), "%v", err)
		chosen, ok := calls.ChosenReason(err)
		require.Equal(t, first[0] != nil, ok)
		if ok {
			require.Equal(t, want, chosen)
		}
	}
}

func TestChosen(t *testing.T) {
	got, ok := calls.ChosenReason(nil)
	require.True(t, ok)
	require.Equal(t, calls.NormalExit, got)
	_, ok = calls.ChosenReason(&calls.Throw{Reason: 1})
	require.False(t, ok)
	got, ok = calls.Thrown(fmt.Errorf("so: %w", &calls.Throw{Reason: 1}))
	require.True(t, ok)
	require.Equal(t, 1, got)
	_, ok = calls.Thrown(errPlain)
	require.False(t, ok)
}

func TestCrash(t *testing.T) {
	require.Equal(t, "panic: boom", calls.CrashText(true, "boom"))
	require.Equal(t, "error: plain", calls.CrashText(false, errPlain))
	require.Equal(t, 5, calls.Panicked(5))
	require.Equal(t, "runtime.Goexit was called", calls.Panicked(nil))
	require.Equal(t, wire.Tuple{wire.AtomError, 5}, calls.FailureReason(5))
}

// Texts are bounded, whatever they describe, and stay valid UTF-8.
func TestTextsAreBounded(t *testing.T) {
	long := strings.Repeat("ж", 10_000)
	for name, text := range map[string]string{
		"term":    calls.ReasonText(wire.List{long, long}),
		"raised":  calls.ReasonWords(wire.List{long, long}),
		"message": calls.ReasonWords(wire.NewMap(wire.Atom("message"), long)),
		"binary":  calls.ReasonWords([]byte(long)),
		"child":   calls.ReasonWords(wire.Tuple{wire.Atom("shutdown"), wire.Tuple{wire.Atom("failed_to_start_child"), long, long}}),
		"go":      calls.GoText([]string{long}),
		"error":   calls.ErrorText(errors.New("x" + long)),
		"zeros":   calls.ErrorText(errors.New(string(make([]byte, 1<<20)))),
		"exit":    (&calls.Exit{Reason: long}).Error(),
		"throw":   (&calls.Throw{Reason: long}).Error(),
		"raise":   (&calls.Raise{Reason: long}).Error(),
		"crash":   calls.CrashText(true, long),
	} {
		require.LessOrEqual(t, len(text), calls.MaxReasonText+32, name)
		require.True(t, utf8.ValidString(text), name)
	}
	require.Equal(t, "short", calls.ErrorText(errors.New("short")))
}

// Reasons that are text are shown to people as text.
func TestReasonsAreText(t *testing.T) {
	failed := func(id, why any) any {
		return wire.Tuple{wire.Atom("shutdown"), wire.Tuple{wire.Atom("failed_to_start_child"), id, why}}
	}
	for _, c := range []struct {
		why  any
		says string
	}{
		{"no cups", "no cups"}, {[]byte("no cups"), "no cups"}, {wire.Charlist("no cups"), "no cups"},
		{[]byte{255, 1}, "<<255,1>>"}, {wire.Atom("No cups"), "No cups"}, {errPlain, "plain"},
		{wire.Tuple{wire.Atom("bad"), []byte("no cups"), "no"}, `{bad,<<"no cups">>,<<"no">>}`},
		{failed("db", errPlain), `shutdown: the child "db" did not start: plain`},
		{failed(wire.Atom("a"), failed(7, errPlain)), `shutdown: the child a did not start: shutdown: the child 7 did not start: plain`},
		{wire.NewMap(wire.Atom("message"), []byte("no cups")), `no cups: #{message => <<"no cups">>}`},
	} {
		require.Equal(t, c.says, calls.ReasonWords(c.why))
	}
}
