package node_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
)

// Ticks that a full mailbox has no room for are dead letters, and no goroutine waits with
// them, whatever the policy.
func TestSendIntervalFullMailbox(t *testing.T) {
	nodetest.EachStyle(t, func(t *testing.T, s nodetest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n, pid, release := fullMailbox(t, s)
			before := runtime.NumGoroutine()
			timer, err := n.SendInterval(time.Millisecond, pid, "tick")
			require.NoError(t, err)
			time.Sleep(time.Second + time.Millisecond/2)
			synctest.Wait()
			assert.Less(t, runtime.NumGoroutine(), before+50)
			assert.Equal(t, map[deadletter.Cause]uint64{deadletter.MailboxFull: 1000}, n.Stats().DeadLetters)
			_, ok := timer.Left()
			assert.True(t, ok)
			close(release) // there is room now
			time.Sleep(10 * time.Millisecond)
			assert.EqualValues(t, 1000, n.Stats().DeadLetters[deadletter.MailboxFull])
			_, ok = timer.Cancel()
			assert.True(t, ok)
			require.NoError(t, n.Stop())
		})
	})
}

// A message that is sent once waits in its timer for room in a mailbox that makes senders
// wait, and there it can be cancelled; other mailboxes make a dead letter of it.
func TestSendAfterFullMailbox(t *testing.T) {
	nodetest.EachStyle(t, func(t *testing.T, s nodetest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n, pid, release := fullMailbox(t, s)
			h, err := n.Open()
			require.NoError(t, err)
			defer h.Close(nil)
			before := runtime.NumGoroutine()
			var timers []*node.Timer
			for i := range 100 {
				timer, err := n.SendAfter(time.Second, pid, i)
				require.NoError(t, err)
				timers = append(timers, timer)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			assert.Less(t, runtime.NumGoroutine(), before+50)
			for i, timer := range timers {
				left, ok := timer.Left()
				assert.True(t, ok)
				assert.Zero(t, left)
				if i%2 == 0 {
					left, ok = timer.Cancel()
					assert.True(t, ok)
					assert.Zero(t, left)
				}
			}
			assert.Empty(t, n.Stats().DeadLetters)
			close(release)
			time.Sleep(time.Minute)
			synctest.Wait()
			for _, timer := range timers {
				_, ok := timer.Left()
				assert.False(t, ok)
			}
			assert.Empty(t, n.Stats().DeadLetters)
			i, err := n.Info(pid)
			require.NoError(t, err)
			assert.Zero(t, i.Mailbox)
			assert.EqualValues(t, 2-inFlight(s)+50, i.Handled)
			require.NoError(t, n.Stop())
		})
	})
}

func TestSendAfterRefused(t *testing.T) {
	for _, policy := range []mailbox.Policy{mailbox.Refuse, mailbox.DropNewest, mailbox.DropOldest} {
		t.Run(policy.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, pid, release := gate(t, nodetest.Actor, node.Options{Limits: mailbox.Limits{Messages: 2, Policy: policy}})
				for i := range 2 {
					require.NoError(t, n.Send(pid, i))
					synctest.Wait()
				}
				timer, err := n.SendAfter(time.Second, pid, "late")
				require.NoError(t, err)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				_, ok := timer.Left()
				assert.False(t, ok)
				assert.Equal(t, map[deadletter.Cause]uint64{deadletter.MailboxFull: 1}, n.Stats().DeadLetters)
				close(release)
				require.NoError(t, n.Stop())
			})
		})
	}
}

// Stop leaves no goroutine behind where timers have no room for what they send: the
// bubble would say so.
func TestStopWithTimersForFullMailboxes(t *testing.T) {
	nodetest.EachStyle(t, func(t *testing.T, s nodetest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n, pid, release := fullMailbox(t, s)
			once, err := n.SendAfter(time.Millisecond, pid, "x")
			require.NoError(t, err)
			often, err := n.SendInterval(time.Millisecond, pid, "x")
			require.NoError(t, err)
			time.Sleep(10*time.Millisecond + time.Millisecond/2)
			close(release)
			require.NoError(t, n.Stop())
			for _, timer := range []*node.Timer{once, often} {
				_, ok := timer.Left()
				assert.False(t, ok)
			}
			assert.Zero(t, n.Stats().DeadLetters[deadletter.NoProcess])
		})
	})
}
