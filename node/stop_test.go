package node_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// A process that traps exits outlives the others, and its monitors show that all of them end with the reason shutdown.
func TestStopReason(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n, err := node.Start(node.Config{})
			require.NoError(t, err)
			const watched = 20
			var downs []any
			watcher := actortest.Process.Spawn(t, n, func(in actortest.Self, m any) error {
				switch m := m.(type) {
				case []node.PID:
					in.TrapExit(true)
					for _, pid := range m {
						in.Monitor(pid)
					}
				case node.Down:
					if downs = append(downs, m.Reason); len(downs) == watched {
						return node.ErrStop
					}
				}
				return nil
			})
			var pids []node.PID
			for range watched {
				pids = append(pids, s.Spawn(t, n, actortest.Ignore))
			}
			require.NoError(t, n.Send(watcher, pids))
			synctest.Wait()
			require.NoError(t, n.Stop())
			assert.Len(t, downs, watched)
			for _, reason := range downs {
				assert.Equal(t, node.Shutdown, reason)
			}
			assert.Empty(t, slices.Collect(n.Inside(process.Key{}).Processes()))
			assert.Zero(t, n.Stats().Processes)
		})
	})
}

// A process that traps exits is asked to end, given StopTimeout, and killed.
func TestStopOfTrappers(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n, err := node.Start(node.Config{StopTimeout: 3 * time.Second})
			require.NoError(t, err)
			var asked []any
			contexts := make(chan context.Context, 1)
			pid := s.Spawn(t, n, func(in actortest.Self, m any) error {
				if e, ok := m.(node.Exited); ok {
					asked = append(asked, e.Reason)
					return nil
				}
				in.TrapExit(true)
				contexts <- in.Context()
				return nil
			})
			require.NoError(t, n.Send(pid, "trap"))
			ctx := <-contexts
			begin := time.Now()
			require.NoError(t, n.Stop())
			took := time.Since(begin)
			assert.GreaterOrEqual(t, took, 3*time.Second)
			assert.Less(t, took, 4*time.Second)
			assert.Equal(t, []any{node.Shutdown}, asked)
			assert.Equal(t, &node.ExitError{Reason: node.Killed}, context.Cause(ctx))
			assert.False(t, n.IsAlive(pid))
		})
	})
}

// A function that waits for something other than a message cannot be ended: Stop says so, and does not wait for ever.
func TestStopOfStuckFunction(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		synctest.Test(t, func(t *testing.T) {
			n, err := node.Start(node.Config{StopTimeout: 3 * time.Second})
			require.NoError(t, err)
			release := make(chan struct{})
			pid := s.Spawn(t, n, func(actortest.Self, any) error {
				<-release
				return nil
			})
			require.NoError(t, n.Send(pid, "stick"))
			synctest.Wait()
			begin := time.Now()
			err = n.Stop()
			require.Error(t, err)
			assert.Contains(t, err.Error(), "1 handlers and functions")
			assert.Contains(t, err.Error(), "3s: "+pid.String(), "which one it is")
			took := time.Since(begin)
			assert.GreaterOrEqual(t, took, 3*time.Second)
			assert.Less(t, took, 7*time.Second)
			assert.Equal(t, 1, n.Stats().Lingering)
			assert.Zero(t, n.Stats().Processes)
			assert.Equal(t, err, n.Stop(), "the second time says the same")
			close(release)
			synctest.Wait()
			assert.Zero(t, n.Stats().Lingering)
		})
	})
}

