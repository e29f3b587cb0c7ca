package node_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// TestDestinations: Send, Monitor, Link and Exit take whatever names a process.
func TestDestinations(t *testing.T) {
	n := startNode(t, node.Config{})
	h := openHandle(t, n)
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
			h.Exit(to, wire.Atom("enough"))
			assert.Equal(t, wire.Atom("enough"), nodetest.Down(t, h, ref).Reason)
			assert.Equal(t, node.Exited{From: pid, Reason: wire.Atom("enough")}, nodetest.Next[node.Exited](t, h))
		})
	}
	assert.ErrorIs(t, h.Send(nil, 1), node.ErrNoDest)
}
