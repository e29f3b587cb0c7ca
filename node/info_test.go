package node_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/observe"
)

func stateOf(n *node.Node, pid node.PID) observe.State {
	i, _ := n.Info(pid)
	return i.State
}

func TestStates(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n, pid, release := gate(t, s, node.Options{})
			synctest.Wait()
			resting := observe.Idle
			if s.Blocking {
				resting = observe.Waiting
			}
			assert.Equal(t, resting, stateOf(n, pid), "nothing to do")
			require.NoError(t, n.Send(pid, "gate"))
			synctest.Wait()
			assert.Equal(t, observe.Running, stateOf(n, pid), "in its own code")
			release <- struct{}{}
			synctest.Wait()
			assert.Equal(t, resting, stateOf(n, pid), "nothing to do again")
			n.Exit(pid, node.Kill)
			i, err := n.Info(pid)
			require.ErrorIs(t, err, node.ErrNoProcess)
			assert.Equal(t, observe.Dead, i.State)
			assert.Equal(t, pid, i.PID)
			assert.Equal(t, -1, i.Stage)
		})
	})
}

func TestStateOfCaller(t *testing.T) {
	for _, s := range actortest.BlockingStyles() {
		t.Run(s.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := nodetest.Start(t, node.Config{})
				silent := actortest.Actor.Spawn(t, n, actortest.Ignore)
				pid := s.Spawn(t, n, func(in actortest.Self, _ any) error {
					_, err := node.Call[int](in.Context(), in, silent, "no answer")
					return err
				})
				require.NoError(t, n.Send(pid, "call"))
				synctest.Wait()
				assert.Equal(t, observe.Waiting, stateOf(n, pid))
			})
		})
	}
}

// An actor that got a message from another of its stage is scheduled for as long as the other's turn lasts.
func TestStateScheduled(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 1, Stages: 1})
	sleeper := actortest.Actor.Spawn(t, n, actortest.Ignore)
	seen := make(chan observe.State, 1)
	looker := actortest.Actor.Spawn(t, n, func(in actortest.Self, _ any) error {
		if err := in.Send(sleeper, "wake"); err != nil {
			return err
		}
		seen <- stateOf(n, sleeper)
		return nil
	})
	for range 1000 { // a slow machine may have taken the stage away meanwhile
		require.NoError(t, n.Send(looker, "look"))
		if testkit.Receive(t, seen) == observe.Scheduled {
			return
		}
	}
	t.Fatal("never seen as scheduled")
}

// later is a behaviour with a type name of its own.
type later struct{}

func (later) Receive(*node.Context, any) error { return nil }

func TestInfo(t *testing.T) {
	before := time.Now().Add(-testkit.Limit) // started may be read from a clock that ticks
	n := nodetest.Start(t, node.Config{Stages: 3})
	peer := actortest.Actor.Spawn(t, n, actortest.Ignore)
	watched := actortest.Actor.Spawn(t, n, actortest.Ignore)
	children := make(chan node.PID, 1)
	release := make(chan struct{})
	entered := make(chan struct{}, 1)
	pid, err := n.SpawnOpt(node.Options{Name: "subject", Label: "of the test", Place: node.OnStage(2)},
		node.ActorFunc(func(c *node.Context, m any) error {
			switch m {
			case "prepare":
				c.TrapExit(true)
				c.Link(peer)
				c.Monitor(watched)
				child, err := c.Spawn(actortest.Actor.Actor(actortest.Ignore))
				if err != nil {
					return err
				}
				children <- child
			case "block":
				entered <- struct{}{}
				<-release
			case "become":
				c.Become(later{})
			}
			return nil
		}))
	require.NoError(t, err)
	i, err := n.Info(pid)
	require.NoError(t, err)
	assert.Equal(t, "node.ActorFunc", i.Behaviour)
	assert.Zero(t, i.Handled)
	assert.Zero(t, i.Parent)
	assert.False(t, i.TrapExit)

	require.NoError(t, n.Send(pid, "prepare"))
	child := testkit.Receive(t, children)
	watcher := nodetest.NewProbe(t, n)
	watcher.Monitor(pid)
	require.NoError(t, n.Send(pid, "block"))
	<-entered
	require.NoError(t, n.Send(pid, "become"))
	require.NoError(t, n.Send(pid, "more"))

	i, err = n.Info(pid)
	require.NoError(t, err)
	assert.Equal(t, pid, i.PID)
	assert.EqualValues(t, "subject", i.Name)
	assert.Equal(t, "of the test", i.Label)
	assert.Equal(t, 2, i.Stage)
	assert.Equal(t, 3, i.Mailbox, "the message being handled included")
	assert.EqualValues(t, 1, i.Handled)
	assert.Equal(t, observe.Running, i.State)
	assert.True(t, i.TrapExit)
	assert.Equal(t, []node.PID{peer}, i.Links)
	assert.Equal(t, []node.PID{watched}, i.Monitors)
	assert.Equal(t, []node.PID{watcher.Self()}, i.Watchers)
	assert.WithinRange(t, i.Started, before, time.Now())

	for who, want := range map[node.PID]func(observe.Process){
		peer:    func(i observe.Process) { assert.Equal(t, []node.PID{pid}, i.Links) },
		watched: func(i observe.Process) { assert.Equal(t, []node.PID{pid}, i.Watchers) },
		child:   func(i observe.Process) { assert.Equal(t, pid, i.Parent) },
		watcher.Self(): func(i observe.Process) {
			assert.Equal(t, []node.PID{pid}, i.Monitors)
			assert.Equal(t, -1, i.Stage)
			assert.Equal(t, "node.Process", i.Behaviour)
		},
	} {
		i, err := n.Info(who)
		require.NoError(t, err)
		want(i)
	}
	close(release)
	testkit.UntilTrue(t, func() bool {
		i, err := n.Info(pid)
		return err == nil && i.Behaviour == "node_test.later" && i.Handled == 4 && i.Mailbox == 0
	}, "another behaviour")
	n.Exit(pid, node.Kill) // it traps exits
	process := actortest.Process.Spawn(t, n, actortest.Ignore)
	i, err = n.Info(process)
	require.NoError(t, err)
	assert.Equal(t, "node.ProcessFunc", i.Behaviour)
}

