package erpc_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// What a spawn starts, and how it ends if the peer may not start it.
func TestWanted(t *testing.T) {
	var tab erpc.Exports[string]
	e := func(name wire.Atom, arity int) wire.Export {
		return wire.Export{Module: "m", Function: name, Arity: arity}
	}
	require.True(t, tab.AddBehaviour(e("actor", 2), func([]any) (string, error) { return "an actor", nil }))
	require.True(t, tab.AddBehaviour(e("broken", 0), func([]any) (string, error) { return "", errors.New("broken") }))
	require.True(t, tab.AddFunction(e("f", 2), func(context.Context, []any) (any, error) { return 7, nil }))
	run := func(ctx context.Context, module, function wire.Atom, args []any) erpc.Outcome {
		return erpc.Run(module, function, args, calls.ReasonTerm[*exited], func() (any, error) {
			f, all := tab.Find(module, function, args)
			if f == nil {
				return nil, erpc.ErrUndef
			}
			return f(ctx, all)
		})
	}
	spawn := func(function wire.Atom, args ...any) *dist.Spawn {
		return &dist.Spawn{Module: "m", Function: function, Args: args}
	}
	undef := func(name wire.Atom, args ...any) any {
		return wire.Tuple{atom("undef"), wire.List{wire.Tuple{atom("m"), name, wire.List(args), wire.List{}}}}
	}
	for _, c := range []struct {
		s     *dist.Spawn
		allow bool
		actor string
		end   any // nil: normal
	}{
		{spawn("actor", 1, 2), true, "an actor", nil},
		{spawn("actor", 1, 2), false, "", undef("actor", 1, 2)},
		{spawn("none", 1), true, "", undef("none", 1)},
		{spawn("broken"), true, "", "broken"},
		{spawn("f", args...), true, "", nil},
		{spawn("f", args...), false, "", undef("f", args...)},
		{erpc.NewFunction("b@h", "m", "f", args).Call(ref, pid), true, "", wire.Tuple{ref, atom("return"), 7}},
		{erpc.NewFunction("b@h", "m", "f", args).Cast(pid), true, "", nil},
		{&dist.Spawn{Module: "erlang", Function: "apply", Args: []any{atom("m"), atom("f"), wire.List(args)}}, true, "", nil},
	} {
		actor, f, err := erpc.Wanted[*exited](&tab, c.s, func(wire.Export) bool { return c.allow }, run)
		require.NoError(t, err)
		require.Equal(t, c.actor, actor)
		if c.actor != "" {
			require.Nil(t, f)
			continue
		}
		err = f(t.Context())
		if c.end == nil {
			require.NoError(t, err, "%+v", c.s)
		} else {
			why := text(reasonOf(t, err))
			if broken, ok := why.(error); ok {
				why = broken.Error()
			}
			require.Equal(t, c.end, why, "%+v", c.s)
		}
	}
	s := spawn("actor", 1, 2)
	s.Options = wire.List{atom("odd")}
	_, _, err := erpc.Wanted[*exited](&tab, s, func(wire.Export) bool { return true }, run)
	require.Equal(t, atom("badopt"), reasonOf(t, err))
}

// text makes a string of a binary.
func text(v any) any {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return v
}
