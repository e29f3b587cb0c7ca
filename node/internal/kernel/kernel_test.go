package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/termtest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node/internal/kernel"
	"github.com/actornode/actornode/wire"
)

type (
	tuple = wire.Tuple
	atom  = wire.Atom
)

var (
	origin = wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 7})
	pid    = origin.PID(5)
	leader = origin.PID(6)
	args   = wire.List{1, "x"}
	mfa    = kernel.Call{Module: "m", Function: "f", Args: []any{1, "x"}, Leader: leader}
)

// The table of doc.go.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		msg  any
		kind kernel.Kind
		from wire.PID
		call kernel.Call
	}{
		{tuple{pid, atom("features_request")}, kernel.Features, pid, kernel.Call{}},
		{tuple{pid, tuple{atom("call"), atom("m"), atom("f"), args, leader}}, kernel.Calls, pid, mfa},
		{tuple{pid, tuple{atom("call"), atom("m"), 1, args, leader}}, kernel.Calls, pid,
			kernel.Call{Module: "m", Args: []any{1, "x"}, Leader: leader, Bad: true}},
		{tuple{pid, tuple{atom("cast"), atom("m"), atom("f"), args, leader}}, kernel.Nothing, pid, kernel.Call{}},
		{tuple{atom("$gen_cast"), tuple{atom("cast"), atom("m"), atom("f"), args, atom("none")}}, kernel.Casts, wire.PID{},
			kernel.Call{Module: "m", Function: "f", Args: []any{1, "x"}}},
		{tuple{atom("$gen_cast"), tuple{atom("call"), atom("m"), atom("f"), args, leader}}, kernel.Nothing, wire.PID{}, kernel.Call{}},
		{tuple{pid, tuple{atom("noise"), atom("name"), 1}}, kernel.Nothing, pid, kernel.Call{}},
		{tuple{atom("pid"), atom("features_request")}, kernel.Nothing, wire.PID{}, kernel.Call{}},
		{atom("hello"), kernel.Nothing, wire.PID{}, kernel.Call{}},
	} {
		r := kernel.Read(c.msg)
		require.Equal(t, c.kind, r.Kind, c.msg)
		require.Equal(t, c.from, r.From, c.msg)
		require.Equal(t, c.call, r.Call, c.msg)
	}
}

func TestForwards(t *testing.T) {
	for _, c := range []struct {
		cast          tuple
		message       any
		given, noName any // answers; nil: none
	}{
		{tuple{atom("sbcast"), atom("name"), "hi"}, "hi", atom("a@h"), tuple{atom("nonexisting_name"), atom("name")}},
		{tuple{atom("send"), atom("name"), "hi"}, tuple{pid, "hi"}, nil, tuple{atom("nonexisting_name"), atom("name")}},
		{tuple{atom("send"), 7, "hi"}, "hi", atom("a@h"), tuple{atom("nonexisting_name"), 7}},
	} {
		r := kernel.Read(tuple{pid, c.cast})
		require.Equal(t, kernel.Forwards, r.Kind)
		require.Equal(t, c.message, r.Message)
		answer, ok := r.Forwarded("a@h", false)
		require.Equal(t, c.given != nil, ok)
		if ok {
			require.Equal(t, tuple{atom("rex"), atom("a@h"), c.given}, answer)
		}
		answer, ok = r.Forwarded("a@h", true)
		require.True(t, ok)
		require.Equal(t, tuple{atom("rex"), atom("a@h"), c.noName}, answer)
	}
}

func TestCalls(t *testing.T) {
	for _, name := range []atom{"call", "block_call"} {
		c, ok := kernel.ReadCall(tuple{name, atom("m"), atom("f"), args, leader})
		require.True(t, ok)
		require.Equal(t, mfa, c)
	}
	_, ok := kernel.ReadCall(tuple{atom("cast"), atom("m"), atom("f"), args, leader})
	require.False(t, ok)
	require.Equal(t, tuple{atom("badrpc"), tuple{atom("EXIT"), atom("badarg")}}, kernel.BadArg)
	require.Equal(t, tuple{atom("badrpc"), tuple{atom("EXIT"), atom("system_limit")}}, kernel.Refused)
	require.EqualError(t, kernel.Unsupported("rex", atom("x")), "rex does not support x")

	to, answer, ok := kernel.RefuseIO(tuple{atom("io_request"), pid, 3, atom("x")})
	require.True(t, ok)
	require.Equal(t, pid, to)
	require.Equal(t, tuple{atom("io_reply"), 3, tuple{atom("error"), atom("enotsup")}}, answer)
	_, _, ok = kernel.RefuseIO(tuple{atom("io_request"), 1, 3, atom("x")})
	require.False(t, ok)
}

func TestAsk(t *testing.T) {
	for _, c := range []struct {
		body, want any // nil: not supported
		node       atom
	}{
		{tuple{atom("is_auth"), atom("b@h")}, atom("yes"), "a@h"},
		{tuple{atom("is_auth")}, nil, "a@h"},
		{atom("nodename"), atom("a@h"), "a@h"},
		{atom("longnames"), false, "a@h"},
		{atom("longnames"), true, "a@h.org"},
		{wire.List{1}, nil, "a@h"},
	} {
		answer, ok := kernel.Ask(c.body, c.node)
		require.Equal(t, c.want != nil, ok, c.body)
		if ok {
			require.Equal(t, c.want, answer, c.body)
		}
	}
}

// No term makes the package panic.
func TestAnyTerm(t *testing.T) {
	r := testkit.Rand(t)
	words := []any{1, "x", atom("call"), atom("cast"), atom("send"), atom("$gen_cast"), atom("io_request"), pid, nil, wire.List{}}
	for range 20000 {
		msg := termtest.Of(r, words, 3)
		q := kernel.Read(msg)
		q.Forwarded("a@h", true)
		kernel.ReadCall(msg)
		kernel.RefuseIO(msg)
		kernel.Ask(msg, "a@h")
	}
}
