package otp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

// The monitors of a process are shown as OTP shows them: processes by PID, names as names with their node.
func TestMonitorsAreShown(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		n, far := c.Start("a"), c.Start("b")
		c.Connect(n, far)
		h := nodetest.NewProbe(t, n)
		near := actortest.Actor.Spawn(t, n, actortest.Ignore)
		away := actortest.Actor.Spawn(t, far, actortest.Ignore)
		require.NoError(t, n.Register("near", near))
		require.NoError(t, far.Register("away", away))
		for _, to := range []node.Dest{near, node.Atom("near"), away, node.At{Name: "away", Node: far.Name()}} {
			h.Monitor(to)
		}
		h.MonitorNode(far.Name())
		require.NoError(t, n.Ping(testkit.Context(t), far.Name()))
		i, err := n.Info(h.Self())
		require.NoError(t, err)
		require.ElementsMatch(t, []node.PID{near, away}, i.Monitors)
		require.ElementsMatch(t, []node.At{{Name: "near", Node: n.Name()}, {Name: "away", Node: far.Name()}}, i.Named)
	})
}