// The bubble ends only when all of its goroutines have ended.
func TestStopLeavesNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, err := node.Start(node.Config{})
		require.NoError(t, err)
		h := nodetest.NewProbe(t, n)
		fired := 0
		for k := range 90 {
			s := styles[k%3]
			pid := s.Spawn(t, n, func(in actortest.Self, m any) error {
				fired++
				return nil
			})
			_, err := n.SendAfter(time.Hour, pid, "timer")
			require.NoError(t, err)
			_, err = n.SendInterval(time.Hour, pid, "tick")
			require.NoError(t, err)
			if k%2 == 0 {
				h.Link(pid)
			}
		}
		actortest.Actor.With(node.Options{Place: node.Detached()}).Spawn(t, n, actortest.Ignore)
		for _, s := range styles[:3] { // killed before they ever ran
			n.Exit(s.Spawn(t, n, actortest.Ignore), node.Kill)
		}
		_, err = n.SpawnOpt(node.Options{}, node.ProcessFunc(func(p *node.Process) error {
			_, err := p.ReceiveWithin(time.Hour, nil)
			return err
		}))
		require.NoError(t, err)
		n.DeadLetters(1)
		require.NoError(t, n.Stop())
		time.Sleep(10 * time.Hour) // in the bubble
		assert.Zero(t, fired, "no timer outlives the node")
	})
}

// The same with bounded mailboxes.
func TestStopLeavesNoBoundedProcess(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		before := testkit.Goroutines()
		n, err := node.Start(node.Config{StopTimeout: testkit.Limit})
		require.NoError(t, err)
		for range 50 {
			pid := s.With(node.Options{Bounds: mailbox.Bounds{Messages: 4}}).Spawn(t, n, parrot)
			_, err := actortest.CallWithin[int](testkit.Limit, n, pid, 1)
			require.NoError(t, err)
		}
		require.NoError(t, n.Stop())
		testkit.UntilTrue(t, func() bool { return testkit.Goroutines() <= before }, "all goroutines end")
	})
}

func TestStopUnderLoad(t *testing.T) {
	before := testkit.Goroutines()
	n, err := node.Start(node.Config{StopTimeout: testkit.Limit})
	require.NoError(t, err)
	var pids []node.PID
	for k := range 300 {
		pids = append(pids, styles[k%3].Spawn(t, n, func(in actortest.Self, m any) error {
			return in.Send(in.Self(), m)
		}))
	}
	for _, pid := range pids {
		require.NoError(t, n.Send(pid, "lap"))
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for {
				if _, err := n.Spawn(actortest.Actor.Actor(actortest.Ignore)); err != nil {
					assert.ErrorIs(t, err, node.ErrNodeStopped)
					return
				}
			}
		})
	}
	for range 3 { // at the same time
		group.Go(func() { assert.NoError(t, n.Stop()) })
	}
	group.Wait()
	require.NoError(t, n.Stop())
	assert.Zero(t, n.Stats().Processes)
	assert.Empty(t, slices.Collect(n.Inside(process.Key{}).Processes()))
	testkit.UntilTrue(t, func() bool { return testkit.Goroutines() <= before }, "all goroutines end")
	testkit.UntilTrue(t, func() bool { return n.Stats().Lingering == 0 }, "nobody lingers")
}

// Asking a process to end must not wait for room in its mailbox.
func TestStopWithFullMailbox(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n, err := node.Start(node.Config{StopTimeout: 50 * time.Millisecond})
		require.NoError(t, err)
		entered, release := make(chan struct{}), make(chan struct{})
		pid := s.With(node.Options{Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Block}}).Spawn(t, n,
			func(in actortest.Self, _ any) error {
				in.TrapExit(true)
				close(entered)
				<-release
				return nil
			})
		require.NoError(t, n.Send(pid, "trap"))
		testkit.Receive(t, entered)
		if s.Blocking {
			require.NoError(t, n.Send(pid, "fill"))
		}
		stopped := make(chan error, 1)
		go func() { stopped <- n.Stop() }()
		assert.Error(t, testkit.Receive(t, stopped), "the function is stuck, and Stop does not wait for room in a mailbox")
		close(release)
	})
}

