package node_test

import (
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/sched"
)

// gate is a node with a process that lets one message pass each time something is sent to release. The node is stopped
// at the end of the test, whatever happens.
func gate(t *testing.T, s actortest.Style, o node.Options) (n *node.Node, pid node.PID, release chan struct{}) {
	t.Helper()
	n, err := node.Start(node.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = n.Stop() })
	release = make(chan struct{})
	return n, s.With(o).Spawn(t, n, func(actortest.Self, any) error { <-release; return nil }), release
}

// parrot answers calls with their body.
func parrot(_ actortest.Self, m any) error {
	if r, ok := m.(node.Request[int]); ok {
		return r.Reply(r.Body)
	}
	return nil
}

func stageOf(t testing.TB, n *node.Node, pid node.PID) int {
	t.Helper()
	i, err := n.Info(pid)
	require.NoError(t, err)
	return i.Stage
}

func TestOnStage(t *testing.T) {
	n := nodetest.Start(t, node.Config{Stages: 5})
	require.Equal(t, 5, n.Stats().Scheduler.Stages)
	for _, s := range styles[:3] {
		if s.Name == actortest.Process.Name {
			continue
		}
		for k := range n.Stats().Scheduler.Stages {
			pid := s.With(node.Options{Place: node.OnStage(k)}).Spawn(t, n, parrot)
			_, err := node.Call[int](t.Context(), n, pid, 1)
			require.NoError(t, err)
			assert.Equal(t, k, stageOf(t, n, pid), s.Name)
		}
	}
}

func TestBeside(t *testing.T) {
	n := nodetest.Start(t, node.Config{Stages: 5})
	first := actortest.Actor.With(node.Options{Place: node.OnStage(3)}).Spawn(t, n, parrot)
	for _, s := range []actortest.Style{actortest.Actor, actortest.Coroutine} {
		pid := s.With(node.Options{Place: node.Beside(first)}).Spawn(t, n, parrot)
		assert.Equal(t, 3, stageOf(t, n, pid), s.Name)
	}
	loose := actortest.Actor.Spawn(t, n, parrot)
	pid := actortest.Actor.With(node.Options{Place: node.Beside(loose)}).Spawn(t, n, parrot)
	assert.Equal(t, stageOf(t, n, loose), stageOf(t, n, pid))
}

func TestDetached(t *testing.T) {
	n := nodetest.Start(t, node.Config{Workers: 1, Stages: 1, Blocked: time.Millisecond})
	release := make(chan struct{})
	entered := make(chan struct{})
	pid := actortest.Actor.With(node.Options{Place: node.Detached()}).Spawn(t, n, func(in actortest.Self, m any) error {
		if r, ok := m.(node.Request[int]); ok {
			return r.Reply(r.Body)
		}
		close(entered)
		<-release
		return nil
	})
	assert.Equal(t, -1, stageOf(t, n, pid))
	v, err := node.Call[int](t.Context(), n, pid, 7)
	require.NoError(t, err)
	assert.Equal(t, 7, v)
	require.NoError(t, n.Send(pid, "block"))
	testkit.Receive(t, entered)
	other := actortest.Actor.Spawn(t, n, parrot)
	for i := range 100 {
		_, err := node.Call[int](t.Context(), n, other, i)
		require.NoError(t, err)
	}
	close(release)
	v, err = node.Call[int](t.Context(), n, pid, 8)
	require.NoError(t, err)
	assert.Equal(t, 8, v)
}

