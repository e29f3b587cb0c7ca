package supervisor_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// Children that another node has started count against it, and so do those that replace them.
func TestStartChildCounts(t *testing.T) {
	c := clustertest.NewCluster(t)
	far, near := c.StartWith("far", node.Distribution{Limits: node.Limits{Cluster: node.ClusterLimits{Spawned: 2}}}), c.Start("near")
	require.NoError(t, rpc.ExportBehaviour(far, wire.Export{Module: "m", Function: "f"}, func([]any) (node.Actor, error) {
		return node.ActorFunc(func(*node.Context, any) error { return nil }), nil
	}))
	ctx := testkit.Context(t)
	require.NoError(t, near.Connect(ctx, far.Name()))
	near.Inside(process.Key{}).Release(far.Name()) // asking for it takes a process, too
	named := supervisor.Named{Module: "m", Function: "f"}
	_, err := supervisor.Start(ctx, far, supervisor.Spec{Intensity: 1000}, node.Options{Name: "one_for_one"})
	require.NoError(t, err)
	_, err = supervisor.Start(ctx, far, supervisor.Spec{Strategy: supervisor.SimpleOneForOne, Intensity: 1000,
		Children: []supervisor.Child{{ID: "model", Named: named}}}, node.Options{Name: "simple"})
	require.NoError(t, err)
	id := 0
	for _, sup := range []node.Atom{"one_for_one", "simple"} {
		start := func() (answer wire.Tuple) {
			id++
			var what any = wire.List{}
			if sup == "one_for_one" {
				what = wire.NewMap(wire.Atom("id"), id, wire.Atom("start"), wire.Tuple{wire.Atom("m"), wire.Atom("f"), wire.List{}})
			}
			v, err := node.Call[any](ctx, near, node.At{Name: sup, Node: far.Name()}, any(wire.Tuple{wire.Atom("start_child"), what}))
			require.NoError(t, err)
			return v.(wire.Tuple)
		}
		refused := func() {
			t.Helper()
			answer := start()
			require.Equal(t, wire.AtomError, answer[0], "%s: %s", sup, wire.Format(answer))
			assert.Contains(t, wire.Format(answer), "{'EXIT',{system_limit,[{m,f,[],[]}]}}", "%s", sup)
		}
		first, second := start(), start()
		require.Equal(t, wire.AtomOK, first[0], "%s: %s", sup, wire.Format(first))
		require.Equal(t, wire.AtomOK, second[0], "%s: %s", sup, wire.Format(second))
		refused()
		far.Exit(first[1].(node.PID), node.Kill)
		testkit.Until(t, func() string {
			counts, err := supervisor.CountChildren(ctx, far, sup)
			if require.NoError(t, err); counts.Active != 2 {
				return "it has not been started again"
			}
			return ""
		})
		refused()
		if sup == "simple" { // passed on by a process here, so that the node behind it is unknown
			me := nodetest.NewProbe(t, near)
			for _, ok := range []bool{true, true, false} {
				require.NoError(t, far.Send(sup, wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{me.Self(), near.MakeRef()},
					wire.Tuple{wire.Atom("start_child"), wire.List{}}}))
				answer := wire.Format(nodetest.Expect[wire.Tuple](me)[1])
				require.Equal(t, !ok, strings.Contains(answer, "system_limit"), answer)
			}
			return
		}
		all, err := supervisor.WhichChildren(ctx, far, sup)
		require.NoError(t, err)
		require.Len(t, all, 2)
		for _, k := range all {
			require.NoError(t, supervisor.TerminateChild(ctx, far, sup, k.ID))
		}
		for _, l := range far.LimitUsage() {
			if l.Name == "spawned" {
				assert.Zero(t, l.Used, "%s", sup)
			}
		}
	}
}
