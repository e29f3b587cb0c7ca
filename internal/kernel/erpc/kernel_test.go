package erpc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/termtest"
	"github.com/actornode/actornode/wire"
)

type (
	tuple   = wire.Tuple
	rexAtom = wire.Atom
)

var (
	rexOrigin = wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 7})
	rexPID    = rexOrigin.PID(5)
	leader    = rexOrigin.PID(6)
	rexArgs   = wire.List{1, "x"}
	mfa       = erpc.RexCall{Module: "m", Function: "f", Args: []any{1, "x"}, Leader: leader}
)

// The table of doc.go.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		msg  any
		kind erpc.RexKind
		from wire.PID
		call erpc.RexCall
	}{
		{tuple{rexPID, rexAtom("features_request")}, erpc.RexFeatures, rexPID, erpc.RexCall{}},
		{tuple{rexPID, tuple{rexAtom("call"), rexAtom("m"), rexAtom("f"), rexArgs, leader}}, erpc.RexCalls, rexPID, mfa},
		{tuple{rexPID, tuple{rexAtom("call"), rexAtom("m"), 1, rexArgs, leader}}, erpc.RexCalls, rexPID,
			erpc.RexCall{Module: "m", Args: []any{1, "x"}, Leader: leader, Bad: true}},
		{tuple{rexPID, tuple{rexAtom("cast"), rexAtom("m"), rexAtom("f"), rexArgs, leader}}, erpc.RexNothing, rexPID, erpc.RexCall{}},
		{tuple{rexAtom("$gen_cast"), tuple{rexAtom("cast"), rexAtom("m"), rexAtom("f"), rexArgs, rexAtom("none")}}, erpc.RexCasts, wire.PID{},
			erpc.RexCall{Module: "m", Function: "f", Args: []any{1, "x"}}},
		{tuple{rexAtom("$gen_cast"), tuple{rexAtom("call"), rexAtom("m"), rexAtom("f"), rexArgs, leader}}, erpc.RexNothing, wire.PID{}, erpc.RexCall{}},
		{tuple{rexPID, tuple{rexAtom("noise"), rexAtom("name"), 1}}, erpc.RexNothing, rexPID, erpc.RexCall{}},
		{tuple{rexAtom("pid"), rexAtom("features_request")}, erpc.RexNothing, wire.PID{}, erpc.RexCall{}},
		{rexAtom("hello"), erpc.RexNothing, wire.PID{}, erpc.RexCall{}},
	} {
		r := erpc.ReadRex(c.msg)
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
		{tuple{rexAtom("sbcast"), rexAtom("name"), "hi"}, "hi", rexAtom("a@h"), tuple{rexAtom("nonexisting_name"), rexAtom("name")}},
		{tuple{rexAtom("send"), rexAtom("name"), "hi"}, tuple{rexPID, "hi"}, nil, tuple{rexAtom("nonexisting_name"), rexAtom("name")}},
		{tuple{rexAtom("send"), 7, "hi"}, "hi", rexAtom("a@h"), tuple{rexAtom("nonexisting_name"), 7}},
	} {
		r := erpc.ReadRex(tuple{rexPID, c.cast})
		require.Equal(t, erpc.RexForwards, r.Kind)
		require.Equal(t, c.message, r.Message)
		answer, ok := r.Forwarded("a@h", false)
		require.Equal(t, c.given != nil, ok)
		if ok {
			require.Equal(t, tuple{rexAtom("rex"), rexAtom("a@h"), c.given}, answer)
		}
		answer, ok = r.Forwarded("a@h", true)
		require.True(t, ok)
		require.Equal(t, tuple{rexAtom("rex"), rexAtom("a@h"), c.noName}, answer)
	}
}

func TestCalls(t *testing.T) {
	for _, name := range []rexAtom{"call", "block_call"} {
		c, ok := erpc.ReadRexCall(tuple{name, rexAtom("m"), rexAtom("f"), rexArgs, leader})
		require.True(t, ok)
		require.Equal(t, mfa, c)
	}
	_, ok := erpc.ReadRexCall(tuple{rexAtom("cast"), rexAtom("m"), rexAtom("f"), rexArgs, leader})
	require.False(t, ok)
	require.Equal(t, tuple{rexAtom("badrpc"), tuple{rexAtom("EXIT"), rexAtom("badarg")}}, erpc.BadArg)
	require.Equal(t, tuple{rexAtom("badrpc"), tuple{rexAtom("EXIT"), rexAtom("system_limit")}}, erpc.Refused)
	require.EqualError(t, erpc.Unsupported("rex", rexAtom("x")), "rex does not support x")

	to, answer, ok := erpc.RefuseIO(tuple{rexAtom("io_request"), rexPID, 3, rexAtom("x")})
	require.True(t, ok)
	require.Equal(t, rexPID, to)
	require.Equal(t, tuple{rexAtom("io_reply"), 3, tuple{rexAtom("error"), rexAtom("enotsup")}}, answer)
	_, _, ok = erpc.RefuseIO(tuple{rexAtom("io_request"), 1, 3, rexAtom("x")})
	require.False(t, ok)
}

func TestAsk(t *testing.T) {
	for _, c := range []struct {
		body, want any // nil: not supported
		node       rexAtom
	}{
		{tuple{rexAtom("is_auth"), rexAtom("b@h")}, rexAtom("yes"), "a@h"},
		{tuple{rexAtom("is_auth")}, nil, "a@h"},
		{rexAtom("nodename"), rexAtom("a@h"), "a@h"},
		{rexAtom("longnames"), false, "a@h"},
		{rexAtom("longnames"), true, "a@h.org"},
		{wire.List{1}, nil, "a@h"},
	} {
		answer, ok := erpc.AnswerNetKernel(c.body, c.node)
		require.Equal(t, c.want != nil, ok, c.body)
		if ok {
			require.Equal(t, c.want, answer, c.body)
		}
	}
}

// No term makes the package panic.
func TestAnyTerm(t *testing.T) {
	r := testkit.Rand(t)
	words := []any{1, "x", rexAtom("call"), rexAtom("cast"), rexAtom("send"), rexAtom("$gen_cast"), rexAtom("io_request"), rexPID, nil, wire.List{}}
	for range 20000 {
		msg := termtest.Of(r, words, 3)
		q := erpc.ReadRex(msg)
		q.Forwarded("a@h", true)
		erpc.ReadRexCall(msg)
		erpc.RefuseIO(msg)
		erpc.AnswerNetKernel(msg, "a@h")
	}
}
