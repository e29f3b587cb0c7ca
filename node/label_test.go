package node_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/seqtrace"
	"github.com/actornode/actornode/supervisor"
)

const aTraceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// What a plain goroutine asks with a context carries the label that is in it; a process carries its own.
func TestTokenLabel(t *testing.T) {
	type key struct{}
	labelled := func(label any) context.Context { return context.WithValue(testkit.Context(t), key{}, label) }
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		cfg := c.Config("here")
		cfg.TokenLabel = func(ctx context.Context) any { return ctx.Value(key{}) }
		here, far := nodetest.Start(t, cfg), c.Start("far")
		labels := make(chan any, 1)
		tells := node.ActorFunc(func(c *node.Context, msg any) error {
			label, _ := seqtrace.Label(c)
			if r, ok := c.Node().AsRequest(msg); ok {
				return c.Reply(r.From, label)
			}
			labels <- label
			return nil
		})
		h := nodetest.NewProbe(t, here)
		for _, n := range []*node.Node{here, far} {
			pid, err := n.SpawnOpt(node.Options{Name: "tells"}, tells)
			require.NoError(t, err)
			for _, to := range []node.Dest{pid, node.At{Name: "tells", Node: n.Name()}} {
				for _, label := range []any{nil, node.Atom("a"), nil} {
					got, err := node.Call[any](labelled(label), here, to, "x")
					require.NoError(t, err)
					assert.Equal(t, label, got)
					err = node.Deliver(labelled(label), here, to, "x")
					if errors.Is(err, errors.ErrUnsupported) { // by Erlang's protocol
						continue
					}
					require.NoError(t, err)
					assert.Equal(t, label, testkit.Receive(t, labels))
				}
				got, err := node.Call[any](labelled(node.Atom("a")), h, to, "x")
				require.NoError(t, err)
				assert.Nil(t, got, "a process has its own token")
			}
		}
		require.NoError(t, rpc.ExportBehaviour(far, mfa("m", "tells", 0), func([]any) (node.Actor, error) {
			return node.ProcessFunc(func(p *node.Process) error {
				label, _ := seqtrace.Label(p)
				labels <- label
				return nil
			}), nil
		}))
		for _, label := range []any{node.Atom("b"), nil} {
			_, err := rpc.Spawn(labelled(label), here, far.Name(), "m", "tells")
			require.NoError(t, err)
			assert.Equal(t, label, testkit.Receive(t, labels))
		}
	})
}

// Lines of a handler, and the report of its crash, have the trace that its message belongs to.
func TestLogOfTrace(t *testing.T) {
	log := new(nodetest.Log)
	n := nodetest.Start(t, node.Config{Log: log.Logger()})
	h := nodetest.NewProbe(t, n)
	ids := map[string]any{"trace_id": "0af7651916cd43dd8448eb211c80319c", "span_id": "b7ad6b7169203331"}
	pids := make(chan node.PID, 2)
	_, err := supervisor.Start(testkit.Context(t), n, supervisor.Spec{Children: []supervisor.Child{{
		ID: "logs", Options: node.Options{Name: "logs"},
		Start: func(...any) (node.Actor, error) {
			return node.ActorFunc(func(c *node.Context, msg any) error {
				pids <- c.Self()
				if msg == "crash" {
					return errors.New("crashed")
				}
				c.Log().Info("a line", "a", 1)
				c.Log().WithGroup("g").Info("in a group", "b", 2)
				return nil
			}), nil
		},
	}}}, node.Options{})
	require.NoError(t, err)
	lines := func(pid node.PID, message string) map[string]any {
		return log.Await(t, func(r nodetest.LogRecord) bool {
			return r.Message == message && r.Attrs["process"] == pid.String()
		}).Attrs
	}
	for _, label := range []any{[]byte(aTraceparent), aTraceparent} {
		seqtrace.SetLabel(h, label)
		require.NoError(t, h.Send(node.Atom("logs"), "log"))
		pid := testkit.Receive(t, pids)
		for _, message := range []string{"a line", "in a group"} {
			for k, v := range ids {
				assert.Equal(t, v, lines(pid, message)[k], message)
			}
		}
	}
	require.NoError(t, h.Send(node.Atom("logs"), "crash"))
	pid := testkit.Receive(t, pids)
	crash := lines(pid, "crash report")
	for k, v := range ids {
		assert.Equal(t, v, crash[k])
	}
	assert.Contains(t, crash, "supervisor", "what it decides is in the same line")

	seqtrace.Clear(h)
	h.Log().Log(context.Background(), slog.LevelInfo, "a line")
	assert.NotContains(t, lines(h.Self(), "a line"), "trace_id")
}