// Spawns from outside use the stages in turn; a child starts on its parent's stage.
func TestDefaultPlace(t *testing.T) {
	n := nodetest.Start(t, node.Config{Stages: 3})
	seen := make(map[int]bool)
	for range 3 * 256 {
		seen[stageOf(t, n, actortest.Actor.Spawn(t, n, actortest.Ignore))] = true
	}
	assert.Len(t, seen, 3)

	child := make(chan int, 1)
	parent := actortest.Actor.With(node.Options{Place: node.OnStage(2)}).Spawn(t, n, func(in actortest.Self, _ any) error {
		pid, err := in.Spawn(actortest.Actor.Actor(actortest.Ignore))
		if err != nil {
			return err
		}
		i, err := n.Info(pid)
		child <- i.Stage
		return err
	})
	require.NoError(t, n.Send(parent, "spawn"))
	assert.Equal(t, 2, testkit.Receive(t, child))
}

// blocksInHere is the function that the log must show on the stack.
func blocksInHere(entered chan<- struct{}, release <-chan struct{}) {
	close(entered)
	<-release
}

// computesInHere blocks its stage without giving up the processor.
func computesInHere(entered chan<- struct{}, release <-chan struct{}) {
	close(entered)
	for {
		select {
		case <-release:
			return
		//lint:ignore SA5004 it is to spin
		default:
		}
	}
}

// tracebacks says whether tracebacks are read: see package fiber.
var tracebacks = fiber.GoroutineID() != 0

func TestBlockedHandlerHoldsNobodyUp(t *testing.T) {
	for _, how := range []struct {
		function string
		block    func(chan<- struct{}, <-chan struct{})
	}{{"blocksInHere", blocksInHere}, {"computesInHere", computesInHere}} {
		for _, s := range []actortest.Style{actortest.Actor, actortest.Coroutine} {
			t.Run(how.function+"/"+s.Name, func(t *testing.T) {
				var log logtest.Records
				n := nodetest.Start(t, node.Config{Workers: 1, Stages: 1, Blocked: 100 * time.Millisecond, Log: slog.New(&log)})
				entered, release := make(chan struct{}), make(chan struct{})
				var stuck node.PID
				lines := func() (all []map[string]any) { // on a busy machine others may be slow, too
					for _, line := range log.With("a message handler runs for too long and blocks the actors of its scheduling stage") {
						if strings.Contains(line["process"].(string), stuck.String()) &&
							(!tracebacks || strings.Contains(line["stack"].(string), how.function)) {
							all = append(all, line)
						}
					}
					return all
				}
				stuck = s.With(node.Options{Name: "stuck", Label: "the slow one"}).Spawn(t, n, func(_ actortest.Self, m any) error {
					if r, ok := m.(node.Request[int]); ok {
						return r.Reply(r.Body)
					}
					how.block(entered, release)
					return nil
				})
				other := actortest.Actor.Spawn(t, n, parrot)
				require.NoError(t, n.Send(stuck, "block"))
				testkit.Receive(t, entered)
				for i := range 100 {
					v, err := actortest.CallWithin[int](testkit.Limit, n, other, i)
					require.NoError(t, err)
					require.Equal(t, i, v)
				}
				testkit.UntilTrue(t, func() bool { return n.Stats().BlockedTurns > 0 }, "counted")
				testkit.UntilTrue(t, func() bool { return len(lines()) > 0 }, "logged, with its stack")
				line := lines()[0]
				assert.Contains(t, line["process"], "stuck")
				assert.Contains(t, line["process"], "the slow one")
				assert.EqualValues(t, 0, line["stage"])
				close(release)
				v, err := actortest.CallWithin[int](testkit.Limit, n, stuck, 5)
				require.NoError(t, err)
				assert.Equal(t, 5, v)
				assert.Len(t, lines(), 1, "one line a turn")
			})
		}
	}
}

// stepper runs actors when the test says so.
type stepper struct {
	mu   sync.Mutex
	due  []sched.Runnable
	runs int
}

func (s *stepper) Schedule(r sched.Runnable) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = append(s.due, r)
}

// step runs the actor that has waited longest; false if none waits.
func (s *stepper) step() bool {
	s.mu.Lock()
	if len(s.due) == 0 {
		s.mu.Unlock()
		return false
	}
	r := s.due[0]
	s.due = s.due[1:]
	s.runs++
	s.mu.Unlock()
	if r.Run() {
		s.Schedule(r)
	}
	return true
}

