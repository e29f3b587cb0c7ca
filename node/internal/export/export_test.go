package export_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node/internal/export"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

func TestTable(t *testing.T) {
	var x export.Table[int]
	a, b := wire.Export{Module: "m", Function: "f", Arity: 1}, wire.Export{Module: "m", Function: "f", Arity: 0}
	refuse := errors.New("taken")
	set := func(to int) func(*int) error {
		return func(v *int) error {
			if *v != 0 {
				return refuse
			}
			*v = to
			return nil
		}
	}
	require.NoError(t, x.Change(a, set(1)))
	require.ErrorIs(t, x.Change(a, set(2)), refuse)
	require.NoError(t, x.Change(b, set(3)))
	require.ErrorIs(t, x.Change(wire.Export{Module: "z", Function: "f"}, func(*int) error { return refuse }), refuse)
	require.Equal(t, 1, x.Get(a))
	require.Equal(t, []wire.Export{b, a}, x.List(func(int) bool { return true }))
	require.Equal(t, []wire.Export{a}, x.List(func(v int) bool { return v == 1 }))
	require.True(t, x.Remove(a))
	require.False(t, x.Remove(a))
	require.Zero(t, x.Get(a))

	require.True(t, export.Valid(a))
	for _, bad := range []wire.Export{
		{Module: "m"}, {Function: "f"}, {Module: "m", Function: "f", Arity: -1}, {Module: "m", Function: "f", Arity: 256},
	} {
		require.False(t, export.Valid(bad), "%v", bad)
	}
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
		m, f, args := export.Applied(&dist.Spawn{Module: "erlang", Function: "apply", Args: c.args})
		if c.want == nil {
			c.want = c.args
		}
		require.Equal(t, []any{c.m, c.f, c.want}, []any{m, f, args})
	}
	m, f, args := export.Applied(&dist.Spawn{Module: "m", Function: "apply", Args: []any{1, 2, 3}})
	require.Equal(t, []any{wire.Atom("m"), wire.Atom("apply"), []any{1, 2, 3}}, []any{m, f, args})
}

func TestUnderstood(t *testing.T) {
	require.True(t, export.Understood(nil))
	require.True(t, export.Understood([]any{wire.Tuple{wire.Atom("priority"), wire.Atom("high")}}))
	for _, bad := range []any{
		wire.Atom("link"), wire.Tuple{wire.Atom("priority")}, wire.Tuple{wire.Atom("x"), 1}, wire.Tuple{wire.List{}, 1},
	} {
		require.False(t, export.Understood([]any{bad}), "%v", bad)
	}
}
