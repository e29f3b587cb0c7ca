package values_test

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/internal/wire/termof"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
	"github.com/actornode/actornode/wire/etf"
)

// The types that package node has.
type (
	Crash struct {
		Reason any
		Panic  bool
		Stack  []byte
	}
	ExitError     struct{ Reason any }
	From          struct{ n int }
	Future[T any] struct{ ref wire.Ref }
)

func (e *ExitError) Error() string { return fmt.Sprint("exited: ", e.Reason) }

// host is the node on which references are read.
type host struct{}

var (
	errMine  = errors.New("mine")
	origin   = wire.NewOrigin(wire.NodeID{Name: "a@b", Creation: 1})
	future   = &Future[int]{origin.Ref(1, 2, 3)}
	fromTerm = calls.MakeFrom(origin.PID(1), origin.Ref(4, 5, 6))
)

var references = &values.References{
	From: reflect.TypeFor[From](),
	FromTerm: func(from any) any {
		if from.(From).n == 0 {
			return nil
		}
		return fromTerm
	},
	ReadFrom: func(h, term any) (any, bool) { return From{7}, wire.Equal(term, fromTerm) },
	Future: func(f any) (string, wire.Ref, error) {
		if f, ok := f.(*Future[int]); ok {
			return "int", f.ref, nil
		}
		return "", wire.Ref{}, errMine
	},
	ReadFuture: func(h any, name string, ref wire.Ref) (any, bool) {
		_, ok := h.(*host)
		return &Future[int]{ref}, ok && name == "int"
	},
}

// item, and pointers to fault, are registered.
type (
	item  struct{ N int }
	fault struct{ Code int }
	loose struct{ N int }
)

func (f *fault) Error() string { return fmt.Sprint("fault ", f.Code) }

func newCodec(t *testing.T) *values.Codec {
	var types values.Registry
	require.NoError(t, types.AddError(errMine, "shop.mine"))
	for _, add := range []func() (string, error){
		func() (string, error) { return values.AddType[item](&types) },
		func() (string, error) { return values.AddType[fault](&types, "fault") },
	} {
		_, err := add()
		require.NoError(t, err)
	}
	c := &values.Codec{Types: &types, Public: values.Public{
		Builtin: func(t reflect.Type) bool { return t == reflect.TypeFor[int]() },
		Form: func(v any) any {
			switch v := v.(type) {
			case *Crash:
				return (*values.Crash)(v)
			case *ExitError:
				if v == nil {
					return (*values.Exit)(nil)
				}
				return &values.Exit{Reason: v.Reason}
			}
			return v
		},
		OfForm: func(v any) any {
			switch v := v.(type) {
			case *values.Crash:
				return (*Crash)(v)
			case *values.Exit:
				if v == nil {
					return (*ExitError)(nil)
				}
				return &ExitError{v.Reason}
			}
			return v
		},
		RegisterForms: func(t *pack.Types, c pack.Conversion) error {
			return errors.Join(pack.RegisterAs[Crash](t, "$crash", c), pack.RegisterAs[ExitError](t, "$exit", c))
		},
		Own:        calls.OwnReason[*ExitError],
		References: references,
	}}
	require.NoError(t, c.Register())
	require.NoError(t, c.Register(), "of a second node")
	return c
}

func init() {
	termof.EnterReferences(references.Entry())
	termof.Enter(func(e *ExitError) any { return e.Reason })
}

// toGo returns v as it arrives on another Go node.
func toGo(t *testing.T, from, to *values.Codec, v any) any {
	t.Helper()
	b, err := from.Append(nil, v)
	require.NoError(t, err)
	got, rest, err := to.Decode(b, &host{})
	require.NoError(t, err)
	require.Empty(t, rest)
	return got
}

// throughOTP returns v as it arrives on another Go node behind one of OTP.
func throughOTP(t *testing.T, from, to *values.Codec, v any) any {
	t.Helper()
	e := etfcodec.Encoder{Foreign: from.Term}
	b, err := e.Append(nil, v)
	require.NoError(t, err)
	got, _, err := etf.Decode(b)
	require.NoError(t, err)
	return to.Unmark(got, &host{})
}

