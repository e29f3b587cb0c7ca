package admin_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
)

// callsNext is an Actor that, at any message, calls the process that it is sent, and so waits.
func callsNext(c *node.Context, msg any) error {
	to, ok := msg.(node.Dest)
	if !ok {
		return nil // a call: it is never answered
	}
	_, err := node.Call[bool](c.Context(), c, to, 1)
	return err
}

// waitingFor waits until a process waits for a reply.
func waitingFor(t *testing.T, n *node.Node, pids ...node.PID) {
	t.Helper()
	for _, pid := range pids {
		settles(t, func() bool { i, err := n.Info(pid); return err == nil && i.Wait.For == "reply" })
	}
}

// Processes that wait for each other are a cycle; who waits for one of them is not in it.
func TestWaitCycle(t *testing.T) {
	far, near := two(t, admin.Config{ReadOnly: true})
	ctx := testkit.Context(t)
	left, right := spawn(t, far, "left", node.ActorFunc(callsNext)), spawn(t, far, "right", node.ActorFunc(callsNext))
	third, chief := spawn(t, far, "third", node.ActorFunc(callsNext)), spawn(t, far, "", node.ActorFunc(callsNext))
	other := spawn(t, far, "other", node.ActorFunc(callsNext))
	silent := spawn(t, far, "silent", node.ActorFunc(callsNext))
	for from, to := range map[node.PID]node.Dest{left: node.Atom("right"), right: third, third: left, chief: left, other: silent} {
		require.NoError(t, far.Send(from, to))
	}
	waitingFor(t, far, left, right, third, chief, other)

	w, err := admin.WaitsAt(ctx, near, far.Name(), admin.WaitQuery{})
	require.NoError(t, err)
	assert.Equal(t, []int{1, 5, 5}, []int{w.Cycles, w.Matched, w.Total})
	require.Len(t, w.Waits, 5)
	for k, e := range w.Waits {
		assert.Equal(t, map[bool]int{true: 1}[k < 3], e.Cycle, "%+v", e)
	}

	w, err = admin.WaitsAt(ctx, near, far.Name(), admin.WaitQuery{Cycles: true})
	require.NoError(t, err)
	assert.Equal(t, []int{1, 3, 5}, []int{w.Cycles, w.Matched, w.Total})
	require.Len(t, w.Waits, 3)
	next := map[node.PID]node.PID{left: right, right: third, third: left}
	for k, e := range w.Waits {
		assert.Equal(t, next[e.PID], e.Wait.PID)
		assert.Equal(t, e.Wait.PID, w.Waits[(k+1)%3].PID, "each waits for the next")
		assert.Equal(t, w.Waits[(k+1)%3].Name, e.OnName)
		assert.LessOrEqual(t, e.Wait.Time, w.Waits[0].Wait.Time)
	}

	w, err = admin.WaitsAt(ctx, near, far.Name(), admin.WaitQuery{Limit: 2})
	require.NoError(t, err)
	assert.Len(t, w.Waits, 2)
	assert.Equal(t, []int{1, 5}, []int{w.Cycles, w.Matched})

	far.Exit(right, node.Kill)
	settles(t, func() bool {
		w, err := admin.WaitsAt(ctx, near, far.Name(), admin.WaitQuery{Cycles: true})
		return err == nil && w.Cycles == 0 && len(w.Waits) == 0
	})
	_, err = admin.WaitsAt(ctx, near, far.Name(), admin.WaitQuery{Limit: -1})
	require.ErrorIs(t, err, admin.ErrBadRequest)
}

// A cycle over two nodes, by PID and by name, is found by who asks both. A node that does not answer is reported.
func TestWaitCycleOverNodes(t *testing.T) {
	far, near := two(t, admin.Config{})
	ctx := testkit.Context(t)
	require.NoError(t, admin.Start(ctx, near, admin.Config{}))
	there, here := spawn(t, far, "there", node.ActorFunc(callsNext)), spawn(t, near, "here", node.ActorFunc(callsNext))
	between, behind := spawn(t, far, "", node.ActorFunc(callsNext)), spawn(t, near, "", node.ActorFunc(callsNext))
	require.NoError(t, far.Send(between, there))
	require.NoError(t, far.Send(there, here))
	require.NoError(t, near.Send(behind, here))
	require.NoError(t, near.Send(here, node.At{Name: "there", Node: far.Name()}))
	waitingFor(t, far, there, between)
	waitingFor(t, near, here, behind)

	one, err := admin.WaitsAt(ctx, near, far.Name(), admin.WaitQuery{Cycles: true})
	require.NoError(t, err)
	assert.Zero(t, one.Cycles)
	nodes := []node.Atom{far.Name(), near.Name(), "gone@127.0.0.1"}
	all, failed := admin.WaitsOf(ctx, near, nodes, admin.WaitQuery{Cycles: true})
	assert.Len(t, failed, 1)
	assert.Error(t, failed["gone@127.0.0.1"])
	assert.Equal(t, []int{1, 2}, []int{all.Cycles, all.Matched})
	require.Len(t, all.Waits, 2)
	assert.ElementsMatch(t, []node.PID{there, here}, []node.PID{all.Waits[0].PID, all.Waits[1].PID})

	all, _ = admin.WaitsOf(ctx, near, nodes[:2], admin.WaitQuery{})
	assert.GreaterOrEqual(t, len(all.Waits), 4)
	assert.Zero(t, all.Cycles)
}
