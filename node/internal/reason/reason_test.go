package reason_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node/internal/reason"
	"github.com/actornode/actornode/wire"
)

var errPlain = errors.New("plain")

// exited stands for the error of a process that has exited.
type exited struct{ reason any }

func (e *exited) Error() string { return "exited" }
func (e *exited) Term() any     { return e.reason }

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
		{&reason.Exit{Reason: 1}, 1},
		{&reason.Throw{Reason: 1}, wire.Tuple{wire.Atom("nocatch"), 1}},
		{&reason.Raise{Reason: 1}, 1},
		{&exited{2}, 2},
		{own{3}, 3},
		{fmt.Errorf("%w %w", own{3}, &exited{2}), 2},
		{fmt.Errorf("%w %w", &exited{2}, &reason.Exit{Reason: 1}), 1},
		{fmt.Errorf("a: %w", errPlain), "a: plain"},
	} {
		require.Equal(t, c.want, reason.Term[*exited](c.err), "%v", c.err)
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
				err := []error{&reason.Exit{Reason: v}, &exited{v}, own{v}, errPlain}[rule]
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
			want = first[0].(*reason.Exit).Reason
		case first[1] != nil:
			want = first[1].(*exited).reason
		case first[2] != nil:
			want = first[2].(own).term
		}
		require.Equal(t, want, reason.Term[*exited](err), "%v", err)
		chosen, ok := reason.Chosen(err)
		require.Equal(t, first[0] != nil, ok)
		if ok {
			require.Equal(t, want, chosen)
		}
	}
}

func TestChosen(t *testing.T) {
	got, ok := reason.Chosen(nil)
	require.True(t, ok)
	require.Equal(t, reason.Normal, got)
	_, ok = reason.Chosen(&reason.Throw{Reason: 1})
	require.False(t, ok)
	got, ok = reason.Thrown(fmt.Errorf("so: %w", &reason.Throw{Reason: 1}))
	require.True(t, ok)
	require.Equal(t, 1, got)
	_, ok = reason.Thrown(errPlain)
	require.False(t, ok)
}

func TestCrash(t *testing.T) {
	require.Equal(t, "panic: boom", reason.CrashText(true, "boom"))
	require.Equal(t, "error: plain", reason.CrashText(false, errPlain))
	require.Equal(t, 5, reason.Panicked(5))
	require.Equal(t, "runtime.Goexit was called", reason.Panicked(nil))
	require.Equal(t, wire.Tuple{wire.Error, 5}, reason.Failure(5))
}

// Texts are bounded, whatever they are of, and stay UTF-8.
func TestTextsAreBounded(t *testing.T) {
	long := strings.Repeat("ж", 10_000)
	for name, text := range map[string]string{
		"term":    reason.Text(wire.List{long, long}),
		"raised":  reason.Words(wire.List{long, long}),
		"message": reason.Words(wire.NewMap(wire.Atom("message"), long)),
		"binary":  reason.Words([]byte(long)),
		"child":   reason.Words(wire.Tuple{wire.Atom("shutdown"), wire.Tuple{wire.Atom("failed_to_start_child"), long, long}}),
		"go":      reason.GoText([]string{long}),
		"error":   reason.ErrorText(errors.New("x" + long)),
		"zeros":   reason.ErrorText(errors.New(string(make([]byte, 1<<20)))),
		"exit":    (&reason.Exit{Reason: long}).Error(),
		"throw":   (&reason.Throw{Reason: long}).Error(),
		"raise":   (&reason.Raise{Reason: long}).Error(),
		"crash":   reason.CrashText(true, long),
	} {
		require.LessOrEqual(t, len(text), reason.MaxText+32, name)
		require.True(t, utf8.ValidString(text), name)
	}
	require.Equal(t, "short", reason.ErrorText(errors.New("short")))
}

// Reasons are shown to people as text where they are text.
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
		require.Equal(t, c.says, reason.Words(c.why))
	}
}
