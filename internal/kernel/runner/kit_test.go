package runner_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/processtest"
	"github.com/actornode/actornode/wire"
)

const stages = 3

// placedSystem is the processes of a node, on stages.
type placedSystem struct {
	process.System
	t *testing.T
}

func newPlacedSystem(t *testing.T) *placedSystem {
	s := &placedSystem{t: t}
	processtest.Init(&s.System, processtest.Host{}, wire.NodeID{Name: "a@h", Creation: 7}, 100)
	processtest.Start(t, &s.System, 2, stages)
	return s
}

// placedActor is an Actor on a stage.
type placedActor struct {
	runner.Actor
	receive func(a *process.Acting, msg any)
	handled atomic.Int64
}

// spawn makes one on a stage; where, if not nil, is the place that it was spawned for.
func (s *placedSystem) spawn(on *executor.Stage, where *runner.Place, f func(a *process.Acting, msg any)) *placedActor {
	r := &placedActor{receive: f}
	p := &r.Process
	p.System = &s.System
	r.Adopt(r, on, on.IsOwn())
	if where != nil {
		where.Apply(p)
	}
	id, ok := s.Table.Reserve(nil)
	require.True(s.t, ok)
	p.ID = id
	s.Table.Put(id, p)
	s.Count(&s.Plain, 1)
	r.Runner().Start(&s.Plain, nil, false)
	return r
}

func (r *placedActor) Turn(w *executor.Worker) executor.TurnResult {
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
		if r.receive != nil {
			r.receive(&a, msg)
		}
		r.handled.Add(1)
		if !w.Enter() {
			p.ColdPart().Blocked = true
			return executor.Lost
		}
		p.Settle(w.Stage(), nil)
	}
	return executor.Again
}

// run makes r call f in its turn, and waits for it.
func (s *placedSystem) run(r *placedActor, f func(a *process.Acting)) {
	done := make(chan struct{})
	r.receive = func(a *process.Acting, msg any) {
		msg.(func(*process.Acting))(a)
		close(done)
	}
	s.send(r, f)
	testkit.Receive(s.t, done)
}

func (s *placedSystem) send(r *placedActor, msgs ...any) {
	for _, m := range msgs {
		require.NoError(s.t, r.Deliver(&s.Plain, m))
	}
}

// goroutine makes a process on no stage.
func (s *placedSystem) goroutine() *process.Process {
	b := new(runner.Blocking)
	b.Init(&s.System, nil)
	id, _ := s.Table.Reserve(nil)
	b.Own.System, b.Own.ID = &s.System, id
	b.Own.Inbox.Claim()
	s.Table.Put(id, &b.Own)
	return &b.Own
}

// on waits until a process is on a stage.
func (s *placedSystem) on(r *placedActor, is func(*executor.Stage) bool, what string) {
	s.t.Helper()
	testkit.UntilTrue(s.t, func() bool { return is(r.Process.Stage()) }, what)
}
