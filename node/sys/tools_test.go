package sys_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// A trace writes each event to the node's log, as does a printed log; statistics count what comes in and goes out, and
// none of them is on unless it was asked for.
func TestTools(t *testing.T) {
	actortest.InBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe, log *logtest.Text) {
		ctx := t.Context()
		pid, err := n.Spawn(&answering{})
		require.NoError(t, err)
		debug := func(tool wire.Atom, what any) any {
			t.Helper()
			v, err := sys.Debug(ctx, n, pid, wire.Tuple{tool, what})
			require.NoError(t, err)
			return v
		}
		call := func(q string) {
			t.Helper()
			v, err := node.Call[string](ctx, n, pid, q)
			require.NoError(t, err)
			require.Equal(t, "re: "+q, v)
		}
		call("unseen")
		require.Empty(t, log.Take())
		debug("trace", true)
		call("traced")
		text := log.Take()
		require.Contains(t, text, `event="{in,<<\"traced\">>}"`)
		require.Contains(t, text, `{out,<<\"re: traced\">>,`)
		require.Contains(t, text, pid.String())
		debug("trace", false)

		debug("log", true)
		call("kept")
		require.Empty(t, log.Take())
		debug("log", wire.Atom("print"))
		require.Contains(t, log.Take(), `event="{in,<<\"kept\">>}"`)
		debug("log", false)

		debug("statistics", true)
		call("one")
		call("two")
		require.Empty(t, log.Take())
		stats := wire.Format(debug("statistics", wire.Atom("get")))
		require.Contains(t, stats, "{messages_in,2},{messages_out,2}")
		st, err := sys.GetStatus(ctx, n, pid)
		require.NoError(t, err)
		require.Contains(t, wire.Format(st), ",2,2}}]", "the same is in the status")
		require.NoError(t, sys.Stop(ctx, n, pid, node.Normal))
	})
}

// answering answers requests and reports it.
type answering struct{ plain }

func (a *answering) Receive(c *node.Context, msg any) error {
	if r, ok := sysmsg.Parse(c.Node(), msg); ok {
		return a.sys.Handle(c, a, r)
	}
	q := msg.(node.Request[string])
	a.sys.In(c, q.Body)
	a.sys.Out(c, "re: "+q.Body, q.Caller(), a.State())
	return c.Reply(q.From, "re: "+q.Body)
}

func (a *answering) Status() any { return a.sys.Logged() }

// faulty is a server whose own code panics.
type faulty struct{ plain }

func (f *faulty) Receive(c *node.Context, msg any) error {
	if r, ok := sysmsg.Parse(c.Node(), msg); ok {
		return f.sys.Handle(c, f, r)
	}
	return nil
}

func (*faulty) State() any                           { panic("no state") }
func (*faulty) Replace(any) error                    { panic("not replaced") }
func (*faulty) Status() any                          { panic("no status") }
func (*faulty) ChangeCode(wire.Atom, any, any) error { panic("no change") }

// A panic of a server that answers a system message is reported in the answer, and does not end the server.
func TestFaultyServer(t *testing.T) {
	ctx, n, pid := setup(t, &faulty{})
	_, err := sys.GetState(ctx, n, pid)
	require.EqualError(t, err, `sys: refused: {callback_failed,{plain,system_get_state},{error,<<"panic: no state">>}}`)
	_, err = sys.ReplaceState(ctx, n, pid, func(any) (any, error) { return 1, nil })
	require.ErrorContains(t, err, "{callback_failed,{plain,system_replace_state},")
	st, err := sys.GetStatus(ctx, n, pid)
	require.NoError(t, err)
	require.Contains(t, wire.Format(st), "{error,{callback_failed,{plain,format_status},")
	require.NoError(t, sys.Suspend(ctx, n, pid))
	require.EqualError(t, sys.ChangeCode(ctx, n, pid, "m", 1, 2), `sys: refused: panic: no change`)
	require.NoError(t, sys.Resume(ctx, n, pid))
	require.True(t, n.IsAlive(pid))
}

