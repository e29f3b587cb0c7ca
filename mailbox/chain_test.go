package mailbox

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A chain goes in whole, in its order, whatever the state of the inbox.
func TestChain(t *testing.T) {
	chain := func(msgs ...any) *Chain {
		c := new(Chain)
		for _, m := range msgs {
			c.Add(&Node{Msg: m})
		}
		require.Equal(t, len(msgs), c.Len())
		return c
	}
	assert.Equal(t, []any{1, 2, 3}, slices.Collect(chain(1, 2, 3).All()))
	assert.Empty(t, slices.Collect(new(Chain).All()))
	var b Inbox
	var q Queue
	taken := func() (all []any) {
		for n := q.Next(); n != nil; n = q.Next() {
			all = append(all, n.Msg)
			q.Drop()
		}
		return all
	}
	require.Equal(t, Wake, b.PushChain(chain(1, 2)), "armed")
	require.Equal(t, Queued, b.Push(&Node{Msg: 3}))
	require.Equal(t, Queued, b.PushChain(chain(4)))
	require.Equal(t, Queued, b.PushChain(chain(5, 6)))
	require.Equal(t, 6, b.Take(&q))
	assert.Equal(t, []any{1, 2, 3, 4, 5, 6}, taken())
	require.Equal(t, Queued, b.PushChain(chain(7, 8)), "awake")
	require.Equal(t, 2, b.TakeArmed(&q))
	assert.Equal(t, []any{7, 8}, taken())
	b.Close()
	c := chain(9, 10)
	require.Equal(t, Closed, b.PushChain(c))
	assert.Equal(t, []any{9, 10}, slices.Collect(c.All()), "it is the caller's still")
}

// Chains and single messages of many senders keep each sender's order.
func TestChainsKeepOrder(t *testing.T) {
	const senders, each = 4, 5000
	var b Inbox
	wake := make(chan struct{}, 1)
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := 0; i < each; {
				c := new(Chain)
				for range 1 + i%7 {
					if i < each {
						c.Add(&Node{Msg: [2]int{s, i}})
						i++
					}
				}
				if b.PushChain(c) == Wake {
					wake <- struct{}{}
				}
			}
		})
	}
	var q Queue
	var next [senders]int
	for left := senders * each; left > 0; {
		<-wake
		for b.TakeArmed(&q) > 0 {
			for n := q.Next(); n != nil; n = q.Next() {
				m := n.Msg.([2]int)
				require.Equal(t, next[m[0]], m[1])
				next[m[0]]++
				left--
				q.Drop()
			}
			if b.head.Load() == nil {
				break
			}
		}
	}
	wg.Wait()
}
