package process_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/processtest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/observe"
)

// onStage is a process that a stage runs: in its turn it calls the functions it was given with do, and takes its
// messages.
type onStage struct {
	*proc
	do  chan func(w *executor.Worker)
	got chan any
}

func (p *onStage) Turn(w *executor.Worker) executor.TurnResult {
	for {
		for p.Refill() {
		}
		for msg, ok := p.Queue.Next(); ok; msg, ok = p.Queue.Next() {
			p.got <- msg
			p.Settle(w.Stage(), nil)
		}
		select {
		case f := <-p.do:
			w.Leave()
			f(w)
			if !w.Enter() {
				return executor.Lost
			}
		default:
			return executor.Idle
		}
	}
}

func (p *onStage) CollectInbox(*executor.Stage) bool {
	p.Inbox.TakeArmed(&p.Queue)
	return true
}

func (p *onStage) Prod(a *process.Acting) {
	if p.Inbox.Claim() {
		a.Inject(&p.Entity, nil)
	}
}

func (p *onStage) FinishDetached(*executor.Stage) bool { return true }

func (s *system) staged(k int) *onStage {
	p := &onStage{do: make(chan func(*executor.Worker), 1), got: make(chan any, 1000)}
	p.proc = s.spawn(func(q *proc) {
		q.Kind = process.Actor
		q.Adopt(p, s.Pool.Stage(k), true)
	})
	return p
}

// run makes p call f in its turn, and waits for it.
func (p *onStage) run(t *testing.T, f func(a *process.Acting)) {
	done := make(chan struct{})
	p.do <- func(w *executor.Worker) {
		defer close(done)
		f(&process.Acting{System: p.System, Process: &p.Process, Worker: w, Local: process.LocalOf(w)})
	}
	require.NoError(t, p.Deliver(&p.System.Plain, "go"))
	testkit.Receive(t, done)
	require.Equal(t, "go", testkit.Receive(t, p.got))
}

// withStages is a system with two stages.
func withStages(t *testing.T) *system {
	s := newSystem(t)
	processtest.Start(t, &s.System, 1, 2)
	return s
}

// While messages are checked, only the goroutine of a handler acts for its process.
func TestOwnOnStage(t *testing.T) {
	s := withStages(t)
	s.Tracing.Keep(&guard{})
	p := s.staged(0)
	p.run(t, func(a *process.Acting) {
		require.Same(t, &p.Process, a.Own())
		panicked := make(chan any)
		go func() {
			defer func() { panicked <- recover() }()
			a.Own()
		}()
		require.NotNil(t, testkit.Receive(t, panicked))
		b := process.Acting{System: a.System, Process: a.Process, Worker: a.Worker, Blocks: answered(nil)}
		go func() {
			defer func() { panicked <- recover() }()
			b.Own() // b is a blocking process: it may be on a fiber
		}()
		require.Nil(t, testkit.Receive(t, panicked))
	})
}

// Messages between neighbours on a stage, to another stage and to the dead; a message sent from outside earlier stays
// earlier.
func TestOnStage(t *testing.T) {
	s := withStages(t)
	p, near, other, gone := s.staged(0), s.staged(0), s.staged(1), s.staged(0)
	p.run(t, func(a *process.Acting) {
		require.NoError(t, near.Deliver(&s.Plain, "outside"))
		for i := range 100 { // more than the messages of a long queue
			require.NoError(t, near.Deliver(a, i))
			require.NoError(t, other.Deliver(a, i))
		}
		require.Empty(t, near.got, "the stage is not theirs yet")
		require.True(t, gone.Exit(a, "x"))
		require.NoError(t, gone.Deliver(a, "lost"))
		require.Equal(t, []string{fmt.Sprint("no_process ", gone.PID(), " lost")}, s.dead())
	})
	require.Equal(t, "outside", testkit.Receive(t, near.got))
	for i := range 100 {
		require.Equal(t, i, testkit.Receive(t, near.got))
		require.Equal(t, i, testkit.Receive(t, other.got))
	}
	p.run(t, func(a *process.Acting) {
		require.NotNil(t, a.OutboxTurn())
		require.NotNil(t, a.Slots())
		require.NoError(t, p.Deliver(a, "to itself"))
		a.Block() // from here on a has no stage
		require.NoError(t, near.Deliver(a, "detached"))
		require.Equal(t, "detached", testkit.Receive(t, near.got))
		alive, _ := s.Tally.Sum()
		require.Equal(t, 3, alive)
	})
	require.Equal(t, "to itself", testkit.Receive(t, p.got))
	p.run(t, func(a *process.Acting) { require.NoError(t, near.Deliver(a, "alone")) })
	require.Equal(t, "alone", testkit.Receive(t, near.got), "a neighbour is woken")
	// A sender that waits for room leaves its stage to the process that makes room.
	full := s.staged(0)
	full.ColdPart().Box, full.Boxed = bounded(1, mailbox.Block), true
	require.NoError(t, full.Deliver(&s.Plain, 1))
	full.Prod(&s.Plain) // its first turn is due
	p.run(t, func(a *process.Acting) {
		require.NoError(t, full.Deliver(a, 2))
		require.NoError(t, full.Deliver(a, 3))
	})
	for i := range 3 {
		require.Equal(t, i+1, testkit.Receive(t, full.got))
	}
	// An Actor waits for an answer without its stage, until the answer comes, its context ends or it is killed.
	ask := func(a *process.Acting) process.Ticket {
		c := a.Promise()
		c.Target = &near.Process
		k := c.NewTicket()
		require.True(t, c.List())
		return k
	}
	p.run(t, func(a *process.Acting) {
		k := ask(a)
		go near.run(t, func(b *process.Acting) { k.Settle(b, "answer", nil) })
		v, err := a.Await(context.Background(), k, calls.WaitReply, nil)
		require.NoError(t, err)
		require.Equal(t, "answer", v)
		require.Zero(t, p.WaitLocked(observe.Running))
	})
	victim := s.staged(0)
	victim.run(t, func(a *process.Acting) {
		go func() {
			testkit.UntilTrue(t, func() bool {
				victim.Mu.Lock()
				defer victim.Mu.Unlock()
				w := victim.WaitLocked(observe.Running)
				return w.For == "reply" && w.On == near.PID()
			}, "it waits for a reply of its neighbour")
			victim.Exit(&s.Plain, "x")
		}()
		_, err := a.Await(context.Background(), ask(a), calls.WaitReply, nil)
		require.Equal(t, process.ErrExited, err)
	})
	// A turn that breaks ends on its stage, unless it has lost that.
	near.run(t, func(a *process.Acting) {
		require.Equal(t, executor.Idle, near.Broke(a, "boom"))
		a.Worker.Leave()
		a.Block()
		require.Equal(t, executor.Lost, near.Broke(a, "again"))
	})
	require.Len(t, s.crashed, 1)
}