func TestHandledAndMailbox(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n, pid, release := gate(t, s, node.Options{})
			for range 10 {
				require.NoError(t, n.Send(pid, "gate"))
			}
			synctest.Wait()
			for handled := range 10 {
				i, err := n.Info(pid)
				require.NoError(t, err)
				assert.Equal(t, 10-handled-1+inFlight(s), i.Mailbox)
				assert.EqualValues(t, handled+1-inFlight(s), i.Handled)
				release <- struct{}{}
				synctest.Wait()
			}
			i, err := n.Info(pid)
			require.NoError(t, err)
			assert.Equal(t, 0, i.Mailbox)
			assert.EqualValues(t, 10, i.Handled)
		})
	})
}

func TestProcessesAndStats(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	assert.Empty(t, slices.Collect(n.Inside(process.Key{}).Processes()))
	assert.Zero(t, n.Stats().Processes)
	var want []node.PID
	for k := range 30 {
		want = append(want, styles[k%3].Spawn(t, n, actortest.Ignore))
	}
	assert.ElementsMatch(t, want, slices.Collect(n.Inside(process.Key{}).Processes()))
	assert.Equal(t, 30, n.Stats().Processes)
	assert.Positive(t, n.Stats().Goroutines)
	for range n.Inside(process.Key{}).Processes() {
		break // leaving the iteration early is allowed
	}
	for _, pid := range want[:10] {
		n.Exit(pid, node.Kill)
	}
	assert.ElementsMatch(t, want[10:], slices.Collect(n.Inside(process.Key{}).Processes()))
	assert.Equal(t, 20, n.Stats().Processes)
	testkit.UntilTrue(t, func() bool { return n.Stats().Lingering == 0 }, "nobody lingers")
}

// Lingering counts functions that run on after their process has been killed.
func TestLingering(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		entered, release := make(chan struct{}), make(chan struct{})
		ended := make(chan error, 1)
		pid := s.Spawn(t, n, func(in actortest.Self, _ any) error {
			ctx := in.Context()
			close(entered)
			<-release
			ended <- ctx.Err()
			return nil
		})
		require.NoError(t, n.Send(pid, "block"))
		testkit.Receive(t, entered)
		assert.Zero(t, n.Stats().Lingering)
		n.Exit(pid, node.Kill)
		assert.Equal(t, 1, n.Stats().Lingering)
		assert.Zero(t, n.Stats().Processes)
		close(release)
		assert.Error(t, testkit.Receive(t, ended), "its context has been cancelled")
		testkit.UntilTrue(t, func() bool { return n.Stats().Lingering == 0 }, "nobody lingers")
	})
}

