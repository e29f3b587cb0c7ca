package otp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/procview"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// A suspended server is still a gen_server to OTP's tools, and waits where OTP's server would.
func TestSuspendedServer(t *testing.T) {
	n, ctx := nodetest.Start(t, node.Config{}), testkit.Context(t)
	pid, err := genserver.Define[int]().Start(ctx, n, 1, node.Options{})
	require.NoError(t, err)
	require.NoError(t, sys.Suspend(ctx, n, pid))
	i, err := n.Info(pid)
	require.NoError(t, err)
	p := procview.ProgramOf(&i)
	require.Equal(t, wire.Atom("gen_server"), p.Kind)
	require.Equal(t, "{sys,suspend_loop_hib,6}", wire.Format(p.Current))
}