// A state is replaced by a Go function, or by one that the node exports: an Erlang fun is refused, and a failure
// changes nothing.
func TestReplace(t *testing.T) {
	ctx, n, pid := setup(t, &plain{})
	require.NoError(t, n.Send(pid, 1))
	_, err := sys.ReplaceState(ctx, n, pid, func(any) (any, error) { return nil, errors.New("not today") })
	require.ErrorContains(t, err, "not today")
	add := wire.Export{Module: "m", Function: "add", Arity: 1}
	require.NoError(t, rpc.Export(n, add, func(_ context.Context, args []any) (any, error) { return args[0].(int) + 5, nil }))
	ask := func(what any) (any, error) { return node.Call[any](ctx, n, pid, sysmsg.Command{What: what}) }
	v, err := ask(wire.Tuple{wire.Atom("replace_state"), add})
	require.NoError(t, err)
	require.Equal(t, 6, v)
	v, err = ask(wire.Tuple{wire.Atom("replace_state"), wire.Export{Module: "m", Function: "unknown", Arity: 1}})
	require.NoError(t, err)
	require.Contains(t, wire.Format(v), "system_replace_state")
	v, err = ask(wire.Tuple{wire.Atom("replace_state"), wire.Atom("fun")})
	require.NoError(t, err)
	require.Contains(t, wire.Format(v), "'fun' is not a function that this node can run")
	v, err = sys.GetState(ctx, n, pid)
	require.NoError(t, err)
	require.Equal(t, 6, v)
}

// A message of Erlang, a tuple, is answered like one from Go; get_state in the form of the caller's release.
func TestTupleRequests(t *testing.T) {
	ctx, n, pid := setup(t, &plain{})
	require.NoError(t, n.Send(pid, 7))
	h := nodetest.NewProbe(t, n)
	ask := func(what any) any {
		t.Helper()
		ref := n.MakeRef()
		require.NoError(t, h.Send(pid, wire.Tuple{wire.Atom("system"), wire.Tuple{h.Self(), ref}, what}))
		answer := nodetest.Expect[wire.Tuple](h)
		require.Equal(t, ref, answer[0])
		return answer[1]
	}
	require.Equal(t, 7, ask(wire.Atom("get_state")))
	require.Equal(t, wire.AtomOK, ask(wire.Atom("suspend")))
	require.Equal(t, wire.AtomOK, ask(wire.Atom("resume")))
	refused := ask(wire.Tuple{wire.Atom("replace_state"), wire.Export{Module: "os", Function: "cmd", Arity: 1}})
	require.Contains(t, wire.Format(refused), "{error,{callback_failed,{plain,system_replace_state},")
	ref := h.Monitor(pid)
	require.Equal(t, wire.AtomOK, ask(wire.Tuple{wire.Atom("terminate"), wire.Atom("enough")}))
	require.Equal(t, wire.Atom("enough"), h.ExpectDown(ref).Reason)
	require.ErrorIs(t, sys.Stop(ctx, n, node.Atom("nobody"), 1), node.ErrNoProcess)

	// A message that only looks like a system message is not one.
	for _, msg := range []any{
		wire.Tuple{wire.Atom("system"), 1}, wire.Tuple{wire.Atom("system"), 1, 2}, wire.Atom("system"), nil,
		node.PeerMessage{Message: 1}, node.PeerMessage{Message: wire.Tuple{wire.Atom("system"), 1, 2}},
	} {
		_, ok := sysmsg.Parse(n, msg)
		require.False(t, ok, "%v", msg)
	}
}

// While a server is suspended its parent's exit ends it, and so does the node's Stop; other messages wait in its
// mailbox.
func TestSuspendedEnds(t *testing.T) {
	ctx, n, _ := setup(t, &plain{})
	parent := nodetest.NewProbe(t, n)
	watch := nodetest.NewProbe(t, n)
	p := &ending{ended: make(chan any, 1)}
	pid, err := parent.SpawnOpt(node.Options{Link: true}, p)
	require.NoError(t, err)
	require.NoError(t, sys.Suspend(ctx, n, pid))
	i, err := n.Info(pid)
	require.NoError(t, err)
	require.Equal(t, "plain (suspended)", i.Behaviour)
	require.NoError(t, n.Send(pid, node.Exited{From: watch.Self(), Reason: "another"}))
	st, err := sys.GetStatus(ctx, n, pid)
	require.NoError(t, err)
	require.Contains(t, wire.Format(st), fmt.Sprintf("{'$ancestors',[%v]}", parent.Self()))
	ref := watch.Monitor(pid)
	parent.Close("the parent's reason")
	require.Equal(t, "the parent's reason", watch.ExpectDown(ref).Reason)
	require.Equal(t, "the parent's reason", testkit.Receive(t, p.ended))
}

// ending traps exits.
type ending struct {
	plain
	ended chan any
}

func (e *ending) Init(c *node.Context) error { c.TrapExit(true); return nil }

func (e *ending) Receive(c *node.Context, msg any) error {
	if r, ok := sysmsg.Parse(c.Node(), msg); ok {
		return e.sys.Handle(c, e, r)
	}
	return nil
}

func (e *ending) End(_ *node.Context, reason any) error {
	e.ended <- reason
	return node.ExitWith(reason)
}
