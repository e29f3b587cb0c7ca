package sys_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// plain is the smallest behaviour with system messages: it keeps the last message.
type plain struct {
	sys  sysmsg.System
	last any
}

func (p *plain) Receive(c *node.Context, msg any) error {
	if r, ok := sysmsg.Parse(c.Node(), msg); ok {
		return p.sys.Handle(c, p, r)
	}
	if p.sys.Debugging() {
		p.sys.In(c, msg)
		defer p.sys.NoReply(c, p.last)
	}
	p.last = msg
	return nil
}

func (p *plain) Module() wire.Atom       { return "plain" }
func (p *plain) State() any              { return sysmsg.Term(p.last) }
func (p *plain) Replace(state any) error { p.last = state; return nil }
func (p *plain) Status() any             { return wire.List{} }

func (p *plain) ChangeCode(wire.Atom, any, any) error  { return nil }
func (p *plain) End(_ *node.Context, reason any) error { return node.ExitWith(reason) }

// entering is a plain that hears of its suspension.
type entering struct {
	*plain
	calls []string
}

func (e *entering) Receive(c *node.Context, msg any) error {
	if r, ok := sysmsg.Parse(c.Node(), msg); ok {
		return e.sys.Handle(c, e, r)
	}
	e.calls = append(e.calls, fmt.Sprint(msg))
	return nil
}

func (e *entering) Enter(c *node.Context) { e.calls = append(e.calls, "enter") }

func (e *entering) Resumed(*node.Context) error {
	e.calls = append(e.calls, "resumed")
	if e.last == "fails" {
		return node.ExitWith("on resume")
	}
	return nil
}

func (e *entering) State() any { return fmt.Sprint(e.calls) }

// stubborn does not end when it is told to.
type stubborn struct{ *plain }

func (s *stubborn) Receive(c *node.Context, msg any) error {
	if r, ok := sysmsg.Parse(c.Node(), msg); ok {
		return s.sys.Handle(c, s, r)
	}
	return node.ExitWith(msg)
}

func (*stubborn) End(*node.Context, any) error { return nil }

func setup(t *testing.T, b node.Actor) (context.Context, *node.Node, node.PID) {
	t.Helper()
	n := nodetest.Start(t, node.Config{})
	pid, err := n.SpawnOpt(node.Options{Name: "it"}, b)
	require.NoError(t, err)
	return testkit.Context(t), n, pid
}

func TestPlainBehaviour(t *testing.T) {
	ctx, n, pid := setup(t, &plain{})
	n.Send(pid, 1)
	state, err := sys.GetState(ctx, n, pid)
	require.NoError(t, err)
	assert.Equal(t, 1, state)
	require.NoError(t, sys.Suspend(ctx, n, node.Atom("it")))
	n.Send(pid, 2)
	state, err = sys.ReplaceState(ctx, n, pid, func(s any) (any, error) { return s.(int) + 10, nil })
	require.NoError(t, err)
	assert.Equal(t, 11, state)
	require.NoError(t, sys.ChangeCode(ctx, n, pid, "m", 1, 2))
	st, err := sys.GetStatus(ctx, n, pid)
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("{status,%[1]v,{module,plain},[[{'$initial_call',{plain,init,1}},{'$ancestors',[]}],suspended,%[1]v,[],[]]}", pid),
		wire.Format(st))
	require.NoError(t, sys.Resume(ctx, n, pid))
	state, err = sys.GetState(ctx, n, pid)
	require.NoError(t, err)
	assert.Equal(t, 2, state)

	_, err = sys.Debug(ctx, n, pid, wire.Tuple{wire.Atom("log"), true})
	require.NoError(t, err)
	n.Send(pid, 3)
	l, err := sys.Debug(ctx, n, pid, wire.Tuple{wire.Atom("log"), wire.Atom("get")})
	require.NoError(t, err)
	assert.Equal(t, "{ok,[{in,3},{noreply,2}]}", wire.Format(l))
	require.NoError(t, sys.Stop(ctx, n, pid, "bye"))
	assert.False(t, n.IsAlive(pid))
	_, err = sys.GetState(ctx, n, pid)
	assert.ErrorIs(t, err, node.ErrNoProcess)
}

