//go:build unix

package port

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/seqtrace"
	"github.com/actornode/actornode/wire"
)

// A trace goes to the program, and on with what it sends, casts and calls; messages without one do not get that of another.
func TestTrace(t *testing.T) {
	testkit.Program(t, testkit.Merge, "python3")
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	labels := make(chan any, 3)
	_, err := n.SpawnOpt(node.Options{Name: "next"}, node.ActorFunc(func(c *node.Context, msg any) error {
		label, _ := seqtrace.Label(c)
		if b, ok := label.([]byte); ok {
			label = string(b)
		}
		if r, ok := c.Node().AsRequest(msg); ok {
			return c.Reply(r.From, label)
		}
		labels <- label
		return nil
	}))
	require.NoError(t, err)
	cfg := python(`
port = Port()
@port.on_call
def call(body, caller):
	if body == Atom("own"):
		port.trace = port.trace[:36] + "00000000000000ff-01"
	port.send("next", 1)
	port.cast("next", 2)
	return (port.trace, port.call("next", 3))
@port.on_info
def info(message):
	port.send("next", message)
port.run()
`)
	cfg.Frame = 1 << 16
	pid, err := Start(testkit.Context(t), n, cfg, node.Options{})
	require.NoError(t, err)
	own := traceparent[:36] + "00000000000000ff-01"
	for _, c := range []struct {
		label, body, want any
	}{
		{nil, 0, nil}, {traceparent, 1, traceparent}, {nil, 2, nil}, {"other", 3, nil}, {traceparent, node.Atom("own"), own},
		{nil, 4, nil},
		{traceparent, make([]byte, 1<<17), nil}, {nil, 5, nil}, // the program is not told of a message that is too large
	} {
		if seqtrace.Clear(h); c.label != nil {
			seqtrace.SetLabel(h, c.label)
		}
		got, err := node.Call[wire.Tuple](testkit.Context(t), h, pid, c.body)
		if _, large := c.body.([]byte); large {
			require.ErrorIs(t, err, ErrFrame)
			continue
		}
		require.NoError(t, err)
		for range 2 {
			assert.Equal(t, c.want, testkit.Receive(t, labels))
		}
		for _, e := range got {
			if c.want == nil {
				_, text := e.([]byte)
				assert.False(t, text, "%v", e)
				continue
			}
			assert.Equal(t, c.want, string(e.([]byte)))
		}
		require.NoError(t, h.Send(pid, 1))
		want := c.label
		if c.label == "other" {
			want = nil
		}
		assert.Equal(t, want, testkit.Receive(t, labels))
	}
}