// A closed handle has no function that could run on.
func TestClosedHandleDoesNotLinger(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	h.Close(nil)
	assert.Zero(t, n.Stats().Lingering)
	h = nodetest.NewProbe(t, n)
	n.Exit(h.Self(), node.Kill)
	h.Close(nil)
	assert.Zero(t, n.Stats().Lingering)
}

// Info does not wait for a handler that never returns.
func TestInfoOfEndlessHandler(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{Workers: 1, Stages: 1})
		var over atomic.Bool
		entered := make(chan struct{})
		pid := s.Spawn(t, n, func(actortest.Self, any) error {
			close(entered)
			for !over.Load() {
			}
			return nil
		})
		require.NoError(t, n.Send(pid, "compute"))
		testkit.Receive(t, entered)
		infos := make(chan observe.Process, 1)
		go func() {
			i, err := n.Info(pid)
			assert.NoError(t, err)
			infos <- i
		}()
		assert.Equal(t, observe.Running, testkit.Receive(t, infos).State)
		over.Store(true)
	})
}

// Info on many busy actors, from many goroutines, disturbs none of them.
func TestInfoOfBusyActors(t *testing.T) {
	const actors, laps = 1000, 20
	n := nodetest.Start(t, node.Config{})
	done := make(chan struct{}, actors)
	pids := make([]node.PID, actors)
	for k := range pids {
		left := laps
		s := styles[k%3]
		pids[k] = s.Spawn(t, n, func(in actortest.Self, m any) error {
			if left--; left == 0 {
				done <- struct{}{}
				return nil
			}
			return in.Send(in.Self(), m)
		})
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for _, pid := range pids {
				i, err := n.Info(pid)
				assert.NoError(t, err)
				assert.Equal(t, pid, i.PID)
				assert.LessOrEqual(t, i.Mailbox, 2)
				assert.LessOrEqual(t, i.Handled, uint64(laps))
			}
		})
	}
	for _, pid := range pids {
		require.NoError(t, n.Send(pid, "lap"))
	}
	group.Wait()
	for range actors {
		testkit.Receive(t, done)
	}
	for _, pid := range pids {
		testkit.UntilTrue(t, func() bool {
			i, err := n.Info(pid)
			return err == nil && i.Handled == laps && i.Mailbox == 0
		}, "all handled")
	}
	assert.Empty(t, n.Stats().DeadLetters)
}

// Infos tells about all processes what Info tells about each, even while they run.
func TestInfos(t *testing.T) {
	n := nodetest.Start(t, node.Config{Stages: 8})
	want := map[node.PID]bool{}
	for _, s := range actortest.Styles() {
		for range 100 {
			pid := s.Spawn(t, n, actortest.Obey)
			want[pid] = true
		}
	}
	settled := func() bool {
		for i := range n.Infos() {
			if i.State != observe.Idle && i.State != observe.Waiting {
				return false
			}
		}
		return true
	}
	testkit.UntilTrue(t, settled, "all are at rest")
	got := map[node.PID]bool{}
	for i := range n.Infos() {
		single, err := n.Info(i.PID)
		require.NoError(t, err)
		assert.Equal(t, single, i)
		got[i.PID] = true
	}
	assert.Equal(t, want, got)
	for range n.Infos() {
		break
	}

	// Each keeps a message under way; they run, and their stages are taken.
	all := slices.Collect(maps.Keys(want))
	var hop func(s node.Caller)
	hop = func(s node.Caller) { node.Send(s, all[rand.IntN(len(all))], hop) }
	for _, pid := range all {
		require.NoError(t, n.Send(pid, hop))
	}
	for range 20 {
		count := 0
		for i := range n.Infos() {
			assert.True(t, want[i.PID])
			count++
		}
		assert.Equal(t, len(want), count)
	}
}

// Mailboxes counts the waiting messages, in the order asked for, for many processes and for none.
func TestMailboxes(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	assert.Empty(t, n.Inside(process.Key{}).Mailboxes(nil))
	var pids []node.PID
	var want []int
	for i := range 600 {
		pid, err := n.Spawn(node.ProcessFunc(func(p *node.Process) error {
			p.ReceiveMatch(func(m any) bool { return m == "stop" })
			return nil
		}))
		require.NoError(t, err)
		for range i % 3 {
			require.NoError(t, n.Send(pid, i))
		}
		pids, want = append(pids, pid), append(want, i%3)
	}
	testkit.Until(t, func() string { // a message on its way to a waiting goroutine is in no mailbox
		if got := n.Inside(process.Key{}).Mailboxes(pids); !slices.Equal(want, got) {
			return fmt.Sprint(got)
		}
		return ""
	})
	n.Exit(pids[7], node.Kill)
	want[7] = -1
	assert.Equal(t, want, n.Inside(process.Key{}).Mailboxes(pids))
}

