package inbox

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/mailbox"
)

// A run goes in whole, in its order, whatever the state of the inbox.
func TestRun(t *testing.T) {
	run := func(msgs ...any) Run {
		r := NewRun()
		r.Add(msgs[0])
		r.Fill(copy(r.Unused(), msgs[1:]))
		require.Equal(t, len(msgs), r.Len())
		require.Len(t, r.Unused(), RunSize-len(msgs))
		return r
	}
	r := run(1, 2, 3)
	assert.Equal(t, []any{1, 2, 3}, slices.Collect(r.All()))
	r.Clear()
	assert.Empty(t, slices.Collect(r.All()))
	assert.Equal(t, [RunSize]any{}, r.msgs, "nothing is kept")
	var b Inbox
	var q Queue
	taken := func() (all []any) {
		for msg, ok := q.Next(); ok; msg, ok = q.Next() {
			all = append(all, msg)
			q.Drop()
		}
		return all
	}
	require.Equal(t, mailbox.Wake, b.PushRun(run(1, 2)), "armed")
	require.Equal(t, mailbox.Queued, b.Push(&Node{Msg: 3}))
	require.Equal(t, mailbox.Queued, b.PushRun(run(4)))
	require.Equal(t, mailbox.Queued, b.PushRun(run(5, 6)))
	require.Equal(t, 6, b.Take(&q))
	assert.Equal(t, []any{1, 2, 3, 4, 5, 6}, taken())
	require.Equal(t, mailbox.Queued, b.PushRun(run(7, 8)), "awake")
	require.Equal(t, 2, b.TakeArmed(&q))
	assert.Equal(t, []any{7, 8}, taken())
	b.Close()
	r = run(9, 10)
	require.Equal(t, mailbox.Closed, b.PushRun(r))
	assert.Equal(t, []any{9, 10}, slices.Collect(r.All()), "it is the caller's still")
}

// Runs of many senders keep each sender's order.
func TestRunsKeepOrder(t *testing.T) {
	const senders, each = 4, 5000
	var b Inbox
	wake := make(chan struct{}, 1)
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := 0; i < each; {
				r := NewRun()
				for range 1 + i%7 {
					if i < each {
						r.Add([2]int{s, i})
						i++
					}
				}
				if b.PushRun(r) == mailbox.Wake {
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
			for msg, ok := q.Next(); ok; msg, ok = q.Next() {
				m := msg.([2]int)
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
