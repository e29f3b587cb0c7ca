package node_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/nodetest"
)

// inBubble runs f with a node in a bubble with its own time, which stands still while anything runs.
func inBubble(t *testing.T, f func(t *testing.T, n *node.Node, h *nodetest.Probe)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n, err := node.Start(node.Config{Workers: 1, Stages: 1})
		require.NoError(t, err)
		h := nodetest.NewProbe(t, n)
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

// clock forwards everything it gets to boss, stamped.
func clock(boss node.PID, began time.Time) actortest.Handler {
	return func(h actortest.Self, m any) error { return h.Send(boss, stamped{m, time.Since(began)}) }
}

func TestSendAfter(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		inBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe) {
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
			h.ExpectNone()
			assert.Empty(t, n.Stats().DeadLetters)
		})
	})
}

// A process sends to itself.
func TestSendAfterToItself(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		inBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe) {
			began := time.Now()
			pid := s.Spawn(t, n, func(p actortest.Self, m any) error {
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
	inBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe) {
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
		h.ExpectNone()

		// A timer that has fired.
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
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		inBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe) {
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
			h.ExpectNone()

			// The timer ends with the process, without dead letters.
			timer, err = h.SendInterval(time.Second, pid, "tick")
			require.NoError(t, err)
			assert.IsType(t, stamped{}, h.Receive())
			n.Exit(pid, node.Kill)
			<-time.After(time.Minute)
			_, ok = timer.Left()
			assert.False(t, ok)
			h.ExpectNone()
			assert.Empty(t, n.Stats().DeadLetters)
		})
	})
}

func TestTimerErrors(t *testing.T) {
	inBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe) {
		_, err := n.SendAfter(-1, h.Self(), "x")
		assert.ErrorIs(t, err, node.ErrArgument)
		_, err = h.SendInterval(0, h.Self(), "x")
		assert.ErrorIs(t, err, node.ErrArgument)
		_, err = n.SendInterval(-time.Second, h.Self(), "x")
		assert.ErrorIs(t, err, node.ErrArgument)
		<-time.After(time.Minute)
		h.ExpectNone()
	})
}

// A timer to a dead process: nothing happens until it fires.
func TestTimerForTheDead(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		inBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe) {
			dead := n.DeadLetters(4)
			defer dead.Close()
			pid := s.Spawn(t, n, actortest.Ignore)
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
		pid := actortest.Actor.Spawn(t, n, actortest.Ignore)
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

// heap is how many bytes are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Timers end with their processes, as OTP's do: they stop running, and their memory is free, even if somebody keeps
// them.
func TestTimersOfTheDead(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		const size = 1024
		many := testkit.By(4_000, 20_000, 20_000)
		if testkit.Race {
			many = 2_000 // the race detector is slow
		}
		n := nodetest.Start(t, node.Config{MaxProcesses: 2 * many})
		pids := make([]node.PID, many)
		timers := make([]*node.Timer, 0, 2*many)
		for i := range pids { // what so many processes leave behind is not measured
			pids[i] = s.Spawn(t, n, actortest.Ignore)
		}
		for _, pid := range pids {
			n.Exit(pid, node.Kill)
		}
		testkit.UntilTrue(t, func() bool { return n.Stats().Processes == 0 }, "all are dead")
		before := heap()
		for i := range pids {
			pids[i] = s.Spawn(t, n, actortest.Ignore)
			for _, start := range []func(time.Duration, node.Dest, any) (*node.Timer, error){n.SendAfter, n.SendInterval} {
				timer, err := start(time.Hour, pids[i], make([]byte, size))
				require.NoError(t, err)
				timers = append(timers, timer)
			}
		}
		for _, timer := range timers {
			_, ok := timer.Left()
			require.True(t, ok)
		}
		for _, pid := range pids {
			n.Exit(pid, node.Kill)
		}
		for _, timer := range timers {
			left, ok := timer.Left()
			require.False(t, ok)
			require.Zero(t, left)
			_, ok = timer.Cancel()
			require.False(t, ok)
		}
		assert.Equal(t, map[deadletter.Cause]uint64{deadletter.NoProcess: uint64(many)}, n.Stats().DeadLetters, "what was to be sent once")
		testkit.UntilTrue(t, func() bool { return n.Stats().Processes == 0 }, "no process is left")
		if testkit.Race {
			return // the race detector keeps memory of its own
		}
		var held int64
		testkit.UntilTrue(t, func() bool {
			held = heap() - before
			return held < int64(many*size/2)
		}, "the memory is free")
		t.Logf("%d KiB of %d", held>>10, 2*many*size>>10)
		runtime.KeepAlive(timers)
	})
}

