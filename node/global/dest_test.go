package global_test

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"testing"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/node/nodetest"
)

// Every function that takes a destination takes a name, for a process here and on another node.
func TestDestination(t *testing.T) {
	c := newCluster(t)
	a, b := c.start("a"), c.start("b")
	c.connect(b, a.Name())
	ctx := testkit.Context(t)
	for _, at := range []*node.Node{a, b} {
		t.Run(string(at.Name()), func(t *testing.T) {
			name := "server on " + string(at.Name())
			pid, err := at.Spawn(node.ProcessFunc(func(p *node.Process) error {
				for {
					switch m := p.Receive().(type) {
					case node.Request[string]:
						m.Reply("got " + m.Body)
					case node.PID:
						p.Send(m, "here")
					case error:
						return m
					}
				}
			}))
			require.NoError(t, err)
			require.NoError(t, global.Register(ctx, a, name, pid, global.Options{}))
			to, h := node.Global(name), nodetest.NewProbe(t, a)
			h.TrapExit(true)
			require.NoError(t, h.Send(to, h.Self()))
			assert.Equal(t, "here", nodetest.Expect[string](h))
			require.NoError(t, h.SendOpt(node.SendOptions{NoWait: true}, to, h.Self()))
			assert.Equal(t, "here", nodetest.Expect[string](h))
			got, err := node.Call[string](ctx, h, to, "a call")
			require.NoError(t, err)
			assert.Equal(t, "got a call", got)
			got, err = node.Await(ctx, h, node.Async[string](h, to, "a future"))
			require.NoError(t, err)
			assert.Equal(t, "got a future", got)
			ref := h.Monitor(to)
			h.Link(to)
			h.Unlink(to)
			h.Exit(to, node.Kill)
			assert.Equal(t, node.Killed, h.ExpectDown(ref).Reason)
			has(t, a, name, node.PID{})
			has(t, b, name, node.PID{})
			_, err = node.Call[string](ctx, h, to, "nobody")
			assert.ErrorIs(t, err, node.ErrNoProcess)
			assert.Equal(t, node.NoProc, h.ExpectDown(h.Monitor(to)).Reason)
		})
	}
}
