package genserver_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// Structs that stand for terms.
type (
	add struct {
		_    struct{} `etf:"add,tuple"`
		A, B int
	}
	addText struct {
		_    struct{} `etf:"add,tuple"`
		A, B string
	}
	reset struct {
		_  struct{} `etf:"reset,record"`
		To int
	}
	noted struct {
		_    struct{} `etf:"noted,tuple"`
		What wire.Atom
	}
)

type summer struct {
	sum  int
	seen chan any
}

// Handlers of structs with a tag take the terms that these stand for: calls, casts and messages, by the first atom and
// the number of elements; where an element does not fit, the next handler takes the term.
func TestTaggedStructs(t *testing.T) {
	kind := genserver.Define(
		genserver.OnAnyCall(func(s *summer, _ *genserver.Context, r add) (int, error) { s.sum += r.A + r.B; return s.sum, nil }),
		genserver.OnAnyCall(func(_ *summer, _ *genserver.Context, r addText) (string, error) { return r.A + r.B, nil }),
		genserver.OnCast(func(s *summer, _ *genserver.Context, r reset) error { s.sum = r.To; return nil }),
		genserver.OnInfo(func(s *summer, _ *genserver.Context, m noted) error { s.seen <- m.What; return nil }),
		genserver.OnInfo(func(s *summer, _ *genserver.Context, m any) error { s.seen <- m; return nil }),
	)
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	s := &summer{seen: make(chan any, 1)}
	pid, err := kind.Start(testkit.Context(t), n, s, node.Options{})
	require.NoError(t, err)
	call := func(req any) (any, error) { return node.Call[any](testkit.Context(t), h, pid, req) }
	for _, c := range []struct{ req, reply any }{
		{add{A: 1, B: 2}, 3},
		{wire.Tuple{a("add"), 1, 2}, 6},
		{wire.Tuple{a("add"), "x", []byte("y")}, "xy"},
	} {
		reply, err := call(c.req)
		require.NoError(t, err)
		require.Equal(t, c.reply, reply)
	}
	for _, wrong := range []any{wire.Tuple{a("add"), 1, "y"}, wire.Tuple{a("add"), 1}, wire.Tuple{a("sub"), 1, 2}, wire.Tuple{}} {
		_, err := call(wrong)
		var unhandled *genserver.UnhandledError
		require.True(t, errors.As(err, &unhandled), "%v: %v", wrong, err)
	}
	_, err = call(wire.Tuple{a("add"), 1, "y"})
	require.ErrorContains(t, err, "genserver_test.add.B: ")
	require.ErrorContains(t, err, "genserver_test.addText.A: ")
	require.NoError(t, n.Send(pid, wire.Tuple{a("$gen_cast"), wire.Tuple{a("reset"), 40}}))
	reply, err := call(wire.Tuple{a("add"), 1, 1})
	require.NoError(t, err)
	require.Equal(t, 42, reply)
	for _, c := range []struct{ msg, seen any }{
		{wire.Tuple{a("noted"), a("this")}, a("this")},
		{wire.Tuple{a("noted"), 5}, wire.Tuple{a("noted"), 5}},
	} {
		require.NoError(t, n.Send(pid, c.msg))
		require.Equal(t, c.seen, testkit.Receive(t, s.seen))
	}
}

// A handler of tuples gets all of them.
func TestTaggedStructsBesideTuples(t *testing.T) {
	kind := genserver.Define(
		genserver.OnAnyCall(func(_ *summer, _ *genserver.Context, r add) (string, error) { return "struct", nil }),
		genserver.OnAnyCall(func(_ *summer, _ *genserver.Context, r wire.Tuple) (string, error) { return "tuple", nil }),
	)
	n := nodetest.Start(t, node.Config{})
	pid, err := kind.Start(testkit.Context(t), n, &summer{}, node.Options{})
	require.NoError(t, err)
	for req, want := range map[any]string{add{}: "struct", &wire.Tuple{a("add"), 1, 2}: "tuple"} {
		if p, ok := req.(*wire.Tuple); ok {
			req = *p
		}
		reply, err := node.Call[string](testkit.Context(t), n, pid, req)
		require.NoError(t, err)
		require.Equal(t, want, reply)
	}
}
