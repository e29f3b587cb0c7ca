package migrate_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/migrate"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

func move(t *testing.T, n *node.Node, pid node.PID, to *node.Node) node.PID {
	now, err := migrate.To(testkit.Context(t), n, pid, to.Name())
	require.NoError(t, err)
	return now
}

// others waits until the process has had n messages that are not entries, and returns them.
func others(t *testing.T, from *node.Node, pid node.PID, n int) (all []any) {
	testkit.Until(t, func() string {
		if all = ledgerOf(t, from, pid).Others; len(all) < n {
			return "too few signals"
		}
		return ""
	})
	require.Len(t, all, n)
	return all
}

// watched waits until a process is monitored by another.
func watched(t *testing.T, n *node.Node, pid, by node.PID) {
	testkit.Until(t, func() string {
		if i, err := n.Info(pid); err != nil || !slices.Contains(i.Watchers, by) {
			return "the monitor has not come"
		}
		return ""
	})
}

var bye = wire.Atom("bye")

// The links and monitors that a process made before it moved work as before; those that it removes are gone.
func TestOwnSignalsFollow(t *testing.T) {
	c := newCluster(t)
	a, b := c.start("a"), c.start("b")
	third := c.start("c")
	for name, path := range map[string][]*node.Node{"moved": {b}, "on": {b, third}, "back": {b, a}, "round": {b, third, a}} {
		t.Run(name, func(t *testing.T) {
			pid := spawn(t, a, node.Options{})
			tell(t, a, pid, do{Verb: "trap"})
			linked, near, gone, far := nodetest.NewProbe(t, a), nodetest.NewProbe(t, a), nodetest.NewProbe(t, a), nodetest.NewProbe(t, third)
			gone.TrapExit(true)
			tell(t, a, pid, do{Verb: "link", PID: linked.Self()})
			tell(t, a, pid, do{Verb: "link", PID: gone.Self()})
			first := tell(t, a, pid, do{Verb: "monitor", PID: near.Self()})
			second := tell(t, a, pid, do{Verb: "monitor", PID: far.Self()})
			watched(t, third, far.Self(), pid) // the process dies on another node, where nothing else need have arrived
			third := tell(t, a, pid, do{Verb: "monitor", PID: gone.Self()})
			now, here := pid, a
			for _, n := range path {
				now = move(t, here, now, n)
				here = n
			}
			tell(t, here, now, do{Verb: "unlink", PID: gone.Self()})
			assert.Equal(t, third, tell(t, here, now, do{Verb: "demonitor", Ref: third}), "the monitor was there")
			testkit.Until(t, func() string {
				if i, err := a.Info(gone.Self()); err != nil || len(i.Links)+len(i.Watchers) > 0 {
					return "the link or the monitor is there"
				}
				return ""
			})
			gone.Close(bye)
			linked.Close(bye)
			near.Close(bye)
			far.Close(bye)
			assert.ElementsMatch(t, []any{node.Exited{From: linked.Self(), Reason: bye},
				node.Down{Ref: first, PID: near.Self(), Reason: bye}, node.Down{Ref: second, PID: far.Self(), Reason: bye}},
				others(t, here, now, 3))
		})
	}
}

// An exit signal over a link, or for the old PID, ends a process that does not trap exits, and its forwarders.
func TestSignalsEnd(t *testing.T) {
	c := newCluster(t)
	a, b := c.start("a"), c.start("b")
	for name, end := range map[string]func(from *node.Process, old, now node.PID){
		"link": func(h *node.Process, _, _ node.PID) { h.Close(bye) },
		"exit": func(h *node.Process, old, _ node.PID) { h.Exit(old, bye) },
		"kill": func(h *node.Process, old, _ node.PID) { h.Exit(old, node.Kill) },
		"new":  func(h *node.Process, _, now node.PID) { h.Exit(now, bye) },
	} {
		t.Run(name, func(t *testing.T) {
			pid, self, watcher := spawn(t, a, node.Options{}), nodetest.NewProbe(t, a), nodetest.NewProbe(t, b)
			self.Link(pid)
			self.TrapExit(true)
			now := move(t, a, pid, b)
			one, two := watcher.Monitor(pid), watcher.Monitor(now)
			watched(t, a, pid, watcher.Self())
			watched(t, b, now, watcher.Self())
			end(self.Process, pid, now)
			want := any(bye)
			if name == "kill" {
				want = node.Killed
			}
			assert.ElementsMatch(t, []any{node.Down{Ref: one, PID: pid, Reason: want}, node.Down{Ref: two, PID: now, Reason: want}},
				[]any{watcher.Receive(), watcher.Receive()})
			if name != "link" {
				assert.Equal(t, node.Exited{From: pid, Reason: want}, self.Receive())
			}
		})
	}
}

// When the connection to the former node of a process is lost, its watchers there, and the process itself, see
// noconnection.
func TestConnectionLost(t *testing.T) {
	c := newCluster(t)
	a, b := c.start("a"), c.start("b")
	pid, h := spawn(t, a, node.Options{}), nodetest.NewProbe(t, a)
	h.TrapExit(true)
	tell(t, a, pid, do{Verb: "trap"})
	tell(t, a, pid, do{Verb: "link", PID: h.Self()})
	ref := tell(t, a, pid, do{Verb: "monitor", PID: h.Self()})
	now := move(t, a, pid, b)
	self := h.Monitor(pid)
	a.Disconnect(b.Name())
	assert.ElementsMatch(t, []any{node.Down{Ref: self, PID: pid, Reason: node.NoConnection},
		node.Exited{From: pid, Reason: node.NoConnection}}, []any{h.Receive(), h.Receive()})
	seen := others(t, b, now, 2)
	assert.Contains(t, seen, node.Exited{From: h.Self(), Reason: node.NoConnection})
	assert.Contains(t, seen, node.Down{Ref: ref, Reason: node.NoConnection})
	assert.True(t, b.IsAlive(now), "the process goes on")
	_ = c
}

// A node that stops does not stop the processes that have left it.
func TestStopOfTheOldNode(t *testing.T) {
	c := newCluster(t)
	b := c.start("b")
	n, err := node.Start(c.config("a"))
	require.NoError(t, err)
	require.NoError(t, migrate.Start(t.Context(), n, kinds()...))
	pid := spawn(t, n, node.Options{})
	now := move(t, n, pid, b)
	require.NoError(t, n.Stop())
	require.NoError(t, b.Send(now, entry{"x", 1}))
	assert.Equal(t, map[string]int{"x": 1}, ledgerOf(t, b, now).Last)
}
