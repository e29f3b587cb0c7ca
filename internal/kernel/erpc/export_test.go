package erpc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

func TestTable(t *testing.T) {
	var x erpc.Exports[int]
	a, b := wire.Export{Module: "m", Function: "f", Arity: 1}, wire.Export{Module: "m", Function: "f", Arity: 0}
	z := wire.Export{Module: "z", Function: "f", Arity: 1}
	one := func(context.Context, []any) (any, error) { return 1, nil }
	make2 := func(args []any) (int, error) { return 2 + len(args), nil }
	require.Empty(t, x.All())
	require.False(t, x.Remove(a))

	require.True(t, x.AddFunction(a, one))
	require.False(t, x.AddFunction(a, one))
	require.True(t, x.AddBehaviour(a, make2), "a function and a behaviour may share a name")
	require.False(t, x.AddBehaviour(a, make2))
	require.True(t, x.AddBehaviour(z, make2))
	require.True(t, x.AddFunction(b, one))
	require.Equal(t, []wire.Export{b, a, z}, x.All())
	require.Equal(t, []wire.Export{a, z}, x.Behaviours())
	require.True(t, x.HasFunction(b))
	require.False(t, x.HasFunction(z))

	v, err := x.Make("z", "f", []any{"x"})
	require.NoError(t, err)
	require.Equal(t, 3, v)
	_, err = x.Make("m", "f", nil)
	require.ErrorIs(t, err, erpc.ErrUndef, "a function is no behaviour")
	f, _ := x.Find("z", "f", []any{1})
	require.Nil(t, f, "a behaviour is no function")

	require.True(t, x.Remove(a))
	require.False(t, x.Remove(a))
	require.Equal(t, []wire.Export{b, z}, x.All())

	require.True(t, erpc.Valid(a))
	for _, bad := range []wire.Export{
		{Module: "m"}, {Function: "f"}, {Module: "m", Function: "f", Arity: -1}, {Module: "m", Function: "f", Arity: 256},
	} {
		require.False(t, erpc.Valid(bad), "%v", bad)
	}
}

// A function offered under every module is found where the module has no such function of its own.
func TestAnyModule(t *testing.T) {
	var x erpc.Exports[int]
	own := func(context.Context, []any) (any, error) { return "own", nil }
	anyOne := func(_ context.Context, args []any) (any, error) { return args, nil }
	require.True(t, x.AddFunction(wire.Export{Module: erpc.AnyModule, Function: "info", Arity: 1}, anyOne))
	require.True(t, x.AddFunction(wire.Export{Module: "m", Function: "info", Arity: 1}, own))
	for _, c := range []struct {
		module wire.Atom
		want   any
	}{{"m", "own"}, {"n", []any{wire.Atom("n"), 7}}} {
		f, args := x.Find(c.module, "info", []any{7})
		require.NotNil(t, f)
		v, err := f(t.Context(), args)
		require.NoError(t, err)
		require.Equal(t, c.want, v)
	}
	f, _ := x.Find("n", "info", nil)
	require.Nil(t, f)
}

func TestApplied(t *testing.T) {
	list := wire.List{1, 2}
	for _, c := range []struct {
		args []any
		m, f wire.Atom
		want []any
	}{
		{[]any{wire.Export{Module: "m", Function: "f", Arity: 2}, list}, "m", "f", []any{1, 2}},
		{[]any{wire.Atom("m"), wire.Atom("f"), list}, "m", "f", []any{1, 2}},
		{[]any{wire.Export{Module: "m", Function: "f", Arity: 1}, list}, "erlang", "apply", nil},
		{[]any{wire.Atom("m"), "f", list}, "erlang", "apply", nil},
		{[]any{1}, "erlang", "apply", nil},
	} {
		m, f, args := erpc.Applied(&dist.Spawn{Module: "erlang", Function: "apply", Args: c.args})
		if c.want == nil {
			c.want = c.args
		}
		require.Equal(t, []any{c.m, c.f, c.want}, []any{m, f, args})
	}
	m, f, args := erpc.Applied(&dist.Spawn{Module: "m", Function: "apply", Args: []any{1, 2, 3}})
	require.Equal(t, []any{wire.Atom("m"), wire.Atom("apply"), []any{1, 2, 3}}, []any{m, f, args})
}

func TestUnderstood(t *testing.T) {
	require.True(t, erpc.Understood(nil))
	require.True(t, erpc.Understood([]any{wire.Tuple{wire.Atom("priority"), wire.Atom("high")}}))
	for _, bad := range []any{
		wire.Atom("link"), wire.Tuple{wire.Atom("priority")}, wire.Tuple{wire.Atom("x"), 1}, wire.Tuple{wire.List{}, 1},
	} {
		require.False(t, erpc.Understood([]any{bad}), "%v", bad)
	}
}