func TestStepScheduler(t *testing.T) {
	n := nodetest.Start(t, node.Config{Budget: 1})
	steps := &stepper{}
	var trace []any
	spawn := func(name string) node.PID {
		return actortest.Actor.With(node.Options{Scheduler: steps}).Spawn(t, n, func(_ actortest.Self, m any) error {
			if m == "stop" {
				return node.ErrStop
			}
			trace = append(trace, name, m)
			return nil
		})
	}
	a, b := spawn("a"), spawn("b")
	assert.Equal(t, -1, stageOf(t, n, a))
	for steps.step() {
	}
	assert.Empty(t, trace)
	for i := range 3 {
		require.NoError(t, n.Send(a, i))
		require.NoError(t, n.Send(b, i))
	}
	assert.Empty(t, trace, "nothing runs by itself")
	require.True(t, steps.step())
	assert.Equal(t, []any{"a", 0}, trace)
	for steps.step() {
	}
	assert.Equal(t, []any{"a", 0, "b", 0, "a", 1, "b", 1, "a", 2, "b", 2}, trace)

	i, err := n.Info(a)
	require.NoError(t, err)
	assert.EqualValues(t, 3, i.Handled)
	require.NoError(t, n.Send(a, "stop"))
	for steps.step() {
	}
	assert.False(t, n.IsAlive(a))
	assert.True(t, n.IsAlive(b))
}

// byPriority is a mailbox that delivers everything that is no int first, then the largest int.
type byPriority struct {
	mu     sync.Mutex
	msgs   []any
	popped int
	awake  bool
	closed bool
}

func weight(m any) int {
	if i, ok := m.(int); ok {
		return i
	}
	return 1 << 30
}

func (b *byPriority) Push(m any) mailbox.Result {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return mailbox.Closed
	}
	at, _ := slices.BinarySearchFunc(b.msgs, m, func(a, m any) int { return weight(a) - weight(m) })
	b.msgs = slices.Insert(b.msgs, at, m)
	if b.awake {
		return mailbox.Queued
	}
	b.awake = true
	return mailbox.Wake
}

func (b *byPriority) Pop() (any, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.msgs) == 0 {
		b.awake = false
		return nil, false
	}
	last := len(b.msgs) - 1
	m := b.msgs[last]
	b.msgs = b.msgs[:last]
	b.popped++
	return m, true
}

func (b *byPriority) Done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.popped--
}

func (b *byPriority) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.msgs) + b.popped
}

func (b *byPriority) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.msgs = true, nil
}

func TestPriorityBox(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		entered, release := make(chan struct{}), make(chan struct{})
		got := make(chan any, 16)
		box := &byPriority{awake: true}
		pid := s.With(node.Options{Mailbox: box}).Spawn(t, n, func(_ actortest.Self, m any) error {
			if m == "gate" {
				close(entered)
				<-release
				return nil
			}
			got <- m
			return nil
		})
		require.NoError(t, n.Send(pid, "gate"))
		testkit.Receive(t, entered)
		for _, m := range []any{2, 9, 4, 7} {
			require.NoError(t, n.Send(pid, m))
		}
		i, err := n.Info(pid)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, i.Mailbox, 4)
		close(release)
		for _, want := range []any{9, 7, 4, 2} {
			assert.Equal(t, want, testkit.Receive(t, got))
		}
		testkit.UntilTrue(t, func() bool { return box.Len() == 0 }, "all done with")
		n.Exit(pid, node.Kill)
		require.NoError(t, n.Send(pid, 1), "to the dead")
		assert.Equal(t, mailbox.Closed, box.Push(1), "the box is closed by the exit")
	})
}

