package node_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/node/nodetest"
)

// misuses are the uses of a Context, made by a goroutine that has kept it.
var misuses = map[string]func(c *node.Context, other node.PID, request node.From){
	"Send":       func(c *node.Context, other node.PID, _ node.From) { _ = c.Send(other, 1) },
	"Send, name": func(c *node.Context, _ node.PID, _ node.From) { _ = c.Send(node.Atom("other"), 1) },
	"SendBytes":  func(c *node.Context, other node.PID, _ node.From) { _ = c.SendBytes(other, []byte("a")) },
	"SendAfter":  func(c *node.Context, other node.PID, _ node.From) { _, _ = c.SendAfter(time.Hour, other, 1) },
	"Deliver": func(c *node.Context, other node.PID, _ node.From) {
		_ = node.Deliver(context.Background(), c, other, 1)
	},
	"Spawn": func(c *node.Context, _ node.PID, _ node.From) { _, _ = c.Spawn(node.ActorFunc(shrugging)) },
	"SpawnOpt, Link": func(c *node.Context, _ node.PID, _ node.From) {
		_, _ = c.SpawnOpt(node.Options{Link: true}, node.ActorFunc(shrugging))
	},
	"Call": func(c *node.Context, other node.PID, _ node.From) {
		_, _ = node.Call[any](context.Background(), c, other, 1)
	},
	"SendRequest": func(c *node.Context, other node.PID, _ node.From) { node.SendRequest(c, other, "tag", 1) },
	"AwaitExit": func(c *node.Context, other node.PID, _ node.From) {
		_, _ = node.AwaitExit(context.Background(), c, other)
	},
	"Reply":          func(c *node.Context, _ node.PID, to node.From) { _ = c.Reply(to, 1) },
	"Become":         func(c *node.Context, _ node.PID, _ node.From) { c.Become(node.ActorFunc(shrugging)) },
	"Push":           func(c *node.Context, _ node.PID, _ node.From) { c.Push(node.ActorFunc(shrugging)) },
	"Unbecome":       func(c *node.Context, _ node.PID, _ node.From) { c.Unbecome() },
	"Announce":       func(c *node.Context, _ node.PID, _ node.From) { c.Announce() },
	"Blocking":       func(c *node.Context, _ node.PID, _ node.From) { c.Blocking(func() {}) },
	"Monitor":        func(c *node.Context, other node.PID, _ node.From) { c.Monitor(other) },
	"Demonitor":      func(c *node.Context, _ node.PID, _ node.From) { c.Demonitor(c.Node().MakeRef()) },
	"DemonitorFlush": func(c *node.Context, _ node.PID, _ node.From) { c.DemonitorFlush(c.Node().MakeRef()) },
	"AliasOnce":      func(c *node.Context, _ node.PID, _ node.From) { c.AliasOnce() },
	"DemonitorNodes": func(c *node.Context, _ node.PID, _ node.From) { c.DemonitorNodes() },
	"MonitorNode":    func(c *node.Context, _ node.PID, _ node.From) { c.MonitorNode("b@c") },
	"MonitorNodes":   func(c *node.Context, _ node.PID, _ node.From) { c.MonitorNodes() },
	"Link":           func(c *node.Context, other node.PID, _ node.From) { c.Link(other) },
	"Unlink":         func(c *node.Context, other node.PID, _ node.From) { c.Unlink(other) },
	"Exit":           func(c *node.Context, other node.PID, _ node.From) { c.Exit(other, "why") },
	"TrapExit":       func(c *node.Context, _ node.PID, _ node.From) { c.TrapExit(true) },
	"Alias":          func(c *node.Context, _ node.PID, _ node.From) { c.Alias() },
	"Unalias":        func(c *node.Context, _ node.PID, _ node.From) { c.Unalias(c.Node().MakeRef()) },
	"Registered":     func(c *node.Context, _ node.PID, _ node.From) { c.Registered() },
	"MailboxLen":     func(c *node.Context, _ node.PID, _ node.From) { c.MailboxLen() },
	"Parent":         func(c *node.Context, _ node.PID, _ node.From) { c.Parent() },
	"Context":        func(c *node.Context, _ node.PID, _ node.From) { c.Context() },
	"SpawnOpt, Monitor": func(c *node.Context, _ node.PID, _ node.From) {
		_, _ = c.SpawnOpt(node.Options{Monitor: new(node.Ref)}, node.ActorFunc(shrugging))
	},
	"SpawnOpt": func(c *node.Context, _ node.PID, _ node.From) {
		_, _ = c.SpawnOpt(node.Options{Label: "a"}, node.ActorFunc(shrugging))
	},
	"SendInterval": func(c *node.Context, other node.PID, _ node.From) { _, _ = c.SendInterval(time.Hour, other, 1) },
}