// A value that crosses is the same over a link of two Go nodes and through a node of OTP, except for the type of an
// error and the origin of its stack.
func TestValuesCross(t *testing.T) {
	a, b := newCodec(t), newCodec(t)
	for _, cross := range []func(*testing.T, *values.Codec, *values.Codec, any) any{toGo, throughOTP} {
		require.Equal(t, item{3}, cross(t, a, b, item{3}))
		require.Equal(t, &item{3}, cross(t, a, b, &item{3}))
		require.Equal(t, &fault{4}, cross(t, a, b, &fault{4}))
		require.Equal(t, wire.Tuple{1, item{2}}, cross(t, a, b, wire.Tuple{1, item{2}}))
		err := cross(t, a, b, fmt.Errorf("so: %w: %w", errMine, &fault{4})).(error)
		require.EqualError(t, err, "so: mine: fault 4")
		require.ErrorIs(t, err, errMine)
		var f *fault
		require.ErrorAs(t, err, &f)

		crash := cross(t, a, b, &Crash{Reason: fmt.Errorf("so: %w", io.EOF), Stack: []byte("m.f(...)\n\tx.go:1\n")}).(*Crash)
		require.False(t, crash.Panic)
		require.ErrorIs(t, crash.Reason.(error), io.EOF)
		require.Equal(t, "m.f(...)\n\tx.go:1\n", string(crash.Stack))
		crash = cross(t, a, b, &Crash{Reason: loose{3}, Panic: true}).(*Crash)
		require.True(t, crash.Panic)
		require.Equal(t, "values_test.loose", fmt.Sprint(crash.Reason))
	}
	require.Equal(t, &ExitError{wire.Atom("gone")}, toGo(t, a, b, &ExitError{wire.Atom("gone")}))
	require.Equal(t, wire.Atom("gone"), throughOTP(t, a, b, &ExitError{wire.Atom("gone")}))
	_, err := a.Append(nil, loose{1})
	require.ErrorContains(t, err, "type values_test.loose is not registered")
}

// Exit reasons have the same forms however they are nested.
func TestReasons(t *testing.T) {
	a, b := newCodec(t), newCodec(t)
	require.Equal(t, wire.Atom("normal"), a.Outward(wire.Atom("normal")))
	out := a.Outward(&ExitError{&Crash{Reason: errMine}}).(*ExitError)
	require.IsType(t, &values.Error{}, out.Reason.(*Crash).Reason)
	in := b.Inward(out).(*ExitError)
	require.Equal(t, errMine, in.Reason.(*Crash).Reason)

	require.Equal(t, &Crash{}, b.Inward((*Crash)(nil)))
	require.Equal(t, &ExitError{}, b.Inward((*ExitError)(nil)))
	require.Equal(t, (*values.Error)(nil), b.Inward((*values.Error)(nil)))
	deep := any(values.ErrorOf(errMine, a))
	for range values.MaxDepth + 2 {
		deep = &ExitError{deep}
	}
	b.Inward(deep) // terminates
	long := b.Inward(&Crash{Reason: "x", Panic: true, Stack: make([]byte, 1<<20)}).(*Crash)
	require.Len(t, long.Stack, values.MaxStack)
}

func TestErrorTerm(t *testing.T) {
	c := newCodec(t)
	for _, e := range []struct {
		err  error
		term any
	}{
		{errors.New("plain"), "plain"},
		{&calls.Exit{Reason: 1}, 1},
		{fmt.Errorf("so: %w", &ExitError{2}), 2},
		{fmt.Errorf("so: %w", errMine), wire.Tuple{values.ErrorMark, "so: mine", wire.List{wire.Atom("shop.mine")}}},
	} {
		require.Equal(t, e.term, c.ErrorTerm(e.err))
	}
	err, ok := c.ReadErrorTerm(c.ErrorTerm(fmt.Errorf("so: %w", errMine))).(error)
	require.True(t, ok)
	require.ErrorIs(t, err, errMine)
	require.Equal(t, wire.Tuple{1, 2, 3}, c.ReadErrorTerm(wire.Tuple{1, 2, 3}))
}

func TestReplies(t *testing.T) {
	a, b := newCodec(t), newCodec(t)
	v, err := b.Outcome(5)
	require.NoError(t, err)
	require.Equal(t, 5, v)
	_, err = b.Outcome(toGo(t, a, b, a.Reply(fmt.Errorf("so: %w", errMine))))
	require.ErrorIs(t, err, errMine)
	_, err = b.Outcome(toGo(t, a, b, a.Reply(&ExitError{&Crash{Reason: errMine}})))
	require.Equal(t, &ExitError{&Crash{Reason: errMine, Stack: nil}}, err)
	_, err = b.Outcome((*values.Reply)(nil))
	require.ErrorContains(t, err, "does not say how")
	_, err = b.Outcome(throughOTP(t, a, b, a.Reply(fmt.Errorf("so: %w", errMine))))
	require.ErrorIs(t, err, errMine)
	answered := wire.Tuple{wire.AtomError, toGo(t, a, b, errMine)}
	v, err = b.Outcome(answered)
	require.NoError(t, err, "a handler has answered so")
	require.Equal(t, answered, v)

	failed := wire.Tuple{"tag", wire.Tuple{wire.AtomError, "plain"}}
	require.Equal(t, failed, b.Message(wire.Tuple{"tag", a.Reply(errors.New("plain"))}))
	require.Equal(t, 1, b.Message(1))
	f, ok := values.TextReply(&dist.Frame{Op: dist.OpSend, Payload: wire.Tuple{"tag", a.Reply(errors.New("plain"))}})
	require.True(t, ok)
	require.Equal(t, failed, f.Payload)
	for _, f := range []*dist.Frame{
		{Op: dist.OpSend, Payload: 1}, {Op: dist.OpSend, Payload: wire.Tuple{1, 2}},
		{Op: dist.OpExit, Payload: wire.Tuple{1, a.Reply(errMine)}},
	} {
		_, ok = values.TextReply(f)
		require.False(t, ok)
	}
	refused := &values.Refusal{Reason: wire.Atom("enoent"), Mistyped: errMine}
	require.EqualError(t, refused, "enoent")
	require.ErrorIs(t, refused, errMine)
	require.Equal(t, wire.Atom("enoent"), refused.Term())
	require.EqualError(t, &values.Refusal{Reason: []byte("no such file")}, "no such file")
}

