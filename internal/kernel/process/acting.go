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

// Key gives the packages of this module access to the internals of package node: other modules cannot name it.
type Key struct{}

// Acting identifies who acts: the process whose code runs, and what runs it; plain goroutines and the node itself share one.
//
// It is owned by whatever runs the process.
type Acting struct {
	System  *System
	Process *Process               // the process, or nil for a plain goroutine, or the node
	Worker  *executor.Worker       // on whose stage the code runs, or nil
	Local   *Local                 // of Worker, or of an Actor with a scheduler of its own, or nil
	Blocks  Blocker                // the process if it is a blocking one, or nil
	Inline  *executor.InlineWorker // the reader of a connection that will run what it wakes, or nil
}

// Local is what a worker keeps for the processes that it runs, an [executor.Local].
type Local struct {
	slots tables.Slots
	refs  supply
	Tally *Tally

	flow.Turn
	promises []*Call // for later calls

	Fiber   *fiber.Fiber // the worker's goroutine
	Current *Process     // the running coroutine
}

// LocalOf returns the Local of w: Worker.Local is one, or has one.
func LocalOf(w *executor.Worker) *Local { return w.Local.(interface{ Of() *Local }).Of() }

// Of returns l: see [LocalOf].
func (l *Local) Of() *Local { return l }

// Took counts a turn that has handled d messages.
func (l *Local) Took(d uint64) { l.Tally.Messages(d) }

// Is reports whether the code of p, an Actor or a coroutine, is running.
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

// OutboxTurn returns the turn of the worker on which the actor's code runs, or nil if it runs on none.
func (a *Acting) OutboxTurn() *flow.Turn {
	if a.Worker == nil {
		return nil
	}
	return &a.Local.Turn
}

// Slots returns the worker's supply of slots in the process table, or nil if the code runs on none.
func (a *Acting) Slots() *tables.Slots {
	if a.Worker == nil {
		return nil
	}
	return &a.Local.slots
}

// NewRef returns a new reference.
func (a *Acting) NewRef() wire.Ref {
	if a.Local != nil {
		return a.System.Origin.RefOf(a.Local.refs.Next(&a.System.refs))
	}
	return a.System.NewRef()
}

// Own returns the acting process, for what only its own code may do. It panics if a is a Context whose handler has returned,
// and, while messages are checked, also if it is used by another goroutine.
func (a *Acting) Own() *Process {
	if a.Process == &a.System.Over {
		misusedLate()
	}
	if a.System.Traces().Checks() && !a.here() {
		misusedElsewhere(a.Process.Name())
	}
	return a.Process
}

// here reports whether the calling goroutine runs the handler, as far as that can be determined.
func (a *Acting) here() bool {
	if a.Worker != nil {
		return a.Blocks != nil || onGoroutine(a.Worker.Goroutine())
	}
	return a.Process == nil || a.Process.Kind != External || fiber.Marked(a.Process) || onGoroutine(0)
}

// Gone reports whether the acting process is dead. It panics in the same cases as Own.
func (a *Acting) Gone() bool { return a.Process != nil && a.Process.Gone() && a.Own() != nil }

// Sender returns the sender of messages to other nodes: for a plain goroutine the process that represents it.
func (a *Acting) Sender() wire.PID {
	if a.Process != nil {
		return a.Process.PID()
	}
	return a.System.Host.Self()
}

// PID returns the PID of the acting process, or zero for a plain goroutine, or the node itself.
func (a *Acting) PID() wire.PID {
	if a.Process == nil {
		return wire.PID{}
	}
	return a.Own().PID()
}

// Unwind ends the goroutine of a blocking process that is dead; a handle's goroutine continues.
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

// Requested returns a promise whose result is sent to the caller as a message with the tag.
func (a *Acting) Requested(tag any) *Call {
	var p *Call
	if a.Local != nil && a.Process != &a.System.Over {
		p = a.Local.promise(a.System)
	} else {
		p = &Call{System: a.System}
	}
	p.Waiter, p.Asker, p.Tag = nil, a.Process, tag
	a.Process.Ask(1)
	return p
}

// Await waits for t in the caller's way: by parking, or by blocking the goroutine. k is what it waits for, and on the process
// it waits for.
func (a *Acting) Await(ctx context.Context, t Ticket, k calls.WaitKind, on wire.Dest) (any, error) {
	switch {
	case a.Process == nil:
		a.Block()
		return t.Wait(ctx)
	case a.Blocks == nil || a.System.Cycles != nil:
		return a.awaitNoted(ctx, t, k, on)
	default:
		return a.awaitBlocked(ctx, t, k, on)
	}
}

// awaitBlocked is Await for a blocking process. on is not passed through the interface: that would allocate it in each call.
func (a *Acting) awaitBlocked(ctx context.Context, t Ticket, k calls.WaitKind, on wire.Dest) (any, error) {
	var whom wire.Dest
	if t.Call.Target == nil {
		whom = erpc.Seen(on)
	}
	return a.Blocks.Await(ctx, t, k, whom)
}

// awaitNoted is Await for an Actor's handler, and for every process if cycles are detected.
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

// kept is the maximum number of promises that a worker keeps for later calls.
const kept = 64

func (l *Local) keep(p *Call) {
	if len(l.promises) < kept {
		p.Replace(nil, nil) // so that it keeps no value
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
