package supervisor_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// Other nodes can start by name only those children that Distribution.Access.Allow permits, and Go code of the program
// can start all.
func TestStartChildAsksAllow(t *testing.T) {
	cluster := clustertest.NewCluster(t)
	far := cluster.StartWith("far", node.Distribution{
		Access: node.Access{Allow: func(peer node.Atom, e wire.Export) bool {
			return peer == "near@127.0.0.1" && e.Function == "yes"
		}}})
	near, other := cluster.Start("near"), cluster.Start("other")
	for _, name := range []wire.Atom{"yes", "no"} {
		require.NoError(t, rpc.ExportBehaviour(far, wire.Export{Module: "m", Function: name}, func([]any) (node.Actor, error) {
			return node.ActorFunc(func(*node.Context, any) error { return nil }), nil
		}))
	}
	ctx := testkit.Context(t)
	inner := supervisor.Child{ID: "inner", Type: supervisor.Supervisor, Options: node.Options{Name: "inner"},
		Start: func(...any) (node.Actor, error) { return supervisor.New(supervisor.Spec{}), nil }}
	_, err := supervisor.Start(ctx, far, supervisor.Spec{Children: []supervisor.Child{inner}}, node.Options{Name: "top"})
	require.NoError(t, err)
	id := 0
	request := func(function wire.Atom) any {
		id++
		return wire.Tuple{wire.Atom("start_child"), wire.NewMap(wire.Atom("id"), id,
			wire.Atom("start"), wire.Tuple{wire.Atom("m"), function, wire.List{}})}
	}
	for _, sup := range []node.Atom{"top", "inner"} {
		for _, c := range []struct {
			from     *node.Node
			function wire.Atom
			ok       bool
		}{{near, "yes", true}, {near, "no", false}, {other, "yes", false}, {other, "no", false}} {
			v, err := node.Call[any](ctx, c.from, node.At{Name: sup, Node: far.Name()}, request(c.function))
			require.NoError(t, err)
			if c.ok {
				assert.Equal(t, wire.AtomOK, v.(wire.Tuple)[0], "%s %s %s", sup, c.from.Name(), c.function)
			} else {
				assert.Contains(t, wire.Format(v), "undef", "%s %s %s", sup, c.from.Name(), c.function)
			}
		}
	}
	// In the name of a node that has the right, and passed on by a process here.
	claimed, me := nodetest.NewProbe(t, near), nodetest.NewProbe(t, other)
	require.NoError(t, near.Connect(ctx, far.Name()))
	forged := func(from node.PID) any {
		return wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{from, near.MakeRef()}, request("yes")}
	}
	require.NoError(t, me.Send(node.At{Name: "top", Node: far.Name()}, forged(claimed.Self())))
	assert.Contains(t, wire.Format(nodetest.Expect[wire.Tuple](claimed)[1]), "undef")
	require.NoError(t, far.Send(node.Atom("top"), forged(claimed.Self())))
	assert.Contains(t, wire.Format(nodetest.Expect[wire.Tuple](claimed)[1]), "undef")
	// The program itself.
	_, err = supervisor.StartChild(ctx, far, node.Atom("top"),
		supervisor.Child{ID: "own", Named: supervisor.Named{Module: "m", Function: "no"}})
	require.NoError(t, err)
}

// A node that does not operate this one can end children that a node has started, and no others.
func TestChildrenOfTheNodeStay(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, cluster *clustertest.Cluster) {
		far, near, ops := cluster.Start("far"), cluster.Start("near"), cluster.Start("ops")
		ctx := testkit.Context(t)
		e := wire.Export{Module: "m", Function: "f"}
		require.NoError(t, rpc.ExportBehaviour(far, e, func([]any) (node.Actor, error) {
			return node.ActorFunc(func(*node.Context, any) error { return nil }), nil
		}))
		kept := func(id string) supervisor.Child {
			return supervisor.Child{ID: wire.Atom(id), Named: supervisor.Named{Module: "m", Function: "f"}}
		}
		top, err := supervisor.Start(ctx, far, supervisor.Spec{Children: []supervisor.Child{kept("a"), kept("b")}}, node.Options{})
		require.NoError(t, err)
		require.NoError(t, admin.Start(ctx, far, admin.Config{Operators: func(n node.Atom) bool { return n == ops.Name() }}))
		require.ErrorIs(t, supervisor.TerminateChild(ctx, near, top, wire.Atom("a")), supervisor.ErrNotAllowed)
		require.ErrorIs(t, supervisor.TerminateChild(ctx, near, top, wire.Atom("x")), supervisor.ErrNotFound)
		_, err = supervisor.StartChild(ctx, near, top, kept("guest"))
		require.NoError(t, err)
		require.NoError(t, supervisor.TerminateChild(ctx, near, top, wire.Atom("guest")))
		require.NoError(t, supervisor.DeleteChild(ctx, near, top, wire.Atom("guest")))
		require.NoError(t, supervisor.TerminateChild(ctx, ops, top, wire.Atom("a")))
		require.ErrorIs(t, supervisor.DeleteChild(ctx, near, top, wire.Atom("a")), supervisor.ErrNotAllowed)
		_, err = supervisor.RestartChild(ctx, near, top, wire.Atom("a"))
		require.NoError(t, err)
		require.NoError(t, supervisor.TerminateChild(ctx, far, top, wire.Atom("b")))
	})
}
