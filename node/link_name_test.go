package node_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// nameKit is another node in the tests of names on other nodes.
type nameKit struct {
	node  node.Atom
	spawn func(name node.Atom) node.PID // a process that waits; "": without a name
	end   func(pid node.PID, reason node.Atom)
	move  func(name node.Atom, to node.PID) // gives the name to another process
	links func(pid, to node.PID) bool       // whether they are linked, as that node sees it
}

// linkByName tests Link, Unlink, Linked and Exit with a name on another node.
func linkByName(t *testing.T, here *node.Node, there nameKit) {
	open := func(t *testing.T) *nodetest.Probe {
		h := nodetest.NewProbe(t, here)
		h.TrapExit(true)
		return h
	}
	linked := func(t *testing.T, want bool, pid node.PID, h *nodetest.Probe) {
		t.Helper()
		testkit.Until(t, func() string {
			if there.links(pid, h.Self()) != want {
				return "the other node says otherwise"
			}
			return ""
		})
	}
	t.Run("link", func(t *testing.T) {
		h, pid := open(t), there.spawn("linked")
		at := node.At{Name: "linked", Node: there.node}
		assert.False(t, h.Inside(process.Key{}).Linked(at))
		h.Link(at)
		linked(t, true, pid, h)
		testkit.Until(t, func() string {
			if !h.Inside(process.Key{}).Linked(at) || !h.Inside(process.Key{}).Linked(pid) {
				return "not linked"
			}
			return ""
		})
		there.end(pid, "enough")
		assert.Equal(t, node.Exited{From: pid, Reason: wire.Atom("enough")}, nodetest.Expect[node.Exited](h))
		assert.False(t, h.Inside(process.Key{}).Linked(at))
	})
	t.Run("nobody", func(t *testing.T) {
		h := open(t)
		at := node.At{Name: "nobody", Node: there.node}
		h.Link(at)
		assert.Equal(t, node.Exited{Reason: node.NoProc}, nodetest.Expect[node.Exited](h))
		h.Unlink(at)
		h.Exit(at, wire.Atom("nothing"))
		h.Link(node.At{Name: "nobody", Node: "nowhere@127.0.0.1"})
		assert.Equal(t, node.Exited{Reason: node.NoConnection}, nodetest.Expect[node.Exited](h))
	})
	t.Run("unlink", func(t *testing.T) {
		h, pid := open(t), there.spawn("unlinked")
		at := node.At{Name: "unlinked", Node: there.node}
		h.Link(at)
		linked(t, true, pid, h)
		next := there.spawn("")
		there.move("unlinked", next) // the link is with the process, not with the name
		testkit.Until(t, func() string {
			if !h.Inside(process.Key{}).Linked(at) {
				return "not linked"
			}
			return ""
		})
		h.Unlink(at)
		assert.False(t, h.Inside(process.Key{}).Linked(at))
		assert.False(t, h.Inside(process.Key{}).Linked(pid))
		linked(t, false, pid, h)
		there.end(pid, "alone")
		there.end(next, "alone")
		h.ExpectNone()
	})
	t.Run("unlink at once", func(t *testing.T) {
		h, pid := open(t), there.spawn("quick")
		at := node.At{Name: "quick", Node: there.node}
		for range 20 {
			h.Link(at)
			h.Unlink(at)
			assert.False(t, h.Inside(process.Key{}).Linked(at))
		}
		h.Link(at)
		linked(t, true, pid, h)
		h.Unlink(at)
		linked(t, false, pid, h)
		there.end(pid, "alone")
		h.ExpectNone()
	})
	t.Run("unlink what was linked by its PID", func(t *testing.T) {
		h, pid := open(t), there.spawn("known")
		h.Link(pid)
		linked(t, true, pid, h)
		h.Unlink(node.At{Name: "known", Node: there.node})
		linked(t, false, pid, h)
		there.end(pid, "alone")
		h.ExpectNone()
	})
	t.Run("exit", func(t *testing.T) {
		h, pid := open(t), there.spawn("ended")
		ref := h.Monitor(pid)
		h.Exit(node.At{Name: "ended", Node: there.node}, wire.Atom("told"))
		assert.Equal(t, wire.Atom("told"), h.ExpectDown(ref).Reason)
	})
}

