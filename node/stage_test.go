package node_test

import (
	"context"
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

	"github.com/actornode/actornode/internal/fiber"
	"github.com/actornode/actornode/internal/logtest"
	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/sched"
)

// grace is how long a test waits for a fact that must come.
const grace = time.Minute

// eventually polls for a fact that nothing announces.
func eventually(t testing.TB, what string, fact func() bool) {
	t.Helper()
	tick := time.NewTicker(200 * time.Microsecond)
	defer tick.Stop()
	for end := time.After(grace); !fact(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("never: %s", what)
		}
	}
}

// inside is what a Context and a Process have in common.
type inside interface {
	node.Caller
	Self() node.PID
	Context() context.Context
	Send(node.Dest, any) error
	Spawn(node.Actor) (node.PID, error)
	SpawnOpt(node.Options, node.Actor) (node.PID, error)
	SpawnLink(node.Actor) (node.PID, error)
	SpawnMonitor(node.Actor) (node.PID, node.Ref, error)
	Link(node.Dest)
	Unlink(node.Dest)
	Monitor(node.Dest) node.Ref
	Demonitor(node.Ref, bool) bool
	TrapExit(bool) bool
	Exit(node.Dest, any)
}

// flavour is a way to write a process.
type flavour struct {
	name      string
	process   bool
	coroutine bool
}

var flavours = []flavour{{"actor", false, false}, {"process", true, false}, {"coroutine", true, true}}

// eachFlavour runs f once for each way to write a process.
func eachFlavour(t *testing.T, f func(t *testing.T, s flavour)) {
	for _, s := range flavours {
		t.Run(s.name, func(t *testing.T) { f(t, s) })
	}
}

// gate is a node with a process that lets a message pass each time something is sent
// to release. The node is stopped at the end of the test, whatever comes of it.
func (s flavour) gate(t *testing.T, o node.Options) (n *node.Node, pid node.PID, release chan struct{}) {
	t.Helper()
	n, err := node.Start(node.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = n.Stop() })
	release = make(chan struct{})
	return n, s.spawn(t, n, o, func(inside, any) error { <-release; return nil }), release
}

// of makes a handler a behaviour of this flavour.
func (s flavour) of(handle func(in inside, msg any) error) node.Actor {
	if !s.process {
		return node.ActorFunc(func(c *node.Context, m any) error { return handle(c, m) })
	}
	return node.ProcessFunc(func(p *node.Process) error {
		for {
			if err := handle(p, p.Receive()); err != nil {
				return err
			}
		}
	})
}

func (s flavour) spawn(t testing.TB, n *node.Node, o node.Options, handle func(in inside, msg any) error) node.PID {
	t.Helper()
	o.Coroutine = s.coroutine
	pid, err := n.SpawnOpt(o, s.of(handle))
	require.NoError(t, err)
	return pid
}

// shrug handles everything by doing nothing.
func shrug(inside, any) error { return nil }

// parrot answers calls with what they carry.
func parrot(_ inside, m any) error {
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
	n := startNode(t, node.Config{Stages: 5})
	require.Equal(t, 5, n.Stats().Scheduler.Stages)
	for _, s := range flavours {
		if s.process && !s.coroutine {
			continue
		}
		for k := range n.Stats().Scheduler.Stages {
			pid := s.spawn(t, n, node.Options{Place: node.OnStage(k)}, parrot)
			_, err := node.Call[int](t.Context(), n, pid, 1)
			require.NoError(t, err)
			assert.Equal(t, k, stageOf(t, n, pid), s.name)
		}
	}
}

func TestBeside(t *testing.T) {
	n := startNode(t, node.Config{Stages: 5})
	first := flavours[0].spawn(t, n, node.Options{Place: node.OnStage(3)}, parrot)
	for _, s := range []flavour{flavours[0], flavours[2]} {
		pid := s.spawn(t, n, node.Options{Place: node.Beside(first)}, parrot)
		assert.Equal(t, 3, stageOf(t, n, pid), s.name)
	}
	loose := flavours[0].spawn(t, n, node.Options{}, parrot)
	pid := flavours[0].spawn(t, n, node.Options{Place: node.Beside(loose)}, parrot)
	assert.Equal(t, stageOf(t, n, loose), stageOf(t, n, pid))
}

