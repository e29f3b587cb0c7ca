package runner_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/sched/bias"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/deadletter"

	"github.com/actornode/actornode/sched"
	"github.com/actornode/actornode/wire"
)

// The messages and reasons that the host below makes.
type (
	exited struct {
		From   wire.PID
		Reason any
	}
	result struct {
		Tag, Value any
		Err        error
	}
	crash  struct{ cause any }
	failed struct{ reason any }
)

func (f failed) Error() string { return fmt.Sprintf("exited: %v", f.reason) }

var errTest = errors.New("test")

// system is the processes of a node, with stages, and a host that is made up.
type system struct {
	process.System
	t       *testing.T
	letters *deadletter.Stream
	left    []watch.Left
	ended   chan wire.PID // crashed by themselves
}

// newSystem returns one that ends with the test.
func newSystem(t *testing.T, budget int) *system {
	s := &system{t: t, ended: make(chan wire.PID, 1000)}
	s.Init(process.Host{
		Messages: process.Messages{
			Exited: func(from wire.PID, reason any) any { return exited{from, reason} },
			Down:   func(d process.Down) any { return d },
			Result: func(tag, v any, err error) any { return result{tag, v, err} },
			IsDown: func(msg any, ref wire.Ref) bool {
				d, ok := msg.(process.Down)
				return ok && d.Ref == ref
			},
		},
		Reasons: process.Reasons{
			Err: func(reason any) error { return failed{reason} },
			Of: func(err error) any {
				if err == nil {
					return process.Normal
				}
				return err
			},
			Panics:  func(cause any) any { return crash{cause} },
			Crashed: func(reason any) bool { _, ok := reason.(crash); return ok },
		},
		Remotes: process.Remotes{
			Of:    func(wire.PID) process.Remote { return nil },
			Now:   func(wire.PID) process.Remote { return nil },
			Named: func(wire.Atom) process.Remote { return nil },
		},
		Self:       func() wire.PID { return wire.PID{} },
		Crashed:    func(c process.Crash) func() { s.ended <- c.Process.PID(); return func() {} },
		Left:       func(_ *process.Process, l watch.Left) { s.left = append(s.left, l) },
		Unanswered: func(any, error, bool) bool { return false },
		Answered:   func(wire.Ref, any) bool { return false },
	}, wire.NodeID{Name: "a@h", Creation: 7}, budget, env.Env{})
	s.Halved = 63
	s.Table.Init(1 << 16)
	s.Tracing.Init(watch.TraceHost{IsOwn: func(any) bool { return false }})
	s.Dead.Init(slog.New(slog.DiscardHandler), env.Env{})
	s.letters = s.Dead.Open(1000)
	s.Pool = executor.New(executor.Config{Workers: 2, Stages: 2, Local: func(w *executor.Worker) any {
		l := &process.Local{Tally: s.Tally.New(), Fiber: new(fiber.Fiber)}
		l.Turn.Worker, l.Turn.Env = w, s.Env
		return l
	}})
	s.Pool.Start()
	t.Cleanup(s.stop)
	return s
}

// stop ends all processes, and waits for their code.
func (s *system) stop() {
	for p := range s.Table.All() {
		p.Exit(&s.Plain, process.Killed)
	}
	for s.Functions.Load()+s.Fibers.Busy() > 0 {
		runtime.Gosched()
	}
	require.NoError(s.t, s.Pool.Stop(context.Background()))
	s.Fibers.Stop()
	s.letters.Close()
}

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

// option is something that a process has from before it runs.
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

// begin makes p a process; what is left is to start it.
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
		go func() { b.Close(s.Host.Reasons.Of(f(b))) }()
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

// actor is an Actor on a stage: of a turn, what package node has of it.
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
	a := process.Acting{System: p.System, Process: p, Worker: w, Local: w.Local.(*process.Local)}
	bias.Store(&p.Running, 1)
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
	bias.Store(&p.Running, 1)
	defer p.TurnOver()
	r.Bias.Enter()
	defer r.Bias.Leave()
	for !p.Gone() {
		msg, ok := p.Queue.Next()
		if !ok {
			if p.Refill() || !p.Intake().Arm() {
				continue
			}
			return false
		}
		r.Bias.Leave()
		err := r.receive(&a, msg)
		if err != nil {
			err = runner.EndWith(p, &a, err)
		}
		r.Bias.Enter()
		if err == nil || err == process.ErrUnhandled {
			p.Settle(nil, err)
		}
	}
	return false
}

// pass lets time pass in a bubble, until all wait.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
