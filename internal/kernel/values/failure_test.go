package values_test

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

var errSentinel = errors.New("mine")

// limit is a registered type.
type limit struct{ N int }

func (l limit) Error() string { return fmt.Sprint("limit ", l.N) }

// rude panics when it is asked for anything.
type rude struct{}

func (rude) Error() string { panic("no text") }
func (rude) Unwrap() error { panic("nothing in it") }

// listedErrors cannot be compared.
type listedErrors []error

func (listedErrors) Error() string     { return "listed" }
func (l listedErrors) Unwrap() []error { return l }

// all is what the node of these tests knows.
type all struct{}

func (all) Name(err error) string {
	if _, ok := err.(listedErrors); ok {
		return ""
	}
	if err == errSentinel {
		return "mine"
	}
	return values.SentinelName(err)
}

func (all) Sentinel(name string) error {
	if name == "mine" {
		return errSentinel
	}
	return values.Sentinel(name)
}

func (all) Value(v any) (any, bool) { _, ok := v.(limit); return v, ok }

// crossed returns err as it arrives behind a node of OTP.
func crossed(t *testing.T, err error) error {
	t.Helper()
	term, ok := values.ErrorOf(err, all{}).Term()
	require.True(t, ok)
	got, ok := values.ReadError(term, all{})
	require.True(t, ok)
	return got
}

func TestErrorsCross(t *testing.T) {
	for _, err := range []error{
		errSentinel, limit{3}, io.EOF,
		fmt.Errorf("so: %w", errSentinel),
		fmt.Errorf("outer: %w", fmt.Errorf("inner: %w", limit{3})),
		errors.Join(errSentinel, limit{3}, errors.New("plain")),
		fmt.Errorf("%w and %w", errSentinel, rude{}),
		listedErrors{errSentinel, nil, io.EOF},
	} {
		got := crossed(t, err)
		require.Equal(t, textOf(err), got.Error())
		for _, target := range []error{errSentinel, io.EOF} {
			require.Equal(t, errors.Is(safe{err}, target), errors.Is(got, target), "%v in %v", target, got)
		}
		var l limit
		require.Equal(t, errors.As(safe{err}, &l), errors.As(got, &l))
	}
	require.Equal(t, errSentinel, crossed(t, errSentinel), "what says nothing more is itself")
	require.Equal(t, limit{3}, crossed(t, limit{3}))
	_, ok := values.ErrorOf(errors.New("plain"), all{}).Term()
	require.False(t, ok, "a plain error is a text")
}

// safe is an error whose parts may panic when they are unwrapped.
type safe struct{ error }

func (s safe) Unwrap() []error { return flatten(s.error, 0) }

