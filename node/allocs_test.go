package node_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

type (
	repeat   struct{} // order to do something many times
	another  struct{} // order to do it once more
	question struct{}
)

// many is how often something is done, so that what is allocated in batches does not matter.
const many = 2000

// allocates checks how many allocations both ends make together each time that b does its work many times for a repeat.
// The messages have no size, and need none.
func allocates(t *testing.T, n *node.Node, done <-chan struct{}, want float64, b node.Actor, what string) {
	t.Helper()
	pid, err := n.Spawn(b)
	require.NoError(t, err)
	testkit.Until(t, func() string { // anything else that runs may allocate, too
		got := testing.AllocsPerRun(5, func() {
			assert.NoError(t, n.Send(pid, repeat{}))
			<-done
		}) / many
		if math.Abs(got-want) > 0.3 {
			return fmt.Sprintf("%s: %.2f allocations, want %v", what, got, want)
		}
		return ""
	})
}

// Messages and calls on one node allocate this much. The destination of each is an interface: where it escapes to the
// heap, there is one allocation more.
func TestAllocationsOfMessages(t *testing.T) {
	if testkit.Race {
		return // the detector allocates, too
	}
	n := nodetest.Start(t, node.Config{})
	to, err := n.Spawn(node.ActorFunc(func(_ *node.Context, m any) error {
		if r, ok := m.(node.Request[question]); ok {
			return r.Reply(true)
		}
		return nil
	}))
	require.NoError(t, err)
	ctx, done := context.Background(), make(chan struct{})

	actor := func(what string, want float64, do func(c *node.Context)) {
		left := 0
		allocates(t, n, done, want, node.ActorFunc(func(c *node.Context, m any) error {
			if m == (repeat{}) {
				left = many
			}
			if left == 0 {
				done <- struct{}{}
				return nil
			}
			left--
			do(c)
			return nil
		}), what+" from an Actor")
	}
	actor("Send", 0, func(c *node.Context) {
		c.Send(to, question{})
		c.Send(c.Self(), another{})
	})
	actor("SendRequest", 4, func(c *node.Context) { node.SendRequest(c, to, nil, question{}) })
	actor("Call", 9, func(c *node.Context) {
		node.Call[bool](ctx, c, to, question{})
		c.Send(c.Self(), another{})
	})

	process := func(what string, want float64, do func(p *node.Process)) {
		allocates(t, n, done, want, node.ProcessFunc(func(p *node.Process) error {
			for {
				p.Receive()
				for range many {
					do(p)
				}
				done <- struct{}{}
			}
		}), what+" from a Process")
	}
	process("Send", 1, func(p *node.Process) { p.Send(to, question{}) })
	process("SendRequest", 5, func(p *node.Process) {
		node.SendRequest(p, to, nil, question{})
		p.Receive()
	})
	process("Call", 3, func(p *node.Process) { node.Call[bool](ctx, p, to, question{}) })
}
