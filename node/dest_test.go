package node_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodehook"
	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// TestDestinations: Send, Monitor, Link, Unlink, Linked, Exit and SendTo take whatever names a process.
func TestDestinations(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.Open(t, n)
	h.TrapExit(true)
	for _, kind := range []string{"pid", "name", "at", "alias"} {
		t.Run(kind, func(t *testing.T) {
			aliases := make(chan node.Ref, 1)
			pid, err := n.SpawnOpt(node.Options{Name: "server"}, node.ProcessFunc(func(p *node.Process) error {
				aliases <- p.Alias(false)
				h := p.Receive()
				p.Send(h.(node.PID), "here")
				p.Receive()
				return nil
			}))
			require.NoError(t, err)
			to := map[string]node.Dest{
				"pid": pid, "name": node.Atom("server"), "at": node.At{Name: "server", Node: n.Name()}, "alias": <-aliases,
			}[kind]
			require.NoError(t, h.Send(to, h.Self()))
			assert.Equal(t, "here", nodetest.Next[string](t, h))
			ref := h.Monitor(to)
			h.Link(to)
			assert.True(t, nodehook.Linked(h, to))
			h.Unlink(to)
			assert.False(t, nodehook.Linked(h, to))
			assert.False(t, nodehook.Linked(h, pid))
			h.Link(to)
			h.Exit(to, wire.Atom("enough"))
			assert.Equal(t, wire.Atom("enough"), nodetest.Down(t, h, ref).Reason)
			assert.Equal(t, node.Exited{From: pid, Reason: wire.Atom("enough")}, nodetest.Next[node.Exited](t, h))
		})
	}
	assert.ErrorIs(t, h.Send(nil, 1), node.ErrNoDest)
	assert.False(t, nodehook.Linked(h, node.Atom("server")), "nobody has the name")
	h.Unlink(node.Atom("server"))
	h.Unlink(nil)
	assert.False(t, nodehook.Linked(h, nil))
}

// The result of a future goes to whatever names a process, at the time when it is completed.
func TestSendToDestinations(t *testing.T) {
	c := nodetest.NewMemoryCluster(t)
	n, other := c.Start("a"), c.Start("b")
	h, far := nodetest.Open(t, n), nodetest.Open(t, other)
	require.NoError(t, n.Register("here", h.Self()))
	require.NoError(t, other.Register("there", far.Self()))
	pid, requests := keeper(t, n)
	for kind, to := range map[string]node.Dest{
		"pid": h.Self(), "name": node.Atom("here"), "at": node.At{Name: "here", Node: n.Name()},
		"alias": h.Alias(false), "reply alias": h.Alias(true),
	} {
		t.Run(kind, func(t *testing.T) {
			f := node.Async[int](n, pid, "")
			f.SendTo(to, kind)
			require.NoError(t, (<-requests).Reply(5))
			assert.Equal(t, node.Result{Tag: kind, Value: 5}, nodetest.Next[node.Result](t, h))
			f.SendTo(to, "again")
			if kind == "reply alias" {
				nodetest.Quiet(t, h)
				return
			}
			assert.Equal(t, node.Result{Tag: "again", Value: 5}, nodetest.Next[node.Result](t, h))
		})
	}
	for kind, to := range map[string]node.Dest{
		"pid": far.Self(), "at": node.At{Name: "there", Node: other.Name()}, "alias": far.Alias(false),
	} {
		t.Run("far "+kind, func(t *testing.T) {
			f := node.Async[int](n, pid, "")
			f.SendTo(to, kind)
			require.NoError(t, (<-requests).Reply(5))
			assert.NotNil(t, nodetest.Next[any](t, far))
		})
	}
	letters := n.DeadLetters(8)
	defer letters.Close()
	f := node.Async[int](n, pid, "")
	require.NoError(t, (<-requests).Reply(5))
	gone := h.Alias(true)
	h.Unalias(gone)
	for _, to := range []node.Dest{nil, node.Atom("nobody"), node.At{Name: "nobody", Node: n.Name()}, gone} {
		f.SendTo(to, "lost")
		l := <-letters.C
		assert.Equal(t, "lost", l.Message.(node.Result).Tag, "%v", to)
	}
}