func shrugging(*node.Context, any) error { return nil }

// panics runs f on a goroutine of its own, and returns the value of its panic.
func panics(f func()) (cause any) {
	done := make(chan any)
	go func() { // ends with f
		defer func() { done <- recover() }()
		f()
	}()
	return <-done
}

// places are the places of an Actor.
var places = map[string]node.Options{"stage": {}, "detached": {Place: node.Detached()}}

// A Context is useless once its handler has returned: everything that a goroutine does with it panics, and says why.
func TestContextPastItsHandler(t *testing.T) {
	for place, o := range places {
		for _, exits := range []bool{false, true} {
			t.Run(fmt.Sprint(place, ", exits: ", exits), func(t *testing.T) {
				n, err := node.Start(node.Config{Workers: 1, Stages: 1})
				require.NoError(t, err)
				other, err := n.SpawnOpt(node.Options{Name: "other"}, node.ActorFunc(shrugging))
				require.NoError(t, err)
				var kept *node.Context
				var request node.From
				pid, err := n.SpawnOpt(o, node.ActorFunc(func(c *node.Context, m any) error {
					r := m.(node.Request[int])
					kept, request = c, r.From
					if err := c.Reply(r.From, 1); err != nil || exits {
						return node.ErrStop
					}
					return nil
				}))
				require.NoError(t, err)
				_, err = node.Call[int](testkit.Context(t), n, pid, 1)
				require.NoError(t, err)
				require.NoError(t, n.Stop()) // waits for the turn
				for name, use := range misuses {
					assert.Contains(t, fmt.Sprint(panics(func() { use(kept, other, request) })),
						"node: a Context is used when its handler has returned", name)
				}
				assert.Contains(t, fmt.Sprint(panics(func() { kept.Self() })), "when its handler has returned")
				assert.Same(t, n, kept.Node())
			})
		}
	}
}

// While messages are checked, using the Context on another goroutine is detected even while the handler runs.
func TestContextElsewhere(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 2, Stages: 1, Isolation: isolation.Config{Check: true}})
	other, err := n.SpawnOpt(node.Options{Name: "other"}, node.ActorFunc(shrugging))
	require.NoError(t, err)
	for place, o := range places {
		for name, use := range misuses {
			o.Label = "the generous one"
			pid, err := n.SpawnOpt(o, node.ActorFunc(func(c *node.Context, m any) error {
				cause := panics(func() { use(c, other, m.(node.Request[int]).From) })
				return c.Reply(m.(node.Request[int]).From, fmt.Sprint(cause))
			}))
			require.NoError(t, err)
			cause, err := node.Call[string](testkit.Context(t), n, pid, 1)
			require.NoError(t, err, name)
			assert.Regexp(t, `^node: the Context of .* the generous one is used by another goroutine`, cause, place+", "+name)
			assert.True(t, n.IsAlive(pid))
		}
	}
}

// A goroutine that misuses a kept Context does not affect the actors that its worker runs afterwards.
func TestWorkerGoesOnAfterMisuse(t *testing.T) {
	if testkit.Race {
		return // the goroutine looks at the Context while the worker may change it: that is the misuse
	}
	n := nodetest.Start(t, node.Config{Workers: 1, Stages: 1})
	contexts := make(chan *node.Context, 1)
	pid, err := n.Spawn(node.ActorFunc(func(c *node.Context, m any) error {
		if r, ok := m.(node.Request[int]); ok {
			return c.Reply(r.From, r.Body+1)
		}
		//actornode:ignore contextescape what a goroutine does with it is tested
		contexts <- c
		return nil
	}))
	require.NoError(t, err)
	require.NoError(t, n.Send(pid, "keep it"))
	c := <-contexts
	testkit.Until(t, func() string {
		if cause := panics(func() { c.Self() }); cause == nil {
			return "the handler has not returned"
		}
		return ""
	})
	for _, use := range misuses {
		require.NotNil(t, panics(func() { use(c, pid, node.From{}) }))
	}
	for i := range 100 {
		got, err := node.Call[int](testkit.Context(t), n, pid, i)
		require.NoError(t, err)
		require.Equal(t, i+1, got)
	}
}
