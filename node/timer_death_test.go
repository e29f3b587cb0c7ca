package node_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
)

// heap is how many bytes are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Timers end with their processes, as OTP's do: they are not running any more, and what
// they took is free, also where somebody keeps them.
func TestTimersOfTheDead(t *testing.T) {
	nodetest.EachStyle(t, func(t *testing.T, s nodetest.Style) {
		const size = 1024
		many := testkit.By(4_000, 20_000, 20_000)
		if testkit.Race {
			many = 2_000 // it is slow
		}
		n := nodetest.Start(t, node.Config{MaxProcesses: 2 * many})
		pids := make([]node.PID, many)
		timers := make([]*node.Timer, 0, 2*many)
		for i := range pids { // what so many processes leave behind is not what is measured
			pids[i] = s.Spawn(t, n, nodetest.Ignore)
		}
		for _, pid := range pids {
			n.Exit(pid, node.Kill)
		}
		testkit.UntilTrue(t, func() bool { return n.Stats().Processes == 0 }, "all are dead")
		before := heap()
		for i := range pids {
			pids[i] = s.Spawn(t, n, nodetest.Ignore)
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
			return // it keeps memory of its own
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

// For a process that is gone, or is not here, a timer does not begin to run.
func TestTimerForNobody(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	pid := nodetest.Actor.Spawn(t, n, nodetest.Ignore)
	n.Exit(pid, node.Kill)
	for _, to := range []node.PID{pid, {}} {
		before := n.Stats().DeadLetters[deadletter.NoProcess]
		timer, err := n.SendAfter(time.Hour, to, "x")
		require.NoError(t, err)
		_, ok := timer.Left()
		assert.False(t, ok)
		_, ok = timer.Cancel()
		assert.False(t, ok)
		assert.Equal(t, before+1, n.Stats().DeadLetters[deadletter.NoProcess])
		timer, err = n.SendInterval(time.Hour, to, "x")
		require.NoError(t, err)
		_, ok = timer.Left()
		assert.False(t, ok)
		assert.Equal(t, before+1, n.Stats().DeadLetters[deadletter.NoProcess])
	}
}

// Firing, the death of the process and Cancel meet. Each message is received, cancelled,
// left in the mailbox of a process that died, or a dead letter: one of them, once.
func TestTimerRaces(t *testing.T) {
	nodetest.EachStyle(t, func(t *testing.T, s nodetest.Style) {
		const each = 8
		rounds := testkit.By(60, 200, 2000)
		n := nodetest.Start(t, node.Config{})
		chance := testkit.Rand(t)
		var received, cancelled atomic.Int64
		dead := func() int64 { return int64(n.Stats().DeadLetters[deadletter.NoProcess]) }
		round := 0
		for ; round < rounds || cancelled.Load() == 0 || dead() == 0; round++ { // until chance has had it both ways
			pid := s.Spawn(t, n, func(nodetest.Self, any) error { received.Add(1); return nil })
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
				<-time.After(pause) // chance decides who is first
				n.Exit(pid, node.Kill)
			})
			all.Wait()
			for _, timer := range append(timers, often) {
				_, ok := timer.Left()
				require.False(t, ok, "the process is dead")
			}
		}
		// What is in a mailbox at the death is gone with it, so that this is a bound.
		assert.LessOrEqual(t, received.Load()+cancelled.Load()+dead(), int64(round*each))
		t.Logf("%d received, %d cancelled, %d dead letters of %d", received.Load(), cancelled.Load(),
			dead(), round*each)
	})
}

// What a timer costs with its process, which pays for the first one.
func BenchmarkTimer(b *testing.B) {
	n, err := node.Start(node.Config{})
	require.NoError(b, err)
	defer n.Stop()
	pid := nodetest.Actor.Spawn(b, n, nodetest.Ignore)
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
			pid := nodetest.Actor.Spawn(b, n, nodetest.Ignore)
			n.SendInterval(time.Hour, pid, "x")
			n.Exit(pid, node.Kill)
		}
	})
}
