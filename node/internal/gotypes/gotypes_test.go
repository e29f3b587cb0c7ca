package gotypes_test

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node/internal/gotypes"
	"github.com/actornode/actornode/wire"
)

type order struct{ N int }

// listed is an error that cannot be compared.
type listed []string

func (listed) Error() string { return "listed" }

func TestErrors(t *testing.T) {
	var r gotypes.Registry[int]
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

// Types are found as soon as they are added, whoever reads meanwhile.
// The name of an error is an atom to others.
func TestErrorName(t *testing.T) {
	var r gotypes.Registry[string]
	long := errors.New(strings.Repeat("x", 256))
	for _, name := range [][]string{nil, {""}, {strings.Repeat("ж", 128)}, {"\xff"}} {
		require.ErrorContains(t, r.AddError(long, name...), "want UTF-8 of 1 to 255")
	}
	require.NoError(t, r.AddError(long, strings.Repeat("x", 255)))
}

func TestTypes(t *testing.T) {
	var r gotypes.Registry[int]
	typ := reflect.TypeFor[order]()
	_, ok := r.Maker(typ, nil)
	require.False(t, ok)
	var wg sync.WaitGroup
	for i, typ := range []reflect.Type{typ, reflect.PointerTo(typ), reflect.SliceOf(typ)} {
		wg.Go(func() {
			r.AddTypes(map[reflect.Type]int{typ: i})
			m, ok := r.Maker(typ, nil)
			require.True(t, ok)
			require.Equal(t, i, m)
		})
	}
	wg.Wait()
	m, ok := r.Maker(reflect.SliceOf(typ), nil)
	require.True(t, ok)
	require.Equal(t, 2, m)
}

type (
	tagged struct {
		N int `etf:"n"`
	}
	says   struct{ N int }
	colour int
)

func (*says) Term() any { return wire.Atom("says") }

// What is missing is a type with a name of its own, or a struct, wherever it is; what says which term
// it stands for is not.
func TestMissing(t *testing.T) {
	var r gotypes.Registry[int]
	builtin := map[reflect.Type]int{reflect.TypeFor[int](): 1, reflect.TypeFor[string](): 2}
	typ := reflect.TypeFor[order]()
	for _, c := range []struct{ typ, missing reflect.Type }{
		{nil, nil},
		{reflect.TypeFor[int](), nil},
		{reflect.TypeFor[wire.PID](), nil},
		{reflect.TypeFor[tagged](), nil},
		{reflect.TypeFor[says](), nil},
		{reflect.TypeFor[error](), nil},
		{reflect.TypeFor[listed](), nil},
		{reflect.TypeFor[chan int](), nil}, // the codec says what is wrong
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
	r.AddTypes(map[reflect.Type]int{typ: 3})
	require.Nil(t, r.Missing(reflect.TypeFor[[]order](), builtin))
	require.EqualError(t, gotypes.NotRegistered(typ), "type gotypes_test.order is not registered; at the start of both programs: "+
		"node.RegisterTypes(node.TypeOf[gotypes_test.order]())")
	require.ErrorContains(t, gotypes.NotRegistered(reflect.TypeFor[struct{ N int }]()), "give the type a name")
}

func TestName(t *testing.T) {
	name, err := gotypes.Name(reflect.TypeFor[order](), nil)
	require.NoError(t, err)
	require.Equal(t, "gotypes_test.order", name)
	name, err = gotypes.Name(reflect.TypeFor[order](), []string{"shop.Order"})
	require.NoError(t, err)
	require.Equal(t, "shop.Order", name)
	for _, typ := range []reflect.Type{reflect.TypeFor[*order](), reflect.TypeFor[int](), reflect.TypeFor[struct{ N int }]()} {
		_, err = gotypes.Name(typ, nil)
		require.ErrorContains(t, err, "has no name of its own")
	}
	_, err = gotypes.Name(reflect.TypeFor[order](), []string{"a", "b"})
	require.ErrorContains(t, err, "has 2 names")
}