func TestReferences(t *testing.T) {
	a, b := newCodec(t), newCodec(t)
	for _, v := range []any{From{}, From{7}, future} {
		require.Equal(t, v, toGo(t, a, b, v))
	}
	require.Equal(t, future, throughOTP(t, a, b, future))
	for _, v := range []any{(*Future[int])(nil), &Future[bool]{}} {
		_, err := a.Append(nil, v)
		require.Error(t, err)
		_, err = a.Term(v)
		require.Error(t, err)
	}
	m, err := termof.Reference(future)
	require.NoError(t, err)
	require.Equal(t, m, b.Unmark(m, nil), "there is no node")

	for _, r := range []struct {
		typ        reflect.Type
		term, want any
	}{
		{reflect.TypeFor[From](), fromTerm, From{7}},
		{reflect.TypeFor[From](), calls.GoFrom(wire.PID{}), From{}},
		{reflect.TypeFor[*Future[int]](), m, future},
		{reflect.TypeFor[*Future[int]](), wire.AtomUndefined, (*Future[int])(nil)},
		{reflect.TypeFor[From](), 1, nil},
		{reflect.TypeFor[*Future[int]](), 1, nil},
		{reflect.TypeFor[*Future[bool]](), m, nil},
	} {
		require.True(t, termof.IsReference(r.typ))
		got, ok, err := termof.Read(&host{}, r.typ, r.term)
		require.True(t, ok)
		require.Equal(t, r.want == nil, err != nil, "%v", r.term)
		require.Equal(t, r.want, got)
	}
	require.False(t, termof.IsReference(reflect.TypeFor[*item]()))
	for _, forged := range []any{1, wire.Tuple{}, wire.Tuple{1, future.ref}, wire.Tuple{"int", 1}, wire.Tuple{"int", wire.Ref{}},
		wire.Tuple{"bool", future.ref}} {
		_, _, err := termof.Take(&host{}, "future", forged)
		require.ErrorContains(t, err, "no reference of the kind future", "%v", forged)
	}
}

// A term that has a mark and does not fit stays a term.
func TestForgedMarks(t *testing.T) {
	c := newCodec(t)
	mark := func(name any, more ...any) wire.Map {
		return wire.NewMap(append([]any{termof.TypeMark, name}, more...)...)
	}
	for _, m := range []wire.Map{
		mark("nobody.Knows"), mark(1), mark("values_test.item", wire.Atom("n"), "text"), mark(string(termof.TimeName)),
		mark(string(termof.TimeName), termof.TimeKey, "yesterday"), mark(string(termof.FutureName)),
		mark(string(termof.FutureName), termof.FutureOf, "int", termof.FutureRef, 1), wire.NewMap(1, 2),
	} {
		require.Equal(t, m, c.Unmark(m, &host{}))
	}
	at := mark(string(termof.TimeName), termof.TimeKey, "2024-05-06T07:08:09Z")
	require.Equal(t, time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), c.Unmark(at, nil))

	deep := any(mark("fault", wire.Atom("code"), 1))
	for range 100 {
		deep = wire.List{deep}
	}
	require.IsType(t, wire.Map{}, flat(c.Unmark(deep, nil)))
	for _, a := range []wire.Atom{"$type", "$error", "$panic"} {
		require.True(t, c.IsMark(a))
	}
	require.False(t, c.IsMark("error"))
	inner := wire.NewMap(1, wire.ImproperList{Head: []any{mark("fault", wire.Atom("code"), 1)}, Tail: 2})
	got, _ := c.Unmark(inner, nil).(wire.Map).Get(1)
	require.Equal(t, wire.ImproperList{Head: []any{&fault{1}}, Tail: 2}, got)
}

// flat returns the innermost element of nested lists.
func flat(term any) any {
	for {
		l, ok := term.(wire.List)
		if !ok {
			return term
		}
		term = l[0]
	}
}
