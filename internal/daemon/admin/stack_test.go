package admin_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// waitHere is the function that the stacks of these tests have.
//
//go:noinline
func waitHere(inside chan<- struct{}, over <-chan struct{}) {
	inside <- struct{}{}
	<-over
}

// hangs handles each message until over is closed.
type hangs struct {
	inside chan<- struct{}
	over   <-chan struct{}
}

func (h hangs) Receive(*node.Context, any) error {
	waitHere(h.inside, h.over)
	return nil
}

// hasFrame reports whether a function is on a stack.
func hasFrame(s admin.Stack, function string) bool {
	for _, f := range s.Frames {
		if strings.HasSuffix(f.Function, function) {
			return true
		}
	}
	return false
}

// The stack of each kind of process is found while its code runs or waits, and no other's.
func TestStack(t *testing.T) {
	far, near := two(t, admin.Config{ReadOnly: true})
	ctx := testkit.Context(t)
	inside, over := make(chan struct{}), make(chan struct{})
	function := node.ProcessFunc(func(*node.Process) error { waitHere(inside, over); return nil })
	receives := node.ProcessFunc(func(p *node.Process) error { inside <- struct{}{}; p.Receive(); return nil })
	running := map[string]func(o node.Options) (node.PID, error){
		"an actor":    func(o node.Options) (node.PID, error) { return far.SpawnOpt(o, hangs{inside, over}) },
		"a function":  func(o node.Options) (node.PID, error) { return far.SpawnOpt(o, function) },
		"a coroutine": func(o node.Options) (node.PID, error) { o.Coroutine = true; return far.SpawnOpt(o, function) },
		"a detached actor": func(o node.Options) (node.PID, error) {
			o.Place = node.Detached()
			return far.SpawnOpt(o, hangs{inside, over})
		},
	}
	for what, spawn := range running {
		pid, err := spawn(node.Options{Name: "it"})
		require.NoError(t, err, what)
		require.NoError(t, far.Send(pid, 1))
		<-inside
		s, err := admin.GoStack(ctx, near, far.Name(), node.Atom("it"))
		require.NoError(t, err, what)
		assert.True(t, hasFrame(s, "admin_test.waitHere"), "%s: %+v", what, s)
		assert.Equal(t, pid, s.PID, what)
		assert.Equal(t, "chan receive", s.Goroutine, what)
		assert.Equal(t, node.Atom("running"), s.State, what)
		assert.Empty(t, s.Note, what)
		for _, f := range s.Frames {
			assert.NotContains(t, f.Function, "(0x", what)
			assert.Regexp(t, `\.go:\d+$`, f.At, what)
		}
		require.NoError(t, far.Unregister("it"))
	}
	for what, o := range map[string]node.Options{"a function that receives": {}, "a coroutine that receives": {Coroutine: true}} {
		pid, err := far.SpawnOpt(o, receives)
		require.NoError(t, err, what)
		<-inside
		settles(t, func() bool { i, err := far.Info(pid); return err == nil && i.State == "waiting" })
		s, err := admin.GoStack(ctx, near, far.Name(), pid)
		require.NoError(t, err, what)
		assert.True(t, hasFrame(s, ".Receive"), "%s: %+v", what, s)
		assert.Equal(t, node.Atom("message"), s.Wait.For, what)
	}
	close(over)

	idle := spawn(t, far, "", node.ActorFunc(echo))
	s, err := admin.GoStack(ctx, near, far.Name(), idle)
	require.NoError(t, err)
	assert.Empty(t, s.Frames)
	assert.Equal(t, "no handler is running: an Actor has no stack while it waits for a message", s.Note)

	h, err := far.Open()
	require.NoError(t, err)
	defer h.Close(node.Normal)
	s, err = admin.GoStack(ctx, near, far.Name(), h.Self())
	require.NoError(t, err)
	assert.Contains(t, s.Note, "it is a handle")

	_, err = admin.GoStack(ctx, near, far.Name(), "nobody")
	require.ErrorIs(t, err, node.ErrNoName)
}

// An Actor that waits in a call has the stack of its handler, and so has a handle that waits. Both are callers.
func TestStackInCall(t *testing.T) {
	far, near := two(t, admin.Config{})
	ctx := testkit.Context(t)
	silent := spawn(t, far, "silent", node.ActorFunc(func(*node.Context, any) error { return nil }))
	caller := spawn(t, far, "caller", node.ActorFunc(func(c *node.Context, _ any) error {
		_, err := node.Call[bool](c.Context(), c, silent, 1)
		return err
	}))
	require.NoError(t, far.Send(caller, 1))
	h, err := far.Open()
	require.NoError(t, err)
	waiting, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // until end is called
		defer close(done)
		_, _ = node.Call[bool](waiting, h, silent, 1)
	}()
	for _, pid := range []node.PID{caller, h.Self()} {
		settles(t, func() bool { i, err := far.Info(pid); return err == nil && i.Wait.For == "reply" })
		s, err := admin.GoStack(ctx, near, far.Name(), pid)
		require.NoError(t, err)
		assert.True(t, hasFrame(s, "node.Call[...]"), "%+v", s)
		assert.Equal(t, silent, s.Wait.PID)
	}
	d, err := admin.Info(ctx, near, far.Name(), silent)
	require.NoError(t, err)
	assert.Equal(t, 2, d.Callers.Count)
	assert.Contains(t, []node.PID{caller, h.Self()}, d.Callers.Oldest)
	end()
	<-done
}

// A node with an older release does not know a new request.
func TestOlderRelease(t *testing.T) {
	n := startNode(t, nil, "old")
	_, err := n.SpawnOpt(node.Options{Name: admin.Name}, node.ActorFunc(func(c *node.Context, msg any) error {
		if r, ok := c.Node().AsRequest(msg); ok {
			c.Reply(r.From, wire.Tuple{wire.AtomError, wire.Tuple{wire.Atom("bad_request"),
				"admin: bad request: {stack,echo}: want one of call, connect, deadletters, disconnect, drain, exit"}})
		}
		return nil
	}))
	require.NoError(t, err)
	_, err = admin.GoStack(testkit.Context(t), n, n.Name(), node.Atom("echo"))
	require.ErrorIs(t, err, admin.ErrNotSupported)
	assert.EqualError(t, err, "old@127.0.0.1: the release of the node does not know the request {stack,echo}")
}
