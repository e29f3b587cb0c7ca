package node_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/observe"
)

// shownWaits are the operations that a process may wait in, with what Info shows then. stuck never answers, full is a
// process whose mailbox is full, and far a name on another node that never answers.
var shownWaits = []struct {
	name string
	what string
	wait func(h actortest.Self, stuck, full node.PID, far node.At)
	on   func(stuck, full node.PID, far node.At) node.Dest // nil: nobody
}{
	{"Call", "reply", func(h actortest.Self, stuck, _ node.PID, _ node.At) {
		_, _ = node.Call[int](context.Background(), h, stuck, 1)
	}, func(stuck, _ node.PID, _ node.At) node.Dest { return stuck }},
	{"Call by name", "reply", func(h actortest.Self, _, _ node.PID, _ node.At) {
		_, _ = node.Call[int](context.Background(), h, node.Atom("stuck"), 1)
	}, func(stuck, _ node.PID, _ node.At) node.Dest { return stuck }},
	{"Call far", "reply", func(h actortest.Self, _, _ node.PID, far node.At) {
		_, _ = node.Call[int](context.Background(), h, far, 1)
	}, func(_, _ node.PID, far node.At) node.Dest { return far }},
	{"Await", "future", func(h actortest.Self, stuck, _ node.PID, _ node.At) {
		_, _ = node.Await(context.Background(), h, node.Async[int](h, stuck, 1))
	}, func(stuck, _ node.PID, _ node.At) node.Dest { return stuck }},
	{"Await far", "future", func(h actortest.Self, _, _ node.PID, far node.At) {
		_, _ = node.Await(context.Background(), h, node.Async[int](h, far, 1))
	}, func(_, _ node.PID, far node.At) node.Dest { return far }},
	{"AwaitExit", "exit", func(h actortest.Self, stuck, _ node.PID, _ node.At) {
		_, _ = node.AwaitExit(context.Background(), h, stuck)
	}, func(stuck, _ node.PID, _ node.At) node.Dest { return stuck }},
	{"Send", "space", func(h actortest.Self, _, full node.PID, _ node.At) { _ = h.Send(full, 1) },
		func(_, full node.PID, _ node.At) node.Dest { return full }},
	{"Call of a full mailbox", "space", func(h actortest.Self, _, full node.PID, _ node.At) {
		_, _ = node.Call[int](context.Background(), h, full, 1)
	}, func(_, full node.PID, _ node.At) node.Dest { return full }},
	{"Receive", "message", func(h actortest.Self, _, _ node.PID, _ node.At) {
		if p, ok := h.(*node.Process); ok {
			p.Receive()
		}
	}, nil},
	{"ReceiveMatch", "message", func(h actortest.Self, _, _ node.PID, _ node.At) {
		if p, ok := h.(*node.Process); ok {
			p.ReceiveMatch(func(any) bool { return false })
		}
	}, nil},
	{"ReceiveWithin", "message", func(h actortest.Self, _, _ node.PID, _ node.At) {
		if p, ok := h.(*node.Process); ok {
			_, _ = p.ReceiveWithin(time.Hour, nil)
		}
	}, nil},
}

// Info shows what a process waits for, on whom and since when, in each style; and nothing once it no longer waits.
func TestInfoShowsWaits(t *testing.T) {
	a, b := startTwo(t, clustertest.NewCluster(t), node.Distribution{})
	_, err := b.SpawnOpt(node.Options{Name: "far"}, actortest.Actor.Actor(actortest.Ignore))
	require.NoError(t, err)
	far := node.At{Name: "far", Node: b.Name()}
	require.NoError(t, a.Connect(testkit.Context(t), b.Name()))
	stuck, err := a.SpawnOpt(node.Options{Name: "stuck"}, actortest.Actor.Actor(actortest.Ignore))
	require.NoError(t, err)
	gate, entered := make(chan struct{}), make(chan struct{})
	full, err := a.SpawnOpt(node.Options{Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Block}},
		node.ProcessFunc(func(p *node.Process) error { close(entered); <-gate; return nil }))
	require.NoError(t, err)
	defer close(gate)
	testkit.Receive(t, entered)
	require.NoError(t, a.Send(full, 0))
	for _, s := range styles {
		for _, w := range shownWaits {
			actor := s.Name == "actor" || s.Name == "detached"
			if w.what == "message" && actor {
				continue
			}
			t.Run(s.Name+" "+w.name, func(t *testing.T) {
				before := time.Now()
				pid, err := a.SpawnOpt(s.Options, s.Actor(func(h actortest.Self, m any) error {
					if m == "wait" {
						w.wait(h, stuck, full, far)
					}
					return nil
				}))
				require.NoError(t, err)
				require.NoError(t, a.Send(pid, "wait"))
				var i observe.Process
				testkit.UntilTrue(t, func() bool {
					i, err = a.Info(pid)
					return err == nil && i.Wait.For == w.what && (actor || i.Handled == 1)
				}, "it waits")
				if w.on == nil {
					assert.Nil(t, i.Wait.On)
				} else {
					assert.Equal(t, w.on(stuck, full, far), i.Wait.On)
				}
				// The system's scheduler decides how far the coarse clock is behind.
				assert.WithinRange(t, i.Wait.Since, before.Add(-testkit.Limit), time.Now())
				a.Exit(pid, node.Kill)
			})
		}
	}
	idle := actortest.Actor.Spawn(t, a, actortest.Ignore)
	i, err := a.Info(idle)
	require.NoError(t, err)
	assert.Zero(t, i.Wait, "an Actor with nothing to do")
}

// A process that has stopped waiting is not shown as waiting.
func TestInfoOfWaitThatIsOver(t *testing.T) {
	for _, s := range actortest.BlockingStyles() {
		t.Run(s.Name, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{})
			server := actortest.Actor.Spawn(t, n, parrot)
			called, release := make(chan struct{}), make(chan struct{})
			pid := s.Spawn(t, n, func(h actortest.Self, _ any) error {
				_, err := node.Call[int](context.Background(), h, server, 1)
				called <- struct{}{}
				<-release
				return err
			})
			for range 3 {
				require.NoError(t, n.Send(pid, "call"))
				testkit.Receive(t, called)
				i, err := n.Info(pid)
				require.NoError(t, err)
				assert.Zero(t, i.Wait)
				release <- struct{}{}
			}
			testkit.UntilTrue(t, func() bool {
				i, err := n.Info(pid)
				return err == nil && i.Wait.For == "message" && i.Wait.On == nil
			}, "it waits for a message")
		})
	}
}

// A handle is shown like a process.
func TestInfoOfWaitingHandle(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	stuck := actortest.Actor.Spawn(t, n, actortest.Ignore)
	h := nodetest.NewProbe(t, n)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() { defer close(over); _, _ = node.Call[int](ctx, h, stuck, 1) }()
	testkit.UntilTrue(t, func() bool {
		i, err := n.Info(h.Self())
		return err == nil && i.Wait.For == "reply" && i.Wait.On == node.Dest(stuck)
	}, "it waits")
	cancel()
	testkit.Receive(t, over)
	i, err := n.Info(h.Self())
	require.NoError(t, err)
	assert.Zero(t, i.Wait)
}
