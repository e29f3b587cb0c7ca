package otp_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// The process user comes back when it has ended, and no function that is called by name ends it or takes its name.
func TestUserIsKept(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	var out bytes.Buffer // written by one process at a time
	require.NoError(t, otp.Serve(n, otp.Config{Output: &out}))
	ctx := testkit.Context(t)
	pid, _ := n.Whereis("user")
	for _, args := range [][]any{{wire.Atom("exit"), pid, node.Kill}, {wire.Atom("unregister"), wire.Atom("user")}} {
		_, err := rpc.Apply(ctx, n, "erlang", args[0].(wire.Atom), args[1:])
		require.Equal(t, wire.Atom("protected"), values.ErrorTerm(err), "%v", args)
	}
	require.True(t, n.IsAlive(pid))
	n.Exit(pid, node.Kill)
	testkit.Until(t, func() string {
		if now, ok := n.Whereis("user"); !ok || now == pid {
			return "it has not been started again"
		}
		return ""
	})
	h := nodetest.NewProbe(t, n)
	require.NoError(t, h.Send(node.Atom("user"), wire.Tuple{wire.Atom("io_request"), h.Self(), 1, wire.Tuple{wire.Atom("put_chars"), wire.Atom("unicode"), "x"}}))
	require.Equal(t, wire.Tuple{wire.Atom("io_reply"), 1, wire.AtomOK}, nodetest.Expect[wire.Tuple](h))
	require.Equal(t, "x", out.String())
}