func TestStoppedNode(t *testing.T) {
	n, err := node.Start(node.Config{})
	require.NoError(t, err)
	h := nodetest.NewProbe(t, n)
	pid, err := n.SpawnOpt(node.Options{Name: "one"}, actortest.Actor.Actor(actortest.Ignore))
	require.NoError(t, err)
	require.NoError(t, n.Stop())

	_, err = n.Spawn(actortest.Actor.Actor(actortest.Ignore))
	require.ErrorIs(t, err, node.ErrNodeStopped)
	_, err = n.Spawn(actortest.Process.Actor(actortest.Ignore))
	require.ErrorIs(t, err, node.ErrNodeStopped)
	_, err = n.SpawnOpt(node.Options{Coroutine: true}, actortest.Process.Actor(actortest.Ignore))
	require.ErrorIs(t, err, node.ErrNodeStopped)
	_, err = n.SpawnOpt(node.Options{Place: node.Detached(), Name: "two"}, actortest.Actor.Actor(actortest.Ignore))
	require.ErrorIs(t, err, node.ErrNodeStopped)
	_, err = n.Open()
	require.ErrorIs(t, err, node.ErrNodeStopped)
	require.ErrorIs(t, n.Send(pid, 1), node.ErrNodeStopped)
	require.ErrorIs(t, n.Send(node.Atom("one"), 1), node.ErrNodeStopped)
	_, err = actortest.CallWithin[int](testkit.Limit, n, pid, 1)
	require.ErrorIs(t, err, node.ErrNodeStopped)
	_, err = actortest.CallWithin[int](testkit.Limit, n, node.Atom("one"), 1)
	require.ErrorIs(t, err, node.ErrNodeStopped)
	_, err = node.Await(t.Context(), n, node.Async[int](n, pid, 1))
	require.ErrorIs(t, err, node.ErrNodeStopped)
	_, err = n.SendAfter(time.Second, pid, 1)
	require.ErrorIs(t, err, node.ErrNodeStopped)
	_, err = n.SendInterval(time.Second, pid, 1)
	require.ErrorIs(t, err, node.ErrNodeStopped)
	require.ErrorIs(t, n.Register("name", pid), node.ErrNodeStopped)
	require.ErrorIs(t, n.Unregister("one"), node.ErrNoName)
	_, ok := n.Whereis("one")
	assert.False(t, ok)
	assert.Empty(t, n.Registered())
	n.Exit(pid, node.Kill)
	_, err = n.Info(pid)
	require.ErrorIs(t, err, node.ErrNoProcess)

	// The handle's process has ended; its goroutine has not.
	require.ErrorIs(t, h.Send(pid, 1), node.ErrExited)
	assert.Equal(t, node.Exited{From: h.Self(), Reason: node.Shutdown}, h.Receive())
	_, err = h.ReceiveWithin(time.Second, nil)
	require.ErrorIs(t, err, node.ErrExited)
	_, err = node.Call[int](t.Context(), h, pid, 1)
	require.ErrorIs(t, err, node.ErrExited)
	_, err = h.Spawn(actortest.Actor.Actor(actortest.Ignore))
	require.ErrorIs(t, err, node.ErrExited)
	h.Link(pid)
	h.Monitor(pid)
	h.Close(nil)
	assert.Zero(t, n.Stats().Processes)
	require.NoError(t, n.Stop())
}

func TestBadConfig(t *testing.T) {
	for name, cfg := range map[string]node.Config{
		"no host": {Name: "here"}, "two hosts": {Name: "a@b@c"}, "no name": {Name: "@b"},
		"workers": {Workers: -1}, "stages": {Stages: -1}, "budget": {Budget: -1}, "blocked": {Blocked: -1},
		"few": {MaxProcesses: -1}, "many": {MaxProcesses: 1 << 27}, "timeout": {StopTimeout: -1},
	} {
		n, err := node.Start(cfg)
		assert.Error(t, err, name)
		assert.Nil(t, n, name)
	}
}

