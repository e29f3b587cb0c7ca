package otel_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/otel"
	"github.com/actornode/actornode/node/port"
	"github.com/actornode/actornode/wire"
)

// A call from Elixir to a Go node, from there to a Python program, and from that to an Actor of another node that sends to
// a second one, is one trace.
func TestLanguages(t *testing.T) {
	erltest.Need(t)
	elixir := testkit.Program(t, testkit.Merge, "elixir")
	testkit.Program(t, testkit.Merge, "python3")
	mapper := epmdtest.Serve(t, "127.0.0.1")
	r, provider := recorder()
	start := func(name node.Atom, protocols ...string) *node.Node {
		d := &node.Distribution{Cookie: erltest.Cookie, Finder: &discovery.EPMD{Config: mapper}}
		cfg := node.Config{Name: name, Distribution: d}
		otel.Trace(&cfg, otel.Config{Provider: provider})
		return nodetest.Start(t, cfg)
	}
	here, far := start("here@127.0.0.1"), start("far@127.0.0.1")
	_, err := far.SpawnOpt(node.Options{Name: "log"}, node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	_, err = far.SpawnOpt(node.Options{Name: "stock"}, node.ActorFunc(func(c *node.Context, msg any) error {
		r, ok := c.Node().AsRequest(msg)
		if !ok {
			return node.ErrUnhandled
		}
		if err := c.Send(node.Atom("log"), 17); err != nil {
			return err
		}
		return c.Reply(r.From, r.Body)
	}))
	require.NoError(t, err)
	_, err = port.Start(testkit.Context(t), here, port.Config{Command: "python3", Grace: testkit.Limit, Args: []string{"-c", `
from actornode_port import Port, Atom
port = Port()
@port.on_call
def call(body, caller):
    return (port.trace, port.call((Atom("stock"), Atom("far@127.0.0.1")), body))
port.run()
`}, Env: map[string]string{"PYTHONPATH": "../../deploy/samples/port", "PYTHONDONTWRITEBYTECODE": "1"}},
		node.Options{Name: "python"})
	require.NoError(t, err)
	_, err = here.SpawnOpt(node.Options{Name: "shop"}, node.ActorFunc(func(c *node.Context, msg any) error {
		r, ok := c.Node().AsRequest(msg)
		if !ok {
			return node.ErrUnhandled
		}
		answer, err := node.Call[wire.Tuple](testkit.Context(t), c, node.Atom("python"), r.Body)
		if err != nil {
			return err
		}
		return c.Reply(r.From, answer)
	}))
	require.NoError(t, err)

	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	cmd := exec.CommandContext(testkit.Context(t), elixir, "--name", "ex@127.0.0.1", "--cookie", erltest.Cookie, "-e", `
# A connection that is made on the way loses the token of the process that waits for it.
true = Node.connect(:"here@127.0.0.1")
:seq_trace.set_token(:label, "`+parent+`")
{traceparent, 5} = GenServer.call({:shop, :"here@127.0.0.1"}, 5)
IO.puts(traceparent)
`)
	cmd.Env = append(cmd.Environ(), fmt.Sprint("ERL_EPMD_PORT=", mapper.Port), "ERL_EPMD_ADDRESS=127.0.0.1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), parent[:36], "the program in Python knows the trace")

	all := spans(t, r, 4)
	chain := []string{"shop int", "python int", "stock int", "log int"}
	before := trace.SpanID{0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31} // of Elixir
	for _, name := range chain {
		s := all[name]
		require.NotNil(t, s, "%s of %v", name, all)
		assert.Equal(t, parent[3:35], s.SpanContext().TraceID().String(), name)
		assert.Equal(t, before, s.Parent().SpanID(), name)
		before = s.SpanContext().SpanID()
		if name == "python int" {
			assert.Contains(t, strings.TrimSpace(string(out)), before.String())
		}
	}
}
