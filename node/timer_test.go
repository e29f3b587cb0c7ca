package node_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
)

// inBubble runs f with a node in a bubble of its own time, which stands still
// while anybody has something to do.
func inBubble(t *testing.T, f func(t *testing.T, n *node.Node, h *node.Process)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n, err := node.Start(node.Config{Workers: 1, Stages: 1})
		require.NoError(t, err)
		h, err := n.Open()
		require.NoError(t, err)
		f(t, n, h)
		h.Close(nil)
		assert.NoError(t, n.Stop())
	})
}

// stamped is a message with the time at which it was received.
type stamped struct {
	msg any
	at  time.Duration
}

// clock sends what it gets on to boss, stamped.
func clock(boss node.PID, began time.Time) nodetest.Handler {
	return func(h nodetest.Self, m any) error { return h.Send(boss, stamped{m, time.Since(began)}) }
}

func TestSendAfter(t *testing.T) {
	nodetest.EachStyle(t, func(t *testing.T, s nodetest.Style) {
		inBubble(t, func(t *testing.T, n *node.Node, h *node.Process) {
			pid := s.Spawn(t, n, clock(h.Self(), time.Now()))
			for _, d := range []time.Duration{3 * time.Second, time.Second, 0, 2 * time.Second} {
				timer, err := n.SendAfter(d, pid, d)
				require.NoError(t, err)
				left, ok := timer.Left()
				if d > 0 {
					assert.True(t, ok)
					assert.Equal(t, d, left)
				}
			}
			for i := range 4 {
				d := time.Duration(i) * time.Second
				assert.Equal(t, stamped{d, d}, h.Receive())
			}
			nodetest.Quiet(t, h)
			assert.Empty(t, n.Stats().DeadLetters)
		})
	})
}

// From within a process, to itself.
func TestSendAfterToItself(t *testing.T) {
	nodetest.EachStyle(t, func(t *testing.T, s nodetest.Style) {
		inBubble(t, func(t *testing.T, n *node.Node, h *node.Process) {
			began := time.Now()
			pid := s.Spawn(t, n, func(p nodetest.Self, m any) error {
				if k, ok := m.(int); ok && k > 0 {
					_, err := p.SendAfter(time.Minute, p.Self(), k-1)
					return err
				}
				return p.Send(h.Self(), time.Since(began))
			})
			require.NoError(t, h.Send(pid, 5))
			assert.Equal(t, 5*time.Minute, h.Receive())
		})
	})
}

func TestTimerCancel(t *testing.T) {
	inBubble(t, func(t *testing.T, n *node.Node, h *node.Process) {
		timer, err := h.SendAfter(10*time.Second, h.Self(), "never")
		require.NoError(t, err)
		<-time.After(4 * time.Second)
		left, ok := timer.Left()
		assert.True(t, ok)
		assert.Equal(t, 6*time.Second, left)
		left, ok = timer.Cancel()
		assert.True(t, ok)
		assert.Equal(t, 6*time.Second, left)
		for range 2 {
			left, ok = timer.Cancel()
			assert.False(t, ok)
			assert.Zero(t, left)
			left, ok = timer.Left()
			assert.False(t, ok)
			assert.Zero(t, left)
		}
		<-time.After(time.Minute)
		nodetest.Quiet(t, h)

		// One that has fired.
		timer, err = h.SendAfter(time.Second, h.Self(), "once")
		require.NoError(t, err)
		assert.Equal(t, "once", h.Receive())
		_, ok = timer.Left()
		assert.False(t, ok)
		_, ok = timer.Cancel()
		assert.False(t, ok)
		assert.Empty(t, n.Stats().DeadLetters)
	})
}

func TestSendInterval(t *testing.T) {
	nodetest.EachStyle(t, func(t *testing.T, s nodetest.Style) {
		inBubble(t, func(t *testing.T, n *node.Node, h *node.Process) {
			pid := s.Spawn(t, n, clock(h.Self(), time.Now()))
			timer, err := h.SendInterval(time.Second, pid, "tick")
			require.NoError(t, err)
			for i := range 5 {
				assert.Equal(t, stamped{"tick", time.Duration(i+1) * time.Second}, h.Receive())
			}
			<-time.After(300 * time.Millisecond)
			left, ok := timer.Left()
			assert.True(t, ok)
			assert.Equal(t, 700*time.Millisecond, left)
			left, ok = timer.Cancel()
			assert.True(t, ok)
			assert.Equal(t, 700*time.Millisecond, left)
			<-time.After(time.Minute)
			nodetest.Quiet(t, h)

			// It ends with the process, without dead letters.
			timer, err = h.SendInterval(time.Second, pid, "tick")
			require.NoError(t, err)
			assert.IsType(t, stamped{}, h.Receive())
			n.Exit(pid, node.Kill)
			<-time.After(time.Minute)
			_, ok = timer.Left()
			assert.False(t, ok)
			nodetest.Quiet(t, h)
			assert.Empty(t, n.Stats().DeadLetters)
		})
	})
}

func TestTimerErrors(t *testing.T) {
	inBubble(t, func(t *testing.T, n *node.Node, h *node.Process) {
		_, err := n.SendAfter(-1, h.Self(), "x")
		assert.ErrorIs(t, err, node.ErrBadTimeout)
		_, err = h.SendInterval(0, h.Self(), "x")
		assert.ErrorIs(t, err, node.ErrBadTimeout)
		_, err = n.SendInterval(-time.Second, h.Self(), "x")
		assert.ErrorIs(t, err, node.ErrBadTimeout)
		<-time.After(time.Minute)
		nodetest.Quiet(t, h)
	})
}

// A timer for one that is dead: nothing happens until it fires.
func TestTimerForTheDead(t *testing.T) {
	nodetest.EachStyle(t, func(t *testing.T, s nodetest.Style) {
		inBubble(t, func(t *testing.T, n *node.Node, h *node.Process) {
			dead := n.DeadLetters(4)
			defer dead.Close()
			pid := s.Spawn(t, n, nodetest.Ignore)
			timer, err := h.SendAfter(time.Second, pid, "late")
			require.NoError(t, err)
			n.Exit(pid, node.Kill)
			l := <-dead.C
			assert.Equal(t, deadletter.NoProcess, l.Cause)
			assert.Equal(t, pid, l.To)
			assert.Equal(t, "late", l.Message)
			_, ok := timer.Cancel()
			assert.False(t, ok)
			timer, err = h.SendInterval(time.Second, pid, "late")
			require.NoError(t, err)
			<-time.After(time.Minute)
			_, ok = timer.Left()
			assert.False(t, ok)
			assert.Equal(t, map[deadletter.Cause]uint64{deadletter.NoProcess: 1}, n.Stats().DeadLetters)
		})
	})
}

// Timers end with the node.
func TestTimersOfAStoppedNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, err := node.Start(node.Config{Workers: 1})
		require.NoError(t, err)
		pid := nodetest.Actor.Spawn(t, n, nodetest.Ignore)
		once, err := n.SendAfter(time.Second, pid, "x")
		require.NoError(t, err)
		often, err := n.SendInterval(time.Second, pid, "x")
		require.NoError(t, err)
		require.NoError(t, n.Stop())
		for _, timer := range []*node.Timer{once, often} {
			_, ok := timer.Left()
			assert.False(t, ok)
			_, ok = timer.Cancel()
			assert.False(t, ok)
		}
		_, err = n.SendAfter(time.Second, pid, "x")
		assert.ErrorIs(t, err, node.ErrNodeStopped)
		<-time.After(time.Minute)
		assert.Empty(t, n.Stats().DeadLetters)
	})
}