func TestBadSpawn(t *testing.T) {
	n := nodetest.Start(t, node.Config{Stages: 2, MaxProcesses: 3})
	actor, process := actortest.Actor.Actor(actortest.Ignore), actortest.Process.Actor(actortest.Ignore)
	var noFunc node.ActorFunc
	var noProcess node.ProcessFunc
	for _, nothing := range []node.Actor{nil, noFunc, noProcess} {
		_, err := n.Spawn(nothing)
		assert.ErrorIs(t, err, node.ErrArgument)
		_, err = n.SpawnOpt(node.Options{Coroutine: true, Name: "x"}, nothing)
		assert.ErrorIs(t, err, node.ErrArgument)
	}
	onGoroutine, err := n.Spawn(process)
	require.NoError(t, err)
	for name, bad := range map[string]struct {
		o node.Options
		b node.Actor
	}{
		"link from nobody":     {node.Options{Link: true}, actor},
		"two mailboxes":        {node.Options{Mailbox: &byPriority{}, Bounds: mailbox.Bounds{Messages: 1}}, actor},
		"two places":           {node.Options{Scheduler: &stepper{}, Place: node.Detached()}, actor},
		"actor as coroutine":   {node.Options{Coroutine: true}, actor},
		"detached coroutine":   {node.Options{Coroutine: true, Place: node.Detached()}, process},
		"process with a stage": {node.Options{Place: node.OnStage(0)}, process},
		"process, scheduler":   {node.Options{Scheduler: &stepper{}}, process},
		"stage too high":       {node.Options{Place: node.OnStage(2)}, actor},
		"stage too low":        {node.Options{Place: node.OnStage(-1)}, actor},
		"beside a process":     {node.Options{Place: node.Beside(onGoroutine)}, actor},
		"negative messages":    {node.Options{Bounds: mailbox.Bounds{Messages: -1}}, actor},
		"negative bytes":       {node.Options{Bounds: mailbox.Bounds{Bytes: -1}}, process},
		"no such policy":       {node.Options{Bounds: mailbox.Bounds{Messages: 1, Policy: 9}}, actor},
	} {
		_, err := n.SpawnOpt(bad.o, bad.b)
		assert.ErrorIs(t, err, node.ErrArgument, name)
	}
	_, err = n.SpawnOpt(node.Options{Place: node.Beside(node.PID{})}, actor)
	require.ErrorIs(t, err, node.ErrNoProcess)
	assert.Equal(t, 1, n.Stats().Processes)

	_, err = n.SpawnOpt(node.Options{Name: "taken"}, actor)
	require.NoError(t, err)
	_, err = n.SpawnOpt(node.Options{Name: "taken"}, actor)
	require.ErrorIs(t, err, node.ErrNameTaken)
	for _, name := range []node.Atom{"undefined", node.Atom(make([]byte, wire.MaxAtomRunes+1))} {
		_, err = n.SpawnOpt(node.Options{Name: name}, actor)
		require.ErrorIs(t, err, node.ErrArgument)
	}
	_, err = n.Spawn(actor)
	require.NoError(t, err)
	_, err = n.Spawn(actor)
	require.ErrorIs(t, err, node.ErrTooMany)
	n.Exit(onGoroutine, node.Kill)
	_, err = n.Spawn(actor)
	require.NoError(t, err, "there is room again")
}

