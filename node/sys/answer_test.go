package sys_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// last is a user's actor: it does not know system messages. Its state is the last message.
type last struct{ msg any }

func (l *last) Receive(_ *node.Context, msg any) error { l.msg = msg; return nil }
func (l *last) State() any                             { return l.msg }
func (l *last) SetState(term any) error                { l.msg = term; return nil }

func (l *last) CodeChange(_ wire.Atom, _, extra any) error {
	if extra == wire.Atom("bad") {
		return node.ExitWith(wire.Atom("not_this"))
	}
	return nil
}

// begun is an actor that has an Init and a name of its own.
type begun struct{ last }

func (b *begun) Init(*node.Context) error { b.msg = "begun"; return nil }
func (b *begun) BehaviourName() string    { return "example.Begun" }

// mute is an actor that does not describe its state.
type mute struct{ Sum int }

func (m *mute) Receive(_ *node.Context, msg any) error { m.Sum += msg.(int); return nil }

// sulking is an actor that fails to describe its state.
type sulking struct{ last }

func (*sulking) State() any { panic("no state") }

// A wrapped actor of a user answers all system messages, and ends with the reason that it is given.
func TestAnswer(t *testing.T) {
	ctx, n, pid := setup(t, sys.Answer(&begun{}))
	info, err := n.Info(pid)
	require.NoError(t, err)
	assert.Equal(t, "example.Begun", info.Behaviour)
	state, err := sys.GetState(ctx, n, pid)
	require.NoError(t, err)
	assert.Equal(t, "begun", state)
	require.NoError(t, sys.Suspend(ctx, n, pid))
	require.NoError(t, n.Send(pid, 5))
	state, err = sys.ReplaceState(ctx, n, pid, func(any) (any, error) { return 1, nil })
	require.NoError(t, err)
	assert.Equal(t, 1, state)
	st, err := sys.GetStatus(ctx, n, pid)
	require.NoError(t, err)
	assert.Contains(t, wire.Format(st), "{module,'example.Begun'},[[{'$initial_call',{'example.Begun',init,1}}")
	require.NoError(t, sys.Resume(ctx, n, pid))
	state, err = sys.GetState(ctx, n, pid)
	require.NoError(t, err)
	assert.Equal(t, 5, state, "what has waited is handled")
	h := nodetest.NewProbe(t, n)
	ref := h.Monitor(pid)
	require.NoError(t, sys.Stop(ctx, n, pid, wire.Atom("bye")))
	assert.Equal(t, node.Down{Ref: ref, PID: pid, Reason: wire.Atom("bye")}, h.Receive())
}

// A state that does not describe itself is shown as its type: nobody reads its fields, which others may write; requests
// that it does not support are refused, and harm nothing.
func TestAnswerWithout(t *testing.T) {
	ctx, n, pid := setup(t, sys.Answer(&mute{}))
	require.NoError(t, n.Send(pid, 3))
	state, err := sys.GetState(ctx, n, pid)
	require.NoError(t, err)
	assert.Equal(t, "<<\"*sys_test.mute\">>", wire.Format(state))
	_, err = sys.ReplaceState(ctx, n, pid, func(any) (any, error) { return 1, nil })
	require.ErrorContains(t, err, "the actor's type has no method SetState(any) error")
	require.NoError(t, sys.Suspend(ctx, n, pid))
	require.NoError(t, sys.ChangeCode(ctx, n, pid, "m", 1, 2))

	n = nodetest.Start(t, node.Config{})
	pid, err = n.Spawn(sys.Answer(&sulking{}))
	require.NoError(t, err)
	_, err = sys.Debug(ctx, n, pid, wire.Tuple{wire.Atom("log"), true})
	require.NoError(t, err)
	require.NoError(t, n.Send(pid, 1))
	events, err := sys.Debug(ctx, n, pid, wire.Tuple{wire.Atom("log"), wire.Atom("get")})
	require.NoError(t, err)
	assert.Contains(t, wire.Format(events), "{in,1},{noreply,<<\"panic: no state")
}
