package node_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// erpcTerm is the term in the list of erpc:multicall for a result of RPC.
func erpcTerm(v any, err error) any {
	a := func(s string) any { return node.Atom(s) }
	var raised *rpc.Error
	var exited *node.ExitError
	var refused *rpc.SpawnError
	switch {
	case err == nil:
		return wire.Tuple{a("ok"), v}
	case errors.Is(err, node.ErrNoConnection):
		return wire.Tuple{a("error"), wire.Tuple{a("erpc"), a("noconnection")}}
	case errors.Is(err, node.ErrTimeout):
		return wire.Tuple{a("error"), wire.Tuple{a("erpc"), a("timeout")}}
	case errors.As(err, &raised) && raised.Class == "throw":
		return wire.Tuple{a("throw"), raised.Reason}
	case errors.As(err, &raised):
		return wire.Tuple{raised.Class, standsFor(raised)}
	case errors.As(err, &exited):
		return wire.Tuple{a("exit"), wire.Tuple{a("signal"), exited.Reason}}
	case errors.As(err, &refused):
		return wire.Tuple{a("error"), wire.Tuple{a("erpc"), refused.Reason}}
	}
	return err.Error()
}

// A call has the same result from Go as from Erlang, on Erlang nodes and on Go nodes; Erlang gets the same result from
// the Go functions as from its own.
func TestRPCAsOTP(t *testing.T) {
	c := newOTPHost(t)
	caller, callee := c.erl("e1", "secret"), c.erl("e2", "secret")
	n := c.start(c.config("go"))
	exportFar(t, n)
	nodes := []node.Atom{callee.name, "nobody@127.0.0.1", n.Name(), callee.name, "nohost@nowhere.invalid"}
	list := make(wire.List, len(nodes))
	for i, name := range nodes {
		list[i] = name
	}
	a := func(s string) any { return node.Atom(s) }
	for _, k := range []struct {
		module, function node.Atom
		args             []any
	}{
		{"far", "give", []any{wire.Tuple{a("x"), 1, "bin", wire.List{1.5, wire.List{}}}}},
		{"far", "raise", []any{a("throw"), wire.Tuple{a("ball"), 1}}},
		{"far", "raise", []any{a("exit"), wire.Tuple{a("shutdown"), 1}}},
		{"far", "raise", []any{a("exit"), a("normal")}},
		{"far", "raise", []any{a("exit"), a("noconnection")}},
		{"far", "raise", []any{a("error"), a("boom")}},
		{"far", "die", nil},
		{"far", "nothing", []any{1, 2}},
		{"nothing", "at_all", nil},
		{"erlang", "abs", []any{a("x")}},
		{"erlang", "node", nil},
	} {
		what := string(k.module) + ":" + string(k.function)
		v, err := rpc.Call[wire.List](testkit.Context(t), n, caller.name, "erpc", "multicall", list, k.module, k.function, wire.List(k.args))
		require.NoError(t, err, what)
		replies := rpc.Multi[any](testkit.Context(t), n, nodes, k.module, k.function, k.args...)
		require.Len(t, v, len(replies))
		for i, r := range replies {
			got := erpcTerm(r.Value, r.Err)
			want, got := plainStack(v[i]), plainStack(got)
			assert.True(t, wire.Equal(want, got), "%s on %s: from Erlang %s, from Go %s", what, nodes[i], wire.Format(want), wire.Format(got))
			if i > 0 || k.module != "far" { // no code of the test: only the stack differs there
				continue
			}
			ours := plainStack(v[2])
			assert.True(t, wire.Equal(want, ours), "%s: Erlang's function %s, Go's %s", what, wire.Format(want), wire.Format(ours))
		}
	}

	v, err := rpc.Call[wire.List](testkit.Context(t), n, caller.name, "erpc", "multicall", list[:4], a("far"), a("wait"), wire.List{}, 2000)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, node.ErrTimeout)
	defer cancel()
	for i, r := range rpc.Multi[any](ctx, n, nodes[:4], "far", "wait") {
		assert.True(t, wire.Equal(v[i], erpcTerm(r.Value, r.Err)), "%s %s", wire.Format(v[i]), wire.Format(erpcTerm(r.Value, r.Err)))
	}
	for _, class := range []string{"throw", "exit", "error"} {
		theirs := caller.Ask("far:cast('%s', %s, {a,1})", callee.name, class)
		ours := caller.Ask("far:cast('%s', %s, {a,1})", n.Name(), class)
		assert.Equal(t, beforeStack(theirs), beforeStack(ours))
	}
}

// plainStack reduces each entry of the stack in an answer to the function that was called: only OTP knows its place in
// the code and its arguments.
func plainStack(answer any) any {
	t, ok := answer.(wire.Tuple)
	if !ok || len(t) != 2 || t[0] != node.Atom("error") {
		return answer
	}
	e, ok := t[1].(wire.Tuple)
	if !ok || len(e) != 3 || e[0] != node.Atom("exception") {
		return answer
	}
	stack, _ := wire.AsList(e[2])
	var plain wire.List
	for _, entry := range stack {
		f := entry.(wire.Tuple)
		arity := f[2]
		if args, ok := wire.AsList(arity); ok {
			arity = len(args)
		}
		plain = append(plain, wire.Tuple{f[0], f[1], arity})
	}
	return wire.Tuple{t[0], wire.Tuple{e[0], e[1], plain}}
}

// beforeStack is what precedes the first list in a term as text.
func beforeStack(term string) string {
	for i, c := range term {
		if c == '[' {
			return term[:i]
		}
	}
	return term
}

// A cast runs there, and its unwanted answer is no message.
func TestRPCCastToOTP(t *testing.T) {
	c := newOTPHost(t)
	e := c.erl("e1", "secret")
	n := c.start(c.config("go"))
	me, got := catcher(t, n, "")
	require.NoError(t, rpc.Cast(n, e.name, "erlang", "send", me, node.Atom("hello")))
	assert.Equal(t, node.Atom("hello"), caught(t, got))
	require.NoError(t, rpc.Cast(n, e.name, "far", "raise", node.Atom("throw"), 1))
	dead := n.DeadLetters(8)
	require.NoError(t, rpc.Cast(n, e.name, "erlang", "send", me, make(chan int)))
	letter := testkit.Receive(t, dead.C)
	if letter.Name == "logger_proxy" { // OTP's crash report of the process that has raised
		letter = testkit.Receive(t, dead.C)
	}
	assert.Equal(t, deadletter.NotATerm, letter.Cause)
	assert.Equal(t, "ok", e.Ask("erpc:cast('%s', erlang, send, [1, 2])", n.Name()))
	require.NoError(t, rpc.Cast(n, e.name, "erlang", "send", me, node.Atom("bye")))
	assert.Equal(t, node.Atom("bye"), caught(t, got))
	testkit.Until(t, func() string { return node.FarTables(n) })
}
