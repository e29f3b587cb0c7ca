package demo

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/testkit/nodetest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// TestTasks plays Elixir's Task.Supervisor.async, async_stream and start_child.
func TestTasks(t *testing.T) {
	run(t, func(t *testing.T, n *node.Node, _ node.PID) {
		fresh, err := rpc.NewActor(n, Module, "tasks", nil)
		require.NoError(t, err)
		sup, err := n.Spawn(fresh)
		require.NoError(t, err)
		self, err := n.Open()
		require.NoError(t, err)
		defer self.Close(nil)
		owner := wire.Tuple{n.Name(), self.Self(), self.Self()}
		start := func(args ...any) node.PID {
			v, err := node.Call[any](ctx, n, sup, wire.Tuple{wire.Atom("start_task"), append(wire.List{owner}, args...),
				wire.Atom("temporary"), wire.AtomUndefined})
			require.NoError(t, err)
			require.Equal(t, wire.AtomOK, v.(wire.Tuple)[0])
			return v.(wire.Tuple)[1].(node.PID)
		}
		ask := func(to node.PID, mfa any) {
			ref := n.MakeRef()
			require.NoError(t, self.Send(to, wire.Tuple{self.Self(), ref, self.Self(), wire.List{}, mfa}))
		}
		children := func() int {
			synctest.Wait()
			v, err := node.Call[any](ctx, n, sup, wire.Atom("which_children"))
			require.NoError(t, err)
			return len(v.(wire.List))
		}
		for _, watch := range []wire.Atom{"monitor", "nomonitor"} {
			pid := start(watch)
			require.Equal(t, 1, children())
			ask(pid, term(t, "{demo,add,[1,2]}"))
			require.Equal(t, 3, self.Receive().(wire.Tuple)[1])
			require.Zero(t, children())
		}
		for mfa, want := range map[string]string{
			"{demo,add,[1,x]}": "{badarith,[]}", "{demo,none,[]}": "{undef,[]}", "{erlang,halt,[]}": "{undef,[]}", "x": "{undef,[]}",
		} {
			pid := start(wire.Atom("monitor"))
			ref := self.Monitor(pid)
			ask(pid, term(t, mfa))
			require.Equal(t, want, wire.Format(nodetest.Down(t, self, ref).Reason), mfa)
		}
		late := start(wire.Atom("monitor"))
		require.Equal(t, wire.Atom("timeout"), nodetest.Down(t, self, self.Monitor(late)).Reason)

		start(wire.List{}, term(t, "{demo,add,[1,2]}"))
		require.Zero(t, children())

		pid := start(wire.Atom("nomonitor"))
		ref := self.Monitor(pid)
		stop := wire.Tuple{wire.Atom("terminate_child"), pid}
		v, err := node.Call[any](ctx, n, sup, stop)
		require.NoError(t, err)
		require.Equal(t, wire.AtomOK, v)
		require.Equal(t, node.Shutdown, nodetest.Down(t, self, ref).Reason)
		v, err = node.Call[any](ctx, n, sup, stop)
		require.NoError(t, err)
		require.Equal(t, "{error,not_found}", wire.Format(v))
		v, err = node.Call[any](ctx, n, sup, wire.Atom("count_children"))
		require.NoError(t, err)
		require.Equal(t, "[{specs,0},{active,0},{supervisors,0},{workers,0}]", wire.Format(v))
		for _, bad := range []string{"x", "{start_task,x,y,z}", "{start_task,[{a,b,c},monitor],y,z}", "{start_task,[1,2],y,z}"} {
			_, err = node.Call[any](ctx, n, sup, term(t, bad))
			require.Equal(t, "{unhandled_request,"+bad+"}", wire.Format(values.ErrorTerm(err)))
		}
	})
}