func flatten(err error, depth int) (all []error) {
	defer func() { _ = recover() }()
	if depth > 20 || err == nil {
		return nil
	}
	if _, ok := err.(listedErrors); !ok {
		if _, ok := err.(rude); !ok {
			all = append(all, bare{err})
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		all = append(all, flatten(e.Unwrap(), depth+1)...)
	case interface{ Unwrap() []error }:
		for _, e := range e.Unwrap() {
			all = append(all, flatten(e, depth+1)...)
		}
	}
	return all
}

// bare is an error without the errors it wraps.
type bare struct{ err error }

func (b bare) Error() string        { return "bare" }
func (b bare) Is(target error) bool { return b.err == target }
func (b bare) As(target any) bool {
	l, ok := target.(*limit)
	if e, is := b.err.(limit); ok && is {
		*l = e
		return true
	}
	return false
}

// textOf returns the text that crosses.
func textOf(err error) (s string) {
	defer func() {
		if recover() != nil {
			s = fmt.Sprintf("an error of type %T, which panics when asked for its text", err)
		}
	}()
	return err.Error()
}

// What crosses is bounded: the text, the number of parts and their depth.
func TestErrorsAreBounded(t *testing.T) {
	long := fmt.Errorf("%s: %w", strings.Repeat("ж", values.MaxText), errSentinel)
	got := crossed(t, long)
	require.LessOrEqual(t, len(got.Error()), values.MaxText)
	require.ErrorIs(t, got, errSentinel)

	deep := error(errSentinel)
	for range 100 {
		deep = fmt.Errorf("in: %w", deep)
	}
	require.False(t, errors.Is(values.ErrorOf(deep, all{}).Open(all{}), errSentinel), "deeper than %d", values.MaxDepth)

	var wide []error
	for i := range 1000 {
		wide = append(wide, limit{i})
	}
	require.LessOrEqual(t, len(values.ErrorOf(errors.Join(wide...), all{}).Parts), values.MaxParts)

	selfish := &knot{}
	selfish.in = selfish
	require.Equal(t, "knot", values.ErrorOf(selfish, all{}).Error())

	parts := wire.List{}
	for range 10_000 {
		parts = append(parts, wire.Atom("mine"))
	}
	forged, ok := values.ReadError(wire.Tuple{values.ErrorMark, make([]byte, 1<<20), parts}, all{})
	require.True(t, ok)
	require.LessOrEqual(t, len(forged.Error()), values.MaxText)
	require.LessOrEqual(t, len(forged.(*values.Error).Unwrap()), values.MaxParts)
}

// knot wraps itself.
type knot struct{ in error }

func (*knot) Error() string   { return "knot" }
func (k *knot) Unwrap() error { return k.in }

// A term without exactly the right form stays a term.
func TestForgedErrors(t *testing.T) {
	m, text, none := values.ErrorMark, []byte("x"), wire.List{}
	for _, term := range []wire.Tuple{
		{}, {m}, {m, text}, {m, text, none, none}, {m, 1, none}, {m, wire.Atom("x"), none}, {m, text, 1}, {m, text, wire.Atom("mine")},
		{m, text, wire.ImproperList{Head: []any{1}, Tail: 2}}, {values.PanicMark, text, none}, {text, m, none},
	} {
		_, ok := values.ReadError(term, all{})
		require.False(t, ok, "%v", term)
	}
	for _, parts := range []wire.List{
		{1, nil, wire.Map{}}, {wire.Atom("nobody's")}, {wire.Tuple{m, 1, none}}, {wire.Tuple{}}, {wire.List{m, text}},
	} {
		err, ok := values.ReadError(wire.Tuple{m, text, parts}, all{})
		require.True(t, ok)
		require.EqualError(t, err, "x")
		require.False(t, errors.Is(err, errSentinel))
	}
	deep := wire.Tuple{m, text, wire.List{wire.Atom("mine")}}
	for range 10_000 {
		deep = wire.Tuple{m, text, wire.List{deep}}
	}
	err, ok := values.ReadError(deep, all{})
	require.True(t, ok)
	require.False(t, errors.Is(err, errSentinel))
}

func TestCrashesCross(t *testing.T) {
	stack := debug.Stack()
	term := values.StackTerm(stack)
	require.NotEmpty(t, term)
	for _, c := range []struct {
		cause any
		want  func(any) bool
	}{
		{"ouch", func(v any) bool { return v == "ouch" }},
		{7, func(v any) bool { p, ok := v.(values.Panic); return ok && p.GoType() == "int" && p.String() == "7" }},
		{fmt.Errorf("so: %w", errSentinel), func(v any) bool { err, ok := v.(error); return ok && errors.Is(err, errSentinel) }},
		{errors.New("plain"), func(v any) bool { return fmt.Sprint(v) == "plain" }},
	} {
		got, ok := values.ReadCrash(wire.Tuple{values.PanicTerm(c.cause, all{}), term}, all{})
		require.True(t, ok && got.Panic)
		require.True(t, c.want(got.Reason), "%T %v", got.Reason, got.Reason)
		require.Contains(t, string(got.Stack), "TestCrashesCross")
	}
	p := values.PanicTerm("x", all{})
	frame := func(e ...any) wire.List { return wire.List{wire.Tuple(e)} }
	many := make(wire.List, values.MaxFrames+1)
	for i := range many {
		many[i] = wire.Tuple{wire.Atom("m"), wire.Atom("f"), 0, wire.List{}}
	}
	for _, forged := range []wire.Tuple{
		{}, {p}, {p, 1}, {p, frame(1)}, {p, frame(1, 2, 3, 4)}, {p, frame(wire.Atom("m"), wire.Atom("f"), 0, 1)}, {p, many},
		{p, frame(wire.Atom("m"), wire.Atom("f"), 0, wire.List{1})},
		{p, frame(wire.Atom("m"), wire.Atom("f"), 0, wire.List{wire.Tuple{wire.Atom("line"), "x"}})},
		{wire.Tuple{values.PanicMark, 1, "x"}, wire.List{}}, {wire.Tuple{values.PanicMark, "x", 1}, wire.List{}},
		{wire.Tuple{values.PanicMark, "x", wire.Tuple{}}, wire.List{}}, {wire.Tuple{values.ErrorMark, 1, 2}, wire.List{}},
	} {
		_, ok := values.ReadCrash(forged, all{})
		require.False(t, ok, "%v", forged)
	}
}

// Two errors that all nodes know cannot share a name.
func TestEnter(t *testing.T) {
	values.Enter(io.EOF)
	require.Panics(t, func() { values.Enter(errors.New("EOF")) })
	require.Equal(t, "EOF", values.SentinelName(io.EOF))
	require.Empty(t, values.SentinelName(listedErrors{}))
	require.Nil(t, values.Sentinel("nobody"))
}

// No term makes the readers panic, and the values they read are bounded.
func FuzzRead(f *testing.F) {
	for _, t := range []any{
		wire.Tuple{values.ErrorMark, "x", wire.List{wire.Atom("mine"), wire.Tuple{values.ErrorMark, "y", wire.List{}}}},
		wire.Tuple{values.PanicTerm("x", all{}), values.StackTerm(debug.Stack())},
	} {
		b, err := etf.Marshal(t)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		term, _, err := etf.Decode(b)
		if err != nil {
			return
		}
		tuple, ok := term.(wire.Tuple)
		if !ok {
			return
		}
		if err, ok := values.ReadError(tuple, all{}); ok {
			require.LessOrEqual(t, len(err.Error()), values.MaxText)
			errors.Is(err, errSentinel)
			again, ok := values.ErrorOf(err, all{}).Term()
			if ok {
				_, ok = values.ReadError(again, all{})
				require.True(t, ok, "what is read can be written")
			}
		}
		if c, ok := values.ReadCrash(tuple, all{}); ok {
			require.LessOrEqual(t, len(c.Stack), values.MaxStack)
			require.LessOrEqual(t, len(fmt.Sprint(c.Reason)), values.MaxText)
		}
	})
}
