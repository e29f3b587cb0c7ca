package demo

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// TestTasks plays Elixir's Task.Supervisor.async.
func TestTasks(t *testing.T) {
	run(t, func(t *testing.T, n *node.Node, _ node.PID) {
		fresh, err := rpc.NewActor(n, Module, "tasks", nil)
		require.NoError(t, err)
		sup, err := n.Spawn(fresh)
		require.NoError(t, err)
		self := nodetest.NewProbe(t, n)
		me, ref := self.Self(), n.MakeRef()
		require.NoError(t, self.Send(sup, wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{me, ref}, wire.Tuple{wire.Atom("start_task"),
			wire.List{wire.Tuple{n.Name(), me, me}, wire.Atom("monitor")}, wire.Atom("temporary"), wire.AtomUndefined}}))
		pid := self.Receive().(wire.Tuple)[1].(wire.Tuple)[1].(node.PID)
		children, err := supervisor.WhichChildren(t.Context(), n, sup)
		require.NoError(t, err)
		require.Equal(t, pid, children[0].PID)
		require.NoError(t, self.Send(pid, wire.Tuple{me, ref, me, wire.List{}, term(t, "{demo,add,[1,2]}")}))
		require.Equal(t, wire.Tuple{ref, 3}, self.Receive())
	})
}
