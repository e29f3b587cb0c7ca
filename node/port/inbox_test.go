package port

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

// inboxOf returns an inbox and the handle that it wakes.
func inboxOf(t *testing.T) (*node.Process, *inbox) {
	n := nodetest.Start(t, node.Config{})
	self := nodetest.NewProbe(t, n)
	self.TrapExit(true)
	return self.Process, newInbox(n, self.Self())
}

// The reader waits until the actor has taken what is there, and one wake is for all of it.
func TestInboxIsBounded(t *testing.T) {
	self, b := inboxOf(t)
	const all = 100
	over := make(chan bool, 1)
	go func() { // ends with close below
		for i := range all {
			b.put(i, inboxBytes/4)
		}
		for b.put(all, inboxBytes/4) {
		}
		over <- true
	}()
	for next := 0; next < all; {
		require.Equal(t, wake{}, self.Receive().(node.Exited).Reason)
		ops, _ := b.take()
		require.LessOrEqual(t, len(ops), 4)
		for _, op := range ops {
			if op == all {
				break
			}
			require.Equal(t, next, op)
			next++
		}
		if next < all {
			require.NotEmpty(t, ops)
		}
	}
	b.note(unready{})
	b.close()
	require.True(t, <-over)
	ops, events := b.take()
	require.Empty(t, ops)
	require.Empty(t, events)
	b.note(unready{}) // without a receiver
}

// The inbox wakes its process once for the same messages.
func TestInboxWakesOnce(t *testing.T) {
	self, b := inboxOf(t)
	b.note(queueHasSpace{})
	require.True(t, b.put(1, 1))
	b.note(stalled{})
	self.Receive()
	_, err := self.ReceiveWithin(0, nil)
	require.ErrorIs(t, err, node.ErrTimeout)
	ops, events := b.take()
	require.Equal(t, []any{1}, ops)
	require.Equal(t, []any{queueHasSpace{}, stalled{}}, events)
}
