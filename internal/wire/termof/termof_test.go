package termof_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/etfcodec"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

type (
	shows   struct{} // has a method
	hides   struct{ n int }
	failure struct{ reason any }
	plain   struct{ N int }

	generic[T any] struct{ v T }
	posing         struct{}
	outer          struct {
		In  hides
		Far *hides
	}
)

func (shows) Term() any          { return wire.Atom("shows") }
func (g generic[T]) inner() any  { return g.v }
func (f *failure) Error() string { return "failure" }
func (posing) Error() string     { return "posing" }
func (posing) As(target any) bool {
	p, ok := target.(*interface {
		error
		wire.Termer
	})
	if ok {
		*p = said{}
	}
	return ok
}

type said struct{}

func (said) Error() string { return "said" }
func (said) Term() any     { return wire.Atom("said") }

func init() {
	termof.Enter(func(h hides) any { return wire.Tuple{wire.Atom("hides"), h.n} })
	termof.Enter(func(f *failure) any { return f.reason })
	termof.EnterAll(func(v interface{ inner() any }) any { return v.inner() })
}

// A value stands for what its method returns, or for what was entered for its type or an interface that it has.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		v, want any
		ok      bool
	}{
		{shows{}, wire.Atom("shows"), true}, {hides{2}, wire.Tuple{wire.Atom("hides"), 2}, true},
		{&failure{1}, 1, true}, {generic[int]{4}, 4, true}, {generic[any]{"x"}, "x", true},
		{failure{1}, nil, false}, {plain{1}, nil, false}, {nil, nil, false}, {3, nil, false},
	} {
		got, ok := termof.Of(c.v)
		require.Equal(t, c.ok, ok, "%v", c.v)
		require.Equal(t, c.want, got, "%v", c.v)
	}
	got, _ := termof.Of(wire.At{Name: "a", Node: "n"})
	require.Equal(t, wire.Tuple{wire.Atom("a"), wire.Atom("n")}, got)
	require.Equal(t, wire.List{wire.Atom("a"), wire.Atom("b")}, termof.Atoms([]string{"a", "b"}))
	require.Nil(t, termof.Type(reflect.TypeFor[plain]()))
	require.Equal(t, 5, termof.Type(reflect.TypeFor[generic[int]]())(generic[int]{5}))
}

// An error stands for what the first error that it wraps does.
func TestError(t *testing.T) {
	deep := fmt.Errorf("deep: %w", &failure{wire.Atom("deep")})
	for _, c := range []struct {
		err  error
		want any
	}{
		{&failure{1}, 1}, {deep, wire.Atom("deep")}, {errors.Join(errors.New("x"), deep, said{}), wire.Atom("deep")},
		{fmt.Errorf("%w", said{}), wire.Atom("said")}, {posing{}, wire.Atom("said")}, {errors.New("plain"), nil},
	} {
		got, ok := termof.Error(c.err)
		require.Equal(t, c.want != nil, ok, "%v", c.err)
		require.Equal(t, c.want, got, "%v", c.err)
	}
}

// Encoders write the entered term, with and without a hook for Go values, also inside other values.
func TestEncoders(t *testing.T) {
	want, err := etf.Append(nil, wire.Tuple{wire.Atom("hides"), 2})
	require.NoError(t, err)
	got, err := etf.Append(nil, hides{2})
	require.NoError(t, err)
	require.Equal(t, want, got)
	got, err = (&etfcodec.Encoder{Foreign: etf.ToTerm}).Append(nil, hides{2})
	require.NoError(t, err)
	require.Equal(t, want, got)
	term, err := etf.ToTerm(outer{hides{1}, &hides{2}})
	require.NoError(t, err)
	require.Equal(t, "#{far => {hides,2},in => {hides,1}}", wire.Format(term))
	term, err = etf.ToTerm([]any{&failure{wire.Atom("why")}, outer{}})
	require.NoError(t, err)
	require.Equal(t, "[why,#{far => undefined,in => {hides,0}}]", wire.Format(term))
}