func TestLinkByNameOnAnotherNode(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	a, b := c.Start("a"), c.Start("b")
	linkByName(t, a, nameKit{
		node: b.Name(),
		spawn: func(name node.Atom) node.PID {
			pid, err := b.SpawnOpt(node.Options{Name: name}, node.ActorFunc(func(*node.Context, any) error { return nil }))
			require.NoError(t, err)
			return pid
		},
		end: func(pid node.PID, reason node.Atom) { b.Exit(pid, reason) },
		move: func(name node.Atom, to node.PID) {
			require.NoError(t, b.Unregister(name))
			require.NoError(t, b.Register(name, to))
		},
		links: func(pid, to node.PID) bool {
			i, _ := b.Info(pid)
			for _, l := range i.Links {
				if l == to {
					return true
				}
			}
			return false
		},
	})
}

// What a process remembers about the names that it has linked to does not grow with their number.
func TestLinkByManyNames(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	a, b := c.Start("a"), c.Start("b")
	h := nodetest.NewProbe(t, a)
	h.TrapExit(true)
	for i := range 100 {
		name := node.Atom("name" + string(rune('a'+i%26)) + string(rune('a'+i/26)))
		pid, err := b.SpawnOpt(node.Options{Name: name}, node.ActorFunc(func(*node.Context, any) error { return node.ErrStop }))
		require.NoError(t, err)
		at := node.At{Name: name, Node: b.Name()}
		h.Link(at)
		testkit.Until(t, func() string {
			if !h.Inside(process.Key{}).Linked(at) {
				return "not linked"
			}
			return ""
		})
		b.Send(pid, "end")
		nodetest.Expect[node.Exited](h)
	}
	require.LessOrEqual(t, node.NamesRemembered(a, h.Self()), 20)
}

// The names that a process remembers go when it ends.
func TestNamesGoWithTheProcess(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	a, b := c.Start("a"), c.Start("b")
	_, err := b.SpawnOpt(node.Options{Name: "there"}, node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	for range 20 {
		h := nodetest.NewProbe(t, a)
		h.Link(node.At{Name: "there", Node: b.Name()})
		h.TrapExit(true)
		h.Close(nil)
	}
	require.Zero(t, node.ProcessesThatRememberNames(a))
}

// Link, Unlink, Linked and Exit by a name towards an Erlang node; links as Erlang sees them.
func TestLinkByNameToOTP(t *testing.T) {
	c := newOTPHost(t)
	n := c.start(c.config("go"))
	e := c.erl("erl", "")
	require.NoError(t, n.Connect(testkit.Context(t), e.name))
	ask := func(module, function node.Atom, args ...any) any {
		t.Helper()
		v, err := rpc.Call[any](testkit.Context(t), n, e.name, module, function, args...)
		require.NoError(t, err)
		return v
	}
	linkByName(t, n, nameKit{
		node: e.name,
		spawn: func(name node.Atom) node.PID {
			pid, err := rpc.Spawn(testkit.Context(t), n, e.name, "far", "sink")
			require.NoError(t, err)
			if name != "" {
				ask("erlang", "register", name, pid)
			}
			return pid
		},
		end: func(pid node.PID, reason node.Atom) { ask("erlang", "exit", pid, reason) },
		move: func(name node.Atom, to node.PID) {
			ask("erlang", "unregister", name)
			ask("erlang", "register", name, to)
		},
		links: func(pid, to node.PID) bool {
			return ask("far", "linked", pid, to) == node.Atom("true")
		},
	})

	// Erlang's own functions take only a PID, not a name.
	for _, call := range []string{"link(echo)", "unlink(echo)", "exit(echo, enough)", "link({echo, node()})"} {
		require.Contains(t, e.Ask("%s", call), "badarg", call)
	}
}
