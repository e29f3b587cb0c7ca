package runner_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/deadletter"

	"github.com/actornode/actornode/internal/testkit/processtest"
	"github.com/actornode/actornode/sched"
	"github.com/actornode/actornode/wire"
)

// What the host makes of the ends of processes and nodes.
var (
	exited = processtest.Exited
	crash  = processtest.Crash
	failed = processtest.Failed
)

var errTest = errors.New("test")

// system is the host of a node's processes, with stages.
type system struct {
	process.System
	processtest.Host
	t       *testing.T
	letters *deadletter.Stream
	left    []watch.Left
	ended   chan wire.PID // processes that crashed by themselves
}

// newSystem returns one that ends with the test.
func newSystem(t *testing.T, budget int) *system {
	s := &system{t: t, ended: make(chan wire.PID, 1000)}
	processtest.Init(&s.System, s, wire.NodeID{Name: "a@h", Creation: 7}, budget)
	s.letters = s.Dead.Open(1000)
	t.Cleanup(s.letters.Close)
	processtest.Start(t, &s.System, 2, 2)
	return s
}

// Crashed and Left are part of process.Host.
func (s *system) Crashed(c process.Crash) func() {
	if processtest.IsCrash(c.Reason) {
		s.ended <- c.Process.PID()
	}
	return nil
}
func (s *system) Left(_ *process.Process, left watch.Left) { s.left = append(s.left, left) }

// dead returns the dead letters since the last call.
func (s *system) dead() (all []any) {
	for {
		select {
		case l := <-s.letters.C:
			all = append(all, l.Message)
		default:
			return all
		}
	}
}

// style is a way to run a blocking process.
type style string

const (
	goroutine style = "goroutine"
	coroutine style = "coroutine"
	handle    style = "handle" // its function has a goroutine of the test's
)

var styles = []style{goroutine, coroutine, handle}

// eachStyle runs a test for each style, in a bubble: time passes when all wait.
func eachStyle(t *testing.T, f func(t *testing.T, s *system, as style)) {
	for _, as := range styles {
		t.Run(string(as), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, newSystem(t, 1000), as) })
		})
	}
}

// body is the code of a process.
type body func(s *runner.Blocking) error

func (f body) Run(s *runner.Blocking) error { return f(s) }

// option sets up a process before it runs.
type option func(p *process.Process)

func onStage(k int) option {
	return func(p *process.Process) {
		if p.OnStage() {
			p.Adopt(p.Task(), p.System.Pool.Stage(k), true)
		}
	}
}

func boxed(b mailbox.Box) option {
	return func(p *process.Process) { p.ColdPart().Box, p.Boxed = b, true }
}

// begin makes p a process; the caller still has to start it.
func (s *system) begin(p *process.Process, with []option) {
	p.System = &s.System
	p.ColdPart()
	onStage(0)(p)
	if !p.OnStage() {
		p.Inbox.Claim()
	}
	for _, o := range with {
		o(p)
	}
	id, ok := s.Table.Reserve(nil)
	require.True(s.t, ok)
	p.ID = id
	s.Table.Put(id, p)
	s.Count(&s.Plain, 1)
}

// spawn runs f as a process.
func (s *system) spawn(as style, f body, with ...option) *runner.Blocking {
	b := s.make(as, f, with...)
	s.start(as, b, f)
	return b
}

// make makes a process that does not run yet.
func (s *system) make(as style, f body, with ...option) *runner.Blocking {
	b := new(runner.Blocking)
	switch as {
	case goroutine:
		b.Init(&s.System, f)
	case coroutine:
		b.InitCoroutine(&s.System, f, new(runner.Turns))
	case handle:
		b.Init(&s.System, nil)
	}
	s.begin(&b.Own, with)
	return b
}

func (s *system) start(as style, b *runner.Blocking, f body) {
	b.Own.Runner().Start(&s.Plain, nil, b.Own.Fresh)
	if as == handle {
		go func() { b.Close(s.Host.ReasonOf(f(b))) }()
	}
}

// send sends from outside.
func (s *system) send(p *process.Process, msgs ...any) {
	for _, m := range msgs {
		require.NoError(s.t, p.Deliver(&s.Plain, m))
	}
}

// receive is the code of an Actor.
type receive func(a *process.Acting, msg any) error

// actor is an Actor on a stage: its turn does what package node's does.
type actor struct {
	runner.Actor
	receive receive
}

func (s *system) actor(f receive, with ...option) *actor {
	r := &actor{receive: f}
	r.Adopt(r, nil, false)
	s.begin(&r.Process, with)
	r.Runner().Start(&s.Plain, nil, r.Boxed)
	return r
}

func (r *actor) Turn(w *executor.Worker) executor.TurnResult {
	p := &r.Process
	a := process.Acting{System: p.System, Process: p, Worker: w, Local: process.LocalOf(w)}
	p.Running.Store(true)
	defer p.TurnOver()
	for range p.System.Budget {
		if p.Gone() {
			return executor.Idle
		}
		msg, ok := p.Queue.Next()
		if !ok {
			if p.Refill() {
				continue
			}
			return executor.Idle
		}
		w.Leave()
		err := r.receive(&a, msg)
		if err != nil {
			err = runner.EndWith(p, &a, err)
		}
		if !w.Enter() {
			p.Cold.Pending, p.Cold.Blocked = err, true
			return executor.Lost
		}
		if err == nil || err == process.ErrUnhandled {
			p.Settle(w.Stage(), err)
		} else {
			p.Queue.Drop()
		}
	}
	return executor.Again
}

// external is an Actor that a scheduler of its own runs.
type external struct {
	runner.External
	receive receive
}

func (s *system) external(by sched.Scheduler, f receive, with ...option) *external {
	r := &external{receive: f}
	r.Kind, r.Scheduler = process.External, by
	r.Adopt(r, nil, false)
	s.begin(&r.Process, with)
	r.Runner().Start(&s.Plain, nil, false)
	return r
}

func (r *external) Run() bool { return r.turn(fiber.MarkOf(&r.Process)) }

//go:noinline
func (r *external) turn(fiber.Mark) bool {
	p := &r.Process
	a := process.Acting{System: p.System, Process: p}
	p.Running.Store(true)
	defer p.TurnOver()
	r.QueueMu.Lock()
	defer r.QueueMu.Unlock()
	for !p.Gone() {
		msg, ok := p.Queue.Next()
		if !ok {
			if p.Refill() || !p.Intake().Arm() {
				continue
			}
			return false
		}
		r.QueueMu.Unlock()
		err := r.receive(&a, msg)
		if err != nil {
			err = runner.EndWith(p, &a, err)
		}
		r.QueueMu.Lock()
		if err == nil || err == process.ErrUnhandled {
			p.Settle(nil, err)
		}
	}
	return false
}

// pass advances the time in a bubble, until all goroutines wait.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
