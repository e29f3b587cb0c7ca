package values_test

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/wire"
)

type order struct{ N int }

// listed is an error that cannot be compared.
type listed []string

func (listed) Error() string { return "listed" }

func TestErrors(t *testing.T) {
	var r values.Registry
	mine := errors.New("mine")
	require.NoError(t, r.AddError(io.EOF))
	require.NoError(t, r.AddError(io.EOF), "again")
	require.NoError(t, r.AddError(mine, "shop.mine"))
	for _, c := range []struct {
		err  error
		name []string
		says string
	}{
		{nil, nil, "the error is nil"},
		{listed{"a"}, nil, "cannot be compared"},
		{mine, []string{"a", "b"}, "has 2 names: want one"},
		{mine, []string{"other"}, `the error "mine" has the name "shop.mine"`},
		{errors.New("EOF"), nil, `the name "EOF" is that of another error`},
	} {
		require.ErrorContains(t, r.AddError(c.err, c.name...), c.says)
	}
}

// The name of an error is an atom to others.
func TestErrorName(t *testing.T) {
	var r values.Registry
	long := errors.New(strings.Repeat("x", 256))
	for _, name := range [][]string{nil, {""}, {strings.Repeat("ж", 128)}, {"\xff"}} {
		require.ErrorContains(t, r.AddError(long, name...), "want UTF-8 of 1 to 255")
	}
	require.NoError(t, r.AddError(long, strings.Repeat("x", 255)))
}

// Types and their makers are found as soon as they are added, whoever reads meanwhile.
func TestTypes(t *testing.T) {
	var r values.Registry
	var makers values.Makers[int]
	typ := reflect.TypeFor[order]()
	_, ok := makers.Of(typ)
	require.False(t, ok)
	_, ok = makers.Named("order")
	require.False(t, ok)
	require.False(t, r.Has(typ))
	name, err := values.AddType[order](&r, "order")
	require.NoError(t, err)
	require.Equal(t, "order", name)
	require.Equal(t, typ, r.Type("order"))
	require.Equal(t, "order", r.NameOf(typ))
	_, err = values.AddType[says](&r, "order")
	require.ErrorContains(t, err, "the name is that of values_test.order")
	var wg sync.WaitGroup
	for i, typ := range []reflect.Type{typ, reflect.PointerTo(typ), reflect.SliceOf(typ)} {
		wg.Go(func() {
			makers.Add(values.MadeOf[int]{typ, typ.String(), i})
			m, ok := makers.Of(typ)
			require.True(t, ok)
			require.Equal(t, i, m)
		})
	}
	wg.Wait()
	m, ok := makers.Of(reflect.SliceOf(typ))
	require.True(t, ok)
	require.Equal(t, 2, m)
	m, ok = makers.Named("*values_test.order")
	require.True(t, ok)
	require.Equal(t, 1, m)
}

// A type composed of a registered type, without a name of its own, is known, too.
func TestHas(t *testing.T) {
	var r values.Registry
	_, err := values.AddType[order](&r)
	require.NoError(t, err)
	for typ, has := range map[reflect.Type]bool{
		nil:                                    false,
		reflect.TypeFor[order]():               true,
		reflect.TypeFor[*order]():              true,
		reflect.TypeFor[[]order]():             true,
		reflect.TypeFor[map[string]order]():    true,
		reflect.TypeFor[map[wire.Atom]order](): false,
		reflect.TypeFor[[]*order]():            false,
		reflect.TypeFor[orders]():              false,
		reflect.TypeFor[says]():                false,
	} {
		require.Equal(t, has, r.Has(typ), "%v", typ)
	}
}

type (
	tagged struct {
		N int `etf:"n"`
	}
	says   struct{ N int }
	colour int
	orders []order
)

func (*says) Term() any { return wire.Atom("says") }

// Missing reports a type with a name of its own, or a struct, wherever it is nested; a type that says which term it
// stands for is not missing.
func TestMissing(t *testing.T) {
	var r values.Registry
	builtin := func(typ reflect.Type) bool {
		return typ == reflect.TypeFor[int]() || typ == reflect.TypeFor[string]()
	}
	typ := reflect.TypeFor[order]()
	for _, c := range []struct{ typ, missing reflect.Type }{
		{nil, nil},
		{reflect.TypeFor[int](), nil},
		{reflect.TypeFor[wire.PID](), nil},
		{reflect.TypeFor[tagged](), nil},
		{reflect.TypeFor[says](), nil},
		{reflect.TypeFor[error](), nil},
		{reflect.TypeFor[listed](), nil},
		{reflect.TypeFor[chan int](), nil}, // the codec reports what is wrong
		{reflect.TypeFor[[]map[string]int](), nil},
		{typ, typ},
		{reflect.TypeFor[colour](), reflect.TypeFor[colour]()},
		{reflect.TypeFor[map[string][]*order](), typ},
		{reflect.TypeFor[map[order]int](), typ},
		{reflect.TypeFor[[3]order](), typ},
		{reflect.TypeFor[struct{ N int }](), reflect.TypeFor[struct{ N int }]()},
	} {
		require.Equal(t, c.missing, r.Missing(c.typ, builtin), "%v", c.typ)
	}
	_, err := values.AddType[order](&r)
	require.NoError(t, err)
	require.Nil(t, r.Missing(reflect.TypeFor[[]order](), builtin))
	require.EqualError(t, values.NotRegistered(typ), "type values_test.order is not registered; at the start of both programs: "+
		"node.RegisterTypes(node.TypeOf[values_test.order]())")
	require.ErrorContains(t, values.NotRegistered(reflect.TypeFor[struct{ N int }]()), "give the type a name")
}

func TestName(t *testing.T) {
	name, err := values.TypeName(reflect.TypeFor[order](), nil)
	require.NoError(t, err)
	require.Equal(t, "values_test.order", name)
	name, err = values.TypeName(reflect.TypeFor[order](), []string{"shop.Order"})
	require.NoError(t, err)
	require.Equal(t, "shop.Order", name)
	for _, typ := range []reflect.Type{reflect.TypeFor[*order](), reflect.TypeFor[int](), reflect.TypeFor[struct{ N int }]()} {
		_, err = values.TypeName(typ, nil)
		require.ErrorContains(t, err, "has no name of its own")
	}
	_, err = values.TypeName(reflect.TypeFor[order](), []string{"a", "b"})
	require.ErrorContains(t, err, "has 2 names")
}
