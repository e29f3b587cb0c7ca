package lifetime_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/lifetime"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// An Owner cannot be sent to another node. Another node keeps a process by a monitor, and not by its PID.
func TestFar(t *testing.T) {
	c := clustertest.NewCluster(t)
	near, far := c.Start("near"), c.Start("far")
	c.Connect(near, far)
	h := nodetest.NewProbe(t, far)

	o := own(t, near, &holder{})
	pid := o.PID()
	var refused *wire.EncodeError
	err := near.Send(h.Self(), o)
	require.ErrorAs(t, err, &refused)
	require.ErrorContains(t, err, "lifetime.Owner")
	t.Log(err)
	require.NoError(t, near.Send(h.Self(), o.PID()))
	require.Equal(t, pid, node.ReceiveOf[node.PID](h.Process))

	ref := h.Monitor(pid)
	_, err = lifetime.Call[*lifetime.Owner](testkit.Context(t), near, o, me{})
	require.NoError(t, err)
	require.NoError(t, h.Send(pid, 1)) // after the monitor
	testkit.Until(t, func() string {
		if i, err := near.Info(pid); err != nil || len(i.Watchers) == 0 || i.Handled < 2 {
			return "the monitor has not come"
		}
		return ""
	})
	runtime.KeepAlive(o)
	survives(t, near, pid, "a monitor of another node")
	require.True(t, h.DemonitorFlush(ref))
	require.Equal(t, lifetime.Collected, collect(t, near, pid))
}