func TestDetached(t *testing.T) {
	n := startNode(t, node.Config{Workers: 1, Stages: 1, Blocked: time.Millisecond})
	release := make(chan struct{})
	entered := make(chan struct{})
	pid := flavours[0].spawn(t, n, node.Options{Place: node.Detached()}, func(in inside, m any) error {
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
	other := flavours[0].spawn(t, n, node.Options{}, parrot)
	for i := range 100 {
		_, err := node.Call[int](t.Context(), n, other, i)
		require.NoError(t, err)
	}
	close(release)
	v, err = node.Call[int](t.Context(), n, pid, 8)
	require.NoError(t, err)
	assert.Equal(t, 8, v)
}

// From outside the stages take turns; a child starts on its parent's stage.
func TestDefaultPlace(t *testing.T) {
	n := startNode(t, node.Config{Stages: 3})
	seen := make(map[int]bool)
	for range 3 * 256 {
		seen[stageOf(t, n, flavours[0].spawn(t, n, node.Options{}, shrug))] = true
	}
	assert.Len(t, seen, 3)

	child := make(chan int, 1)
	parent := flavours[0].spawn(t, n, node.Options{Place: node.OnStage(2)}, func(in inside, _ any) error {
		pid, err := in.Spawn(flavours[0].of(shrug))
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

// tracebacks says that they are read: see package fiber.
var tracebacks = fiber.GoroutineID() != 0

func TestBlockedHandlerHoldsNobodyUp(t *testing.T) {
	for _, how := range []struct {
		function string
		block    func(chan<- struct{}, <-chan struct{})
	}{{"blocksInHere", blocksInHere}, {"computesInHere", computesInHere}} {
		for _, s := range []flavour{flavours[0], flavours[2]} {
			t.Run(how.function+"/"+s.name, func(t *testing.T) {
				var log logtest.Records
				n := startNode(t, node.Config{Workers: 1, Stages: 1, Blocked: 100 * time.Millisecond, Log: slog.New(&log)})
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
				stuck = s.spawn(t, n, node.Options{Name: "stuck", Label: "the slow one"}, func(_ inside, m any) error {
					if r, ok := m.(node.Request[int]); ok {
						return r.Reply(r.Body)
					}
					how.block(entered, release)
					return nil
				})
				other := flavours[0].spawn(t, n, node.Options{}, parrot)
				require.NoError(t, n.Send(stuck, "block"))
				testkit.Receive(t, entered)
				for i := range 100 {
					v, err := nodetest.CallWithin[int](grace, n, other, i)
					require.NoError(t, err)
					require.Equal(t, i, v)
				}
				eventually(t, "counted", func() bool { return n.Stats().BlockedTurns > 0 })
				eventually(t, "logged, with its stack", func() bool { return len(lines()) > 0 })
				line := lines()[0]
				assert.Contains(t, line["process"], "stuck")
				assert.Contains(t, line["process"], "the slow one")
				assert.EqualValues(t, 0, line["stage"])
				close(release)
				v, err := nodetest.CallWithin[int](grace, n, stuck, 5)
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

// step runs whoever has waited longest; false if nobody does.
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
	n := startNode(t, node.Config{Budget: 1})
	steps := &stepper{}
	var trace []any
	spawn := func(name string) node.PID {
		return flavours[0].spawn(t, n, node.Options{Scheduler: steps}, func(_ inside, m any) error {
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

// byPriority is a mailbox that hands out the largest int first, and all that is
// no int before.
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
	eachFlavour(t, func(t *testing.T, s flavour) {
		n := startNode(t, node.Config{})
		entered, release := make(chan struct{}), make(chan struct{})
		got := make(chan any, 16)
		box := &byPriority{awake: true}
		pid := s.spawn(t, n, node.Options{Mailbox: box}, func(_ inside, m any) error {
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
		eventually(t, "all done with", func() bool { return box.Len() == 0 })
		n.Exit(pid, node.Kill)
		require.NoError(t, n.Send(pid, 1), "to the dead")
		assert.Equal(t, mailbox.Closed, box.Push(1), "the box is closed by the exit")
	})
}

func TestSelfSenderStarvesNobody(t *testing.T) {
	for _, s := range []flavour{flavours[0], flavours[2]} {
		t.Run(s.name, func(t *testing.T) {
			n := startNode(t, node.Config{Workers: 1, Stages: 1})
			var turns atomic.Int64
			greedy := s.spawn(t, n, node.Options{}, func(in inside, m any) error {
				turns.Add(1)
				return in.Send(in.Self(), m)
			})
			require.NoError(t, n.Send(greedy, "again"))
			other := s.spawn(t, n, node.Options{}, parrot)
			for i := range 100 {
				_, err := nodetest.CallWithin[int](grace, n, other, i)
				require.NoError(t, err)
			}
			before := turns.Load()
			eventually(t, "it goes on itself", func() bool { return turns.Load() > before })
		})
	}
}

// A million messages from one handler: the receiver must not have to wait for
// the end of it.
func TestMillionSendsStarveNobody(t *testing.T) {
	const million = 1_000_000
	for _, s := range []flavour{flavours[0], flavours[2]} {
		for _, at := range []int{0, 1} {
			t.Run([]string{"same stage ", "other stage "}[at]+s.name, func(t *testing.T) {
				t.Parallel()
				n := startNode(t, node.Config{Workers: 1, Stages: 2})
				var handled atomic.Int64
				all := make(chan struct{})
				receiver := s.spawn(t, n, node.Options{Place: node.OnStage(at)}, func(_ inside, m any) error {
					if handled.Add(1) == million {
						close(all)
					}
					return nil
				})
				meanwhile := make(chan int64, 1)
				sender := s.spawn(t, n, node.Options{Place: node.OnStage(0)}, func(in inside, m any) error {
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

// However the messages come, an actor with a scheduler of its own is not left
// with messages and no run that is owed to it.
func TestDetachedLosesNoWakeUp(t *testing.T) {
	for budget := range 4 {
		n := startNode(t, node.Config{Budget: budget + 1})
		var handled atomic.Int64
		pid := flavours[0].spawn(t, n, node.Options{Place: node.Detached()}, func(inside, any) error {
			handled.Add(1)
			return nil
		})
		for k := range 50 {
			require.NoError(t, n.Send(pid, k))
		}
		eventually(t, "all handled", func() bool { return handled.Load() == 50 })
	}
}

// A coroutine that does nothing but send to another stage moves there; its messages come in
// order all the while. The clock of the bubble stands still while anything runs, so all turns
// are quick on any machine.
func TestTalkerMoves(t *testing.T) {
	const most = 2_000_000
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, node.Config{Workers: 1, Stages: 4})
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
