package global_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

type counter struct{ n, began int }

type add struct {
	genserver.Returns[int]
	N int
}

// Init checks that the server has its name already.
func (s *counter) Init(c *genserver.Context) error {
	if pid, _ := global.Whois(c.Node(), "counter"); pid != c.Self() {
		return errors.New("the server has no name yet")
	}
	s.began++
	return nil
}

func (s *counter) add(_ *genserver.Context, q add) (int, error) {
	s.n += q.N
	return s.n, nil
}

func init() { node.RegisterTypes(node.TypeOf[add]()) }

var counters = genserver.Define(genserver.OnCall((*counter).add))

// alreadyStarted returns the PID that has the name for which a start was refused.
func alreadyStarted(t testing.TB, err error) any {
	t.Helper()
	var e *node.ExitError
	require.ErrorAs(t, err, &e)
	reason, _ := e.Reason.(wire.Tuple)
	require.Len(t, reason, 2, "%v", e.Reason)
	assert.Equal(t, wire.Atom("already_started"), reason[0])
	return reason[1]
}

// A server starts under a name that all nodes know, and a second one is refused.
func TestAs(t *testing.T) {
	c := newCluster(t)
	a, b := c.start("a"), c.start("b")
	c.connect(b, a.Name())
	ctx := testkit.Context(t)
	o := node.Options{Via: global.As("counter", global.Options{})}
	state := new(counter)
	pid, err := counters.Start(ctx, a, state, o)
	require.NoError(t, err)
	assert.Equal(t, 1, state.began)
	has(t, b, "counter", pid)
	i, err := a.Info(pid)
	require.NoError(t, err)
	assert.Equal(t, "*global_test.counter", i.Behaviour)

	got, err := genserver.Call(ctx, b, node.Global("counter"), add{N: 2})
	require.NoError(t, err)
	assert.Equal(t, 2, got)

	second := new(counter)
	_, err = counters.Start(ctx, b, second, o)
	assert.Equal(t, pid, alreadyStarted(t, err))
	assert.Zero(t, second.began, "Init of a server without the name")

	took, err := counters.Start(ctx, b, second, node.Options{Via: global.As("counter", global.Options{Again: true})})
	require.NoError(t, err)
	has(t, a, "counter", took)

	b.Exit(took, node.Kill)
	has(t, a, "counter", node.PID{})
}

// A blocking process has its name before its first line runs.
func TestAsProcess(t *testing.T) {
	c := newCluster(t)
	a := c.start("a")
	o := node.Options{Via: global.As("p", global.Options{})}
	found := make(chan node.PID, 1)
	pid, err := a.SpawnOpt(o, node.ProcessFunc(func(p *node.Process) error {
		who, _ := global.Whois(p.Node(), "p")
		found <- who
		p.Receive()
		return nil
	}))
	require.NoError(t, err)
	assert.Equal(t, pid, <-found)
	h := nodetest.NewProbe(t, a)
	second, err := a.SpawnOpt(o, node.ProcessFunc(func(p *node.Process) error {
		found <- p.Self()
		return nil
	}))
	require.NoError(t, err)
	reason := h.ExpectDown(h.Monitor(second)).Reason
	if reason != node.NoProc { // it did not exit before the monitor was there
		assert.Equal(t, wire.Tuple{wire.Atom("already_started"), pid}, reason)
	}
	assert.Empty(t, found)
}

// A supervised server has its name again when it has been restarted, and a child whose name is taken fails to start
// with that reason.
func TestAsChild(t *testing.T) {
	c := newCluster(t)
	a, b := c.start("a"), c.start("b")
	c.connect(b, a.Name())
	ctx := testkit.Context(t)
	child := supervisor.Child{ID: "counter", Options: node.Options{Via: global.As("counter", global.Options{})},
		Start: func(...any) (node.Actor, error) { return counters.New(new(counter)), nil }}
	_, err := supervisor.Start(ctx, a, supervisor.Spec{Children: []supervisor.Child{child}}, node.Options{})
	require.NoError(t, err)
	first, ok := global.Whois(a, "counter")
	require.True(t, ok)
	has(t, b, "counter", first)

	other, err := supervisor.Start(ctx, b, supervisor.Spec{}, node.Options{Name: "other"})
	require.NoError(t, err)
	_, err = supervisor.StartChild(ctx, b, other, child)
	assert.ErrorContains(t, err, "already_started")

	b.Exit(first, node.Kill)
	testkit.Until(t, func() string {
		if pid, ok := global.Whois(b, "counter"); !ok || pid == first {
			return "the server has not been restarted"
		}
		return ""
	})
}

// On a node that shares no names, the start fails with the cause.
func TestAsHidden(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	_, err := counters.Start(context.Background(), n, new(counter), node.Options{Via: global.As("x", global.Options{})})
	assert.ErrorContains(t, err, global.ErrNotPublished.Error())
}