func TestSelfSenderStarvesNobody(t *testing.T) {
	for _, s := range []actortest.Style{actortest.Actor, actortest.Coroutine} {
		t.Run(s.Name, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{Workers: 1, Stages: 1})
			var turns atomic.Int64
			greedy := s.Spawn(t, n, func(in actortest.Self, m any) error {
				turns.Add(1)
				return in.Send(in.Self(), m)
			})
			require.NoError(t, n.Send(greedy, "again"))
			other := s.Spawn(t, n, parrot)
			for i := range 100 {
				_, err := actortest.CallWithin[int](testkit.Limit, n, other, i)
				require.NoError(t, err)
			}
			before := turns.Load()
			testkit.UntilTrue(t, func() bool { return turns.Load() > before }, "it goes on itself")
		})
	}
}

// A handler sends a million messages: the receiver must not have to wait for it to end.
func TestMillionSendsStarveNobody(t *testing.T) {
	const million = 1_000_000
	for _, s := range []actortest.Style{actortest.Actor, actortest.Coroutine} {
		for _, at := range []int{0, 1} {
			t.Run([]string{"same stage ", "other stage "}[at]+s.Name, func(t *testing.T) {
				t.Parallel()
				n := nodetest.Start(t, node.Config{Workers: 1, Stages: 2})
				var handled atomic.Int64
				all := make(chan struct{})
				receiver := s.With(node.Options{Place: node.OnStage(at)}).Spawn(t, n, func(_ actortest.Self, m any) error {
					if handled.Add(1) == million {
						close(all)
					}
					return nil
				})
				meanwhile := make(chan int64, 1)
				sender := s.With(node.Options{Place: node.OnStage(0)}).Spawn(t, n, func(in actortest.Self, m any) error {
					for range million {
						if err := in.Send(receiver, m); err != nil {
							return err
						}
					}
					meanwhile <- handled.Load()
					return nil
				})
				require.NoError(t, n.Send(sender, "go"))
				assert.Positive(t, testkit.Receive(t, meanwhile), "handled before the sender was done")
				testkit.Receive(t, all)
			})
		}
	}
}

// However the messages come, an actor with its own scheduler is never left with messages and no run scheduled.
func TestDetachedLosesNoWakeUp(t *testing.T) {
	for budget := range 4 {
		n := nodetest.Start(t, node.Config{Budget: budget + 1})
		var handled atomic.Int64
		pid := actortest.Actor.With(node.Options{Place: node.Detached()}).Spawn(t, n, func(actortest.Self, any) error {
			handled.Add(1)
			return nil
		})
		for k := range 50 {
			require.NoError(t, n.Send(pid, k))
		}
		testkit.UntilTrue(t, func() bool { return handled.Load() == 50 }, "all handled")
	}
}

// A coroutine that does nothing but send to another stage moves there; its messages stay in order all the while. The
// clock of the bubble stands still while anything runs, so all turns are quick on any machine.
func TestTalkerMoves(t *testing.T) {
	const most = 2_000_000
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{Workers: 1, Stages: 4})
		var next atomic.Int64
		to, err := n.SpawnOpt(node.Options{Place: node.OnStage(3)}, node.ActorFunc(func(_ *node.Context, msg any) error {
			if !next.CompareAndSwap(int64(msg.(int)), int64(msg.(int))+1) {
				t.Errorf("%d came when %d was due", msg, next.Load())
			}
			return nil
		}))
		require.NoError(t, err)
		var moved atomic.Bool
		talker, err := n.SpawnOpt(node.Options{Coroutine: true}, node.ProcessFunc(func(p *node.Process) error {
			for i := 0; !moved.Load(); i++ {
				if i == most {
					return errors.New("it has not moved")
				}
				p.Send(to, i)
			}
			return nil
		}))
		require.NoError(t, err)
		for !moved.Load() {
			i, err := n.Info(talker)
			require.NoError(t, err, "it has sent %d messages and has not moved", most)
			moved.Store(i.Stage == 3)
			runtime.Gosched()
		}
	})
}