func TestEnterer(t *testing.T) {
	e := &entering{plain: &plain{}}
	ctx, n, pid := setup(t, e)
	require.NoError(t, sys.Resume(ctx, n, pid)) // it runs: there is nothing to do
	require.NoError(t, sys.Suspend(ctx, n, pid))
	n.Send(pid, "waits")
	require.NoError(t, sys.Resume(ctx, n, pid))
	state, err := sys.GetState(ctx, n, pid)
	require.NoError(t, err)
	assert.Equal(t, "[enter resumed waits]", state)

	require.NoError(t, sys.Suspend(ctx, n, pid))
	_, err = sys.ReplaceState(ctx, n, pid, func(any) (any, error) { return "fails", nil })
	require.NoError(t, err)
	require.NoError(t, sys.Resume(ctx, n, pid), "the answer goes before")
	reason, err := node.AwaitExit(ctx, n, pid)
	require.NoError(t, err)
	assert.Contains(t, []any{"on resume", node.NoProc}, reason)
}

func TestStop(t *testing.T) {
	ctx, n, pid := setup(t, &stubborn{&plain{}})
	brief, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	assert.ErrorIs(t, sys.Stop(brief, n, pid, "x"), context.DeadlineExceeded, "Stop waits for the exit, not for an answer")
	stopped := make(chan error)
	go func() { stopped <- sys.Stop(ctx, n, pid, "x") }()
	for {
		select {
		case err := <-stopped: // whenever the exit comes, before or after the message
			var e *node.ExitError
			require.ErrorAs(t, err, &e)
			assert.Contains(t, []any{"another", node.NoProc}, e.Reason)
			assert.ErrorIs(t, sys.Stop(ctx, n, pid, "x"), node.ErrNoProcess)
			assert.NoError(t, sys.Stop(ctx, n, pid, node.NoProc), "it is gone, as was asked")
			return
		default:
			n.Send(pid, "another")
		}
	}
}

// A process that does not know system messages does not answer; it comes to no harm.
func TestStranger(t *testing.T) {
	ctx, n, pid := setup(t, node.ActorFunc(func(*node.Context, any) error { return nil }))
	ctx, cancel := context.WithCancelCause(ctx)
	enough := errors.New("enough")
	cancel(enough)
	_, err := sys.GetState(ctx, n, pid)
	assert.ErrorIs(t, err, enough)
}

// A log keeps at most 100,000 events, whatever the request says, and takes no memory for events that have not come.
func TestLogSizes(t *testing.T) {
	ctx, n, pid := setup(t, &plain{})
	log := func(what any) any {
		r, err := sys.Debug(ctx, n, pid, wire.Tuple{wire.Atom("log"), what})
		require.NoError(t, err)
		return r
	}
	for _, c := range []struct {
		size, want any
	}{
		{1, wire.AtomOK}, {7, wire.AtomOK}, {int64(1 << 40), wire.AtomOK}, {new(big.Int).Lsh(big.NewInt(1), 100), wire.AtomOK},
		{0, wire.Atom("unknown_debug")}, {-5, wire.Atom("unknown_debug")}, {new(big.Int).Lsh(big.NewInt(-1), 100), wire.Atom("unknown_debug")},
		{1.5, wire.Atom("unknown_debug")}, {wire.Atom("x"), wire.Atom("unknown_debug")}, {nil, wire.Atom("unknown_debug")},
	} {
		log(false)
		assert.Equal(t, c.want, log(wire.Tuple{true, c.size}), "%v", c.size)
	}
	for size, sends := range map[int][]int{1: {1, 1}, 3: {1, 1, 2, 5}, 10: {20}} {
		log(false)
		log(wire.Tuple{wire.AtomTrue, size})
		next := 0
		for _, k := range sends {
			for range k {
				n.Send(pid, next)
				next++
			}
			events := log(wire.Atom("get")).(wire.Tuple)[1].(wire.List)
			assert.Len(t, events, min(size, 2*next))
			if size%2 == 0 || len(events) == 1 {
				continue
			}
			assert.Equal(t, wire.Atom("noreply"), events[len(events)-1].(wire.Tuple)[0], "the newest comes last")
		}
	}
	log(false)
	log(wire.Tuple{wire.AtomTrue, int64(1 << 40)})
	for k := range 60_000 {
		n.Send(pid, k)
	}
	assert.Len(t, log(wire.Atom("get")).(wire.Tuple)[1], 100_000)
}
