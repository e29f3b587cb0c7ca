package otp_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/otp"
	"github.com/actornode/actornode/node/rpc"
)

// Another node may register only a limited number of names by erlang:register, and gets each back when the name goes.
func TestRegisterCounts(t *testing.T) {
	c := clustertest.NewCluster(t)
	far, near := c.StartWith("far", node.Distribution{Limits: node.Limits{Cluster: node.ClusterLimits{Names: 2}}}), c.Start("near")
	require.NoError(t, otp.Serve(far, otp.Config{Output: io.Discard}))
	process := func() node.PID {
		pid, err := far.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
		require.NoError(t, err)
		return pid
	}
	call := func(function node.Atom, args ...any) any {
		_, err := rpc.Call[any](testkit.Context(t), near, far.Name(), "erlang", function, args...)
		if err == nil {
			return nil
		}
		var raised *rpc.Error
		require.ErrorAs(t, err, &raised)
		return raised.Reason
	}
	for _, name := range []node.Atom{"a", "b"} {
		require.Nil(t, call("register", name, process()))
	}
	assert.Equal(t, node.Atom("badarg"), call("register", node.Atom("a"), process()), "it is taken")
	assert.Equal(t, node.Atom("system_limit"), call("register", node.Atom("c"), process()))
	require.Nil(t, call("unregister", node.Atom("a")))
	require.Nil(t, call("register", node.Atom("c"), process()))
	assert.Equal(t, node.Atom("system_limit"), call("register", node.Atom("a"), process()))
	require.NoError(t, far.Register("a", process()), "the node itself may")
}
