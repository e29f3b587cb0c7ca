package node_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
)

// Messages that come together are delivered together, to processes of all kinds: in
// order, with what comes between them, and none is forgotten at the end of a run.
func TestRuns(t *testing.T) {
	a, b := nativePair(t, func(*node.Types) {}, node.Distribution{})
	self := nodetest.Open(t, a)
	const n = 3000
	done := make(chan any, 8)
	count := func() func(any) bool {
		next := 0
		return func(msg any) bool {
			if msg != next {
				done <- msg
				return true
			}
			if next++; next == n {
				done <- "all"
				return true
			}
			return false
		}
	}
	actor := func() node.Actor {
		check := count()
		return node.ActorFunc(func(_ *node.Context, msg any) error {
			check(msg)
			return nil
		})
	}
	process := func() node.ProcessFunc {
		check := count()
		return func(p *node.Process) error {
			for !check(p.Receive()) {
			}
			return nil
		}
	}
	var pids []node.PID
	for _, s := range []struct {
		o node.Options
		b node.Actor
	}{
		{node.Options{}, actor()},
		{node.Options{Place: node.Detached()}, actor()},
		{node.Options{Limits: mailbox.Limits{Messages: 1 << 20}}, actor()},
		{node.Options{}, process()},
		{node.Options{Coroutine: true}, process()},
	} {
		pid, err := b.SpawnOpt(s.o, s.b)
		require.NoError(t, err)
		pids = append(pids, pid)
	}
	for i := range n {
		for _, pid := range pids { // runs of one where they take turns, of many where not
			if i < n/2 {
				require.NoError(t, self.Send(pid, i))
			}
		}
		if i%100 == 0 {
			self.Demonitor(self.Monitor(pids[0]), true)
		}
	}
	for _, pid := range pids {
		for i := n / 2; i < n; i++ {
			require.NoError(t, self.Send(pid, i))
		}
	}
	for range pids {
		assert.Equal(t, "all", testkit.Receive(t, done))
	}
}
