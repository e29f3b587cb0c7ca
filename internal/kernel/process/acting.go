package process

import (
	"context"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/flow"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/wire"
)

// Key opens what package node shows to the packages of this module: other modules cannot name it.
type Key struct{}

// Acting says who acts: the process whose code runs, and what runs it; for plain goroutines and the
// node itself there is one that stands for all of them.
//
// Whoever runs the process owns it.
type Acting struct {
	System  *System
	Process *Process               // the process; nil: a plain goroutine, or the node
	Worker  *executor.Worker       // on whose stage the code runs; nil: on none
	Local   *Local                 // of Worker, or of an Actor that a scheduler of its own runs; nil: neither
	Blocks  Blocker                // the process, if it is a blocking one; nil: it is not
	Inline  *executor.InlineWorker // the reader of a connection, which soon runs what it wakes; nil: it is none, or does not
}

// Local is what a worker has for the processes that it runs.
type Local struct {
	slots tables.Slots
	refs  supply
	Tally *Tally
	Turn  flow.Turn

	promises []*Call // for calls to come

	Fiber   *fiber.Fiber // the worker's goroutine
	Current *Process     // the coroutine whose turn it is
	Above   any          // for those above
}

// Took counts a turn that has taken d messages.
func (l *Local) Took(d uint64) { l.Tally.Messages(d) }

// Is reports whether the code of p, an Actor or a coroutine, is what acts.
func (a *Acting) Is(p *Process) bool { return a.Process == p && a.Local != nil }

// Block gives up the stage before the code waits for something.
func (a *Acting) Block() {
	if a.Worker != nil {
		a.Worker.Block()
	}
}

// Inject wakes e, which has been claimed; w is as in [executor.Pool.Inject].
func (a *Acting) Inject(e *executor.Entity, w *executor.Worker) {
	if a.Inline != nil {
		a.Inline.Inject(e)
		return
	}
	a.System.Pool.Inject(e, w)
}

// OutboxTurn returns the turn of an actor on whose worker the code runs, nil: it runs on none.
func (a *Acting) OutboxTurn() *flow.Turn {
	if a.Worker == nil {
		return nil
	}
	return &a.Local.Turn
}

// Slots returns the worker's supply of places in the table of processes; nil: the code runs on none.
func (a *Acting) Slots() *tables.Slots {
	if a.Worker == nil {
		return nil
	}
	return &a.Local.slots
}

// NewRef makes a reference.
func (a *Acting) NewRef() wire.Ref {
	if a.Local != nil {
		return a.System.Origin.RefOf(a.Local.refs.Next(&a.System.refs))
	}
	return a.System.NewRef()
}

// Own returns the process that acts, for what only its own code may do. It panics where that is a Context whose
// handler has returned, and while messages are checked also where another goroutine uses it.
func (a *Acting) Own() *Process {
	if a.Process == &a.System.Over {
		misusedLate()
	}
	if a.System.Traces().Checks() && !a.here() {
		misusedElsewhere(a.Process.Name())
	}
	return a.Process
}

// here reports whether the calling goroutine runs the handler, as far as that can be seen.
func (a *Acting) here() bool {
	if a.Worker != nil {
		return a.Blocks != nil || onGoroutine(a.Worker.Goroutine())
	}
	return a.Process == nil || a.Process.Kind != External || a.Process.Runner().Here() || onGoroutine(0)
}

// Gone reports whether the process that acts is dead. It panics where Own does.
func (a *Acting) Gone() bool { return a.Process != nil && a.Process.Gone() && a.Own() != nil }

// Sender is the process that a message to another node comes from: for a plain goroutine the
// one that stands for it.
func (a *Acting) Sender() wire.PID {
	if a.Process != nil {
		return a.Process.PID()
	}
	return a.System.Host.Self()
}

// PID is who acts, zero: a plain goroutine, or the node itself.
func (a *Acting) PID() wire.PID {
	if a.Process == nil {
		return wire.PID{}
	}
	return a.Own().PID()
}

// Unwind ends the goroutine of a blocking process that is dead; a handle's goes on.
func (a *Acting) Unwind() {
	if a.Blocks != nil && a.Process.Gone() {
		a.Blocks.Unwind()
	}
}

// Promise returns a promise for a call that the caller will wait for.
func (a *Acting) Promise() *Call {
	if a.Blocks != nil {
		return a.Blocks.Promise()
	}
	p := &struct {
		Call
		Watches
	}{}
	p.System, p.More = a.System, &p.Watches
	return &p.Call
}

// Requested returns a promise of which the caller gets a message with the tag.
func (a *Acting) Requested(tag any) *Call {
	var p *Call
	if a.Local != nil && a.Process != &a.System.Over {
		p = a.Local.promise(a.System)
	} else {
		p = &Call{System: a.System}
	}
	p.Waiter, p.Asker, p.Tag = nil, a.Process, tag
	return p
}

// Await waits for t in the way that is proper for the caller: for k of whom on stands for.
func (a *Acting) Await(ctx context.Context, t Ticket, k calls.WaitKind, on wire.Dest) (any, error) {
	switch {
	case a.Process == nil:
		a.Block()
		return t.waitOr(ctx, nil)
	case a.Blocks == nil || a.System.Cycles != nil:
		return a.awaitNoted(ctx, t, k, on)
	default:
		return a.awaitBlocked(ctx, t, k, on)
	}
}

// awaitBlocked is Await for a blocking process. on does not pass the interface: it would be on the heap
// in each call.
func (a *Acting) awaitBlocked(ctx context.Context, t Ticket, k calls.WaitKind, on wire.Dest) (any, error) {
	var whom wire.Dest
	if t.Call.Target == nil {
		whom = erpc.Seen(on)
	}
	return a.Blocks.Await(ctx, t, k, whom)
}

// awaitNoted is await for an Actor's handler, and for each process where cycles are detected.
func (a *Acting) awaitNoted(ctx context.Context, t Ticket, k calls.WaitKind, on wire.Dest) (any, error) {
	p := a.Own()
	if a.System.Cycles != nil {
		defer a.Waited(Ticket{})
	}
	if a.Blocks != nil {
		return a.awaitBlocked(ctx, t, k, on)
	}
	a.Block()
	if to := t.Call.Target; to != nil {
		on = to.PID()
	}
	p.WaitsFor(k, on)
	defer p.WaitsNoMore()
	defer a.Worker.Rejoin()
	return t.waitOr(ctx, p.Context().Done())
}

// kept is how many promises a worker keeps for calls to come.
const kept = 64

func (l *Local) keep(p *Call) {
	if len(l.promises) < kept {
		p.Replace(nil, nil) // it keeps no value
		l.promises = append(l.promises, p)
	}
}

func (l *Local) promise(sys *System) *Call {
	if last := len(l.promises) - 1; last >= 0 {
		p := l.promises[last]
		l.promises = l.promises[:last]
		return p
	}
	return &Call{System: sys}
}