// handled calls a function for each crash report; on a busy machine more is logged.
type handled func()

func (handled) Enabled(context.Context, slog.Level) bool { return true }
func (h handled) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "crash report" {
		h()
	}
	return nil
}
func (h handled) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h handled) WithGroup(string) slog.Handler      { return h }

// When a process that is dying, here while its crash is reported, is dead to Monitor, it is not alive to IsAlive
// either.
func TestIsAliveOfTheDying(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		var n *node.Node
		var pid node.PID
		var alive bool
		var reason any
		n = nodetest.Start(t, node.Config{Log: slog.New(handled(func() {
			h, err := n.Open()
			assert.NoError(t, err)
			h.Monitor(pid)
			reason, alive = h.Receive().(node.Down).Reason, n.IsAlive(pid)
			h.Close(nil)
		}))})
		pid = s.Spawn(t, n, func(actortest.Self, any) error { panic("it dies") })
		assert.True(t, n.IsAlive(pid))
		h := nodetest.NewProbe(t, n)
		h.Monitor(pid)
		require.NoError(t, n.Send(pid, "go"))
		nodetest.Expect[node.Down](h)
		assert.Equal(t, node.NoProc, reason)
		assert.False(t, alive)
	})
}

// The sizes of the node's tables are shown, and go down again with their content.
func TestTableSizes(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	before := n.Stats()
	calls := func(pid node.PID) int {
		i, err := n.Info(pid)
		require.NoError(t, err)
		return i.Calls
	}
	silent, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
	require.NoError(t, err)
	ref, once := h.Alias(), h.AliasOnce()
	long, err := h.SendAfter(time.Hour, h.Self(), 1)
	require.NoError(t, err)
	every, err := h.SendInterval(time.Hour, h.Self(), 1)
	require.NoError(t, err)
	asked := node.Async[int](n, silent, 1)
	node.SendRequest(h, silent, "tag", 2)
	s := n.Stats()
	assert.Equal(t, before.Aliases+2, s.Aliases)
	assert.Equal(t, before.Timers+2, s.Timers)
	assert.Equal(t, 2, calls(silent))
	assert.True(t, asked.Cancel())
	assert.Equal(t, 1, calls(silent))
	require.NoError(t, n.Send(once, 1))
	assert.True(t, h.Unalias(ref))
	long.Cancel()
	every.Cancel()
	s = n.Stats()
	assert.Equal(t, before.Aliases, s.Aliases)
	assert.Equal(t, before.Timers, s.Timers)

	// A coroutine that has ended leaves its goroutine for the next coroutine.
	kept := n.Stats().Kept
	co, err := n.SpawnOpt(node.Options{Coroutine: true}, node.ProcessFunc(func(p *node.Process) error { p.Receive(); return nil }))
	require.NoError(t, err)
	require.NoError(t, n.Send(co, 1))
	_, err = node.AwaitExit(testkit.Context(t), n, co)
	require.NoError(t, err)
	testkit.Until(t, func() string {
		if s := n.Stats(); s.Kept <= kept || s.Kept > s.Goroutines {
			return fmt.Sprint(s.Kept, " are kept, and were ", kept)
		}
		return ""
	})
}

// Each process knows how many messages wait for it; Info says the same.
func TestMailboxLen(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		sent, seen := make(chan struct{}), make(chan [2]int, 1)
		pid := s.Spawn(t, n, func(p actortest.Self, m any) error {
			if m != "look" {
				return nil
			}
			<-sent
			i, err := n.Info(p.Self())
			seen <- [2]int{p.(interface{ MailboxLen() int }).MailboxLen(), i.Mailbox}
			return err
		})
		for _, m := range []any{"look", 1, 2, 3} {
			require.NoError(t, n.Send(pid, m))
		}
		close(sent)
		got := testkit.Receive(t, seen)
		assert.Equal(t, got[1], got[0])
		assert.Contains(t, []int{3, 4}, got[0], "with the one that an Actor handles")
	})
	h := nodetest.NewProbe(t, nodetest.Start(t, node.Config{}))
	assert.Zero(t, h.MailboxLen())
	for i := range 3 {
		require.NoError(t, h.Send(h.Self(), i))
	}
	assert.Equal(t, 3, h.MailboxLen())
	h.ReceiveMatch(func(m any) bool { return m == 1 })
	assert.Equal(t, 2, h.MailboxLen())
}