// A timer to a process that is gone does not start.
func TestTimerForNobody(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	pid := actortest.Actor.Spawn(t, n, actortest.Ignore)
	n.Exit(pid, node.Kill)
	before := n.Stats().DeadLetters[deadletter.NoProcess]
	timer, err := n.SendAfter(time.Hour, pid, "x")
	require.NoError(t, err)
	_, ok := timer.Left()
	assert.False(t, ok)
	_, ok = timer.Cancel()
	assert.False(t, ok)
	assert.Equal(t, before+1, n.Stats().DeadLetters[deadletter.NoProcess])
	timer, err = n.SendInterval(time.Hour, pid, "x")
	require.NoError(t, err)
	_, ok = timer.Left()
	assert.False(t, ok)
	assert.Equal(t, before+1, n.Stats().DeadLetters[deadletter.NoProcess])
}

// Firing, the death of the process and Cancel coincide. Each message is received, cancelled, left in the mailbox of a
// process that died, or a dead letter: one of them, once.
func TestTimerRaces(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		const each = 8
		rounds := testkit.By(60, 200, 2000)
		n := nodetest.Start(t, node.Config{})
		chance := testkit.Rand(t)
		var received, cancelled atomic.Int64
		dead := func() int64 { return int64(n.Stats().DeadLetters[deadletter.NoProcess]) }
		round := 0
		for ; round < rounds || cancelled.Load() == 0 || dead() == 0; round++ { // until chance has produced both
			pid := s.Spawn(t, n, func(actortest.Self, any) error { received.Add(1); return nil })
			var timers []*node.Timer
			for range each {
				timer, err := n.SendAfter(time.Duration(chance.IntN(200))*time.Microsecond, pid, "x")
				require.NoError(t, err)
				timers = append(timers, timer)
			}
			often, err := n.SendInterval(time.Hour, pid, "never")
			require.NoError(t, err)
			pause := time.Duration(chance.IntN(200)) * time.Microsecond
			var all sync.WaitGroup
			for i, timer := range timers {
				all.Go(func() {
					if i%2 == 0 {
						timer.Left()
					} else if _, ok := timer.Cancel(); ok {
						cancelled.Add(1)
					}
				})
			}
			all.Go(func() {
				<-time.After(pause) // chance decides which is first
				n.Exit(pid, node.Kill)
			})
			all.Wait()
			for _, timer := range append(timers, often) {
				_, ok := timer.Left()
				require.False(t, ok, "the process is dead")
			}
		}
		// The content of a mailbox is gone when its process dies, so this is only a bound.
		assert.LessOrEqual(t, received.Load()+cancelled.Load()+dead(), int64(round*each))
		t.Logf("%d received, %d cancelled, %d dead letters of %d", received.Load(), cancelled.Load(),
			dead(), round*each)
	})
}

// The cost of a timer and its process, which pays for the first timer.
func BenchmarkTimer(b *testing.B) {
	n := nodetest.Start(b, node.Config{})
	pid := actortest.Actor.Spawn(b, n, actortest.Ignore)
	b.Run("set and cancel", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			timer, _ := n.SendAfter(time.Hour, pid, "x")
			timer.Cancel()
		}
	})
	b.Run("spawn, set and kill", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			pid := actortest.Actor.Spawn(b, n, actortest.Ignore)
			n.SendInterval(time.Hour, pid, "x")
			n.Exit(pid, node.Kill)
		}
	})
}

// Ticks that a full mailbox has no room for are dead letters, and no goroutine waits with them, whatever the policy.
func TestSendIntervalFullMailbox(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n, pid, release := fullMailbox(t, s)
			before := testkit.Goroutines()
			timer, err := n.SendInterval(time.Millisecond, pid, "tick")
			require.NoError(t, err)
			time.Sleep(time.Second + time.Millisecond/2)
			synctest.Wait()
			assert.Less(t, testkit.Goroutines(), before+50)
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

// A message that is sent once waits in its timer for room in a mailbox that blocks its senders, and can be cancelled
// there; with other mailboxes it becomes a dead letter.
func TestSendAfterFullMailbox(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n, pid, release := fullMailbox(t, s)
			before := testkit.Goroutines()
			var timers []*node.Timer
			for i := range 100 {
				timer, err := n.SendAfter(time.Second, pid, i)
				require.NoError(t, err)
				timers = append(timers, timer)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			assert.Less(t, testkit.Goroutines(), before+50)
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
				n, pid, release := gate(t, actortest.Actor, node.Options{Bounds: mailbox.Bounds{Messages: 2, Policy: policy}})
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

// Stop leaves no goroutine behind when timers have no room for their messages: the bubble would detect it.
func TestStopWithTimersForFullMailboxes(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
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
