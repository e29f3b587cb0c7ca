package supervisor_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/counter"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

func start(t *testing.T) *node.Node { return nodetest.Start(t, node.Config{}) }

// worker exits with the reason that it is sent, and reports its start.
func worker(tell func(string), name string) func(...any) (node.Actor, error) {
	return func(...any) (node.Actor, error) {
		return node.ActorFunc(func(_ *node.Context, m any) error { return node.ExitWith(m) }), nil
	}
}

// end sends a process a reason to exit with. When it returns, processes linked to it have got the exit signal: with a
// monitor that came too late they might not have.
func end(t *testing.T, h *nodetest.Probe, pid node.PID, reason any) {
	t.Helper()
	ref := h.Monitor(pid)
	require.NoError(t, h.Send(pid, reason))
	require.Equal(t, reason, h.ExpectDown(ref).Reason)
}

func TestRestartsOne(t *testing.T) {
	n := start(t)
	ctx := context.Background()
	self := nodetest.NewProbe(t, n)
	sup, err := supervisor.Start(ctx, self, supervisor.Spec{
		Intensity: 3,
		Children: []supervisor.Child{
			{ID: wire.Atom("a"), Start: worker(nil, "a"), Options: node.Options{Name: "a"}},
			{ID: wire.Atom("b"), Start: worker(nil, "b")},
		},
	}, node.Options{Link: true})
	require.NoError(t, err)
	was, ok := n.Whereis("a")
	require.True(t, ok)
	end(t, self, was, wire.Atom("oops"))
	kids, err := supervisor.WhichChildren(ctx, n, sup)
	require.NoError(t, err)
	require.Len(t, kids, 2)
	require.Equal(t, wire.Atom("b"), kids[0].ID)
	require.Equal(t, 1, kids[1].Restarts)
	now, ok := n.Whereis("a")
	require.True(t, ok)
	require.NotEqual(t, was, now)
	self.TrapExit(true)
	self.Exit(sup, node.Shutdown)
	require.Equal(t, node.Exited{From: sup, Reason: node.Shutdown}, self.Receive())
	require.False(t, n.IsAlive(now))
}

func TestDynamic(t *testing.T) {
	n := start(t)
	ctx := context.Background()
	self := nodetest.NewProbe(t, n)
	self.TrapExit(true)
	sup, err := supervisor.Start(ctx, self, supervisor.Spec{
		Strategy: supervisor.SimpleOneForOne, Intensity: 3,
		Children: []supervisor.Child{{ID: wire.Atom("a"), Start: worker(nil, "a")}},
	}, node.Options{Link: true})
	require.NoError(t, err)
	for range 1000 {
		_, err := supervisor.StartDynamic(ctx, self, sup)
		require.NoError(t, err)
	}
	c, err := supervisor.CountChildren(ctx, n, sup)
	require.NoError(t, err)
	require.Equal(t, supervisor.Counts{Specs: 1, Active: 1000, Workers: 1000}, c)
	self.Exit(sup, node.Shutdown)
	require.Equal(t, node.Exited{From: sup, Reason: node.Shutdown}, self.Receive())
	require.Equal(t, 1, n.Stats().Processes)
}

// Metrics count restarts by the names of supervisor and child, and count giving up, too.
func TestCounts(t *testing.T) {
	n := start(t)
	self := nodetest.NewProbe(t, n)
	ctx := context.Background()
	for _, name := range []node.Atom{"", "shop"} {
		sup, err := supervisor.Start(ctx, n, supervisor.Spec{
			Intensity: 2,
			Children:  []supervisor.Child{{ID: wire.Atom("a"), Start: worker(nil, "a")}},
		}, node.Options{Name: name})
		require.NoError(t, err)
		for range 2 {
			kids, err := supervisor.WhichChildren(ctx, n, sup)
			require.NoError(t, err)
			end(t, self, kids[0].PID, wire.Atom("oops"))
		}
		kids, err := supervisor.WhichChildren(ctx, n, sup) // after both restarts
		require.NoError(t, err)
		require.Contains(t, n.Inside(process.Key{}).Counts(counter.Restarts), counter.Count{Labels: []string{string(name), "a"}, N: 2})
		require.NoError(t, n.Send(kids[0].PID, wire.Atom("oops")))
		_, err = node.AwaitExit(ctx, n, sup)
		require.NoError(t, err)
		require.Contains(t, n.Inside(process.Key{}).Counts(counter.Shutdowns), counter.Count{Labels: []string{string(name)}, N: 1})
	}
	require.Len(t, n.Inside(process.Key{}).Counts(counter.Restarts), 2)
}