func TestBadInput(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	pid := actortest.Actor.Spawn(t, n, parrot)
	other := actortest.Actor.Spawn(t, n, parrot)
	require.NoError(t, n.Register("taken", pid))
	require.ErrorIs(t, n.Register("taken", other), node.ErrNameTaken)
	require.ErrorIs(t, n.Register("another", pid), node.ErrNameTaken, "one name a process")
	require.ErrorIs(t, n.Register("", other), node.ErrArgument)
	require.ErrorIs(t, n.Register("undefined", other), node.ErrArgument)
	require.ErrorIs(t, n.Register("name", node.PID{}), node.ErrNoProcess)
	require.ErrorIs(t, n.Unregister("unknown"), node.ErrNoName)
	require.ErrorIs(t, n.Send(node.Atom("unknown"), 1), node.ErrNoName)
	_, err := actortest.CallWithin[int](testkit.Limit, n, node.Atom("unknown"), 1)
	require.ErrorIs(t, err, node.ErrNoName)
	_, err = actortest.CallWithin[int](testkit.Limit, n, node.PID{}, 1)
	require.ErrorIs(t, err, node.ErrArgument)
	_, err = actortest.CallWithin[int](testkit.Limit, n, node.Ref{}, 1)
	require.ErrorIs(t, err, node.ErrArgument)
	_, err = actortest.CallWithin[string](testkit.Limit, n, pid, 1)
	require.ErrorIs(t, err, node.ErrReplyType)

	require.ErrorIs(t, node.From{}.Reply(1), node.ErrReplied)
	require.ErrorIs(t, node.From{}.Fail(nil), node.ErrReplied)
	assert.False(t, node.From{}.Pending())

	_, err = n.SendAfter(-1, pid, 1)
	require.ErrorIs(t, err, node.ErrArgument)
	for _, d := range []time.Duration{0, -1} {
		_, err = n.SendInterval(d, pid, 1)
		require.ErrorIs(t, err, node.ErrArgument)
	}
	for _, s := range actortest.BlockingStyles() {
		errs := make(chan error, 1)
		_, err = n.SpawnOpt(s.Options, node.ProcessFunc(func(p *node.Process) error {
			_, err := p.ReceiveWithin(-1, nil)
			errs <- err
			return nil
		}))
		require.NoError(t, err)
		require.ErrorIs(t, testkit.Receive(t, errs), node.ErrArgument, s.Name)
	}
	assert.True(t, n.IsAlive(pid))
	assert.True(t, n.IsAlive(other))
}

// slowClose is a mailbox whose closing takes as long as the test wants.
type slowClose struct {
	mailbox.Box
	closing, release chan struct{}
}

func (b *slowClose) Close() {
	close(b.closing)
	<-b.release
	b.Box.Close()
}

// A process is still being killed when Stop finds no process left and ends the stages: the function is unwound all the
// same, and Stop waits for it.
func TestStopWhileKilling(t *testing.T) {
	for _, s := range actortest.BlockingStyles() {
		t.Run(s.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, err := node.Start(node.Config{})
				require.NoError(t, err)
				box := &slowClose{inbox.NewBounded(mailbox.Bounds{Messages: 1}), make(chan struct{}), make(chan struct{})}
				unwound := false
				pid, err := n.SpawnOpt(s.With(node.Options{Mailbox: box}).Options, node.ProcessFunc(func(p *node.Process) error {
					defer func() { unwound = true }()
					p.Receive()
					return nil
				}))
				require.NoError(t, err)
				synctest.Wait()
				go n.Exit(pid, node.Kill)
				<-box.closing
				stopped := make(chan error, 1)
				go func() { stopped <- n.Stop() }()
				time.Sleep(time.Second) // in the bubble
				assert.Empty(t, stopped)
				close(box.release)
				require.NoError(t, <-stopped)
				assert.True(t, unwound)
			})
		})
	}
}

// Two goroutines that stop a node in a bubble both return once it has stopped: the one that waits for the other does
// not stop the bubble's time.
func TestStopTwiceInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, err := node.Start(node.Config{Workers: 2, StopTimeout: time.Second})
		require.NoError(t, err)
		_, err = n.Spawn(node.ProcessFunc(func(p *node.Process) error { // does not end before the time is over
			p.TrapExit(true)
			for {
				p.Receive()
			}
		}))
		require.NoError(t, err)
		synctest.Wait()
		first := make(chan error, 1)
		go func() { first <- n.Stop() }()
		synctest.Wait()
		began := time.Now()
		require.NoError(t, n.Stop())
		require.NoError(t, <-first)
		require.Equal(t, time.Second, time.Since(began).Round(time.Second/10))
	})
}
