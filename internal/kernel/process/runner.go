package process

import (
	"context"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// Kind says which runner a process has. Set at spawn.
type Kind uint8

const (
	Actor     Kind = iota // an Actor on a stage
	Coroutine             // a blocking process on a stage
	External              // an Actor that a scheduler of its own runs, or that is detached
	Goroutine             // a blocking process with a goroutine of its own
	Handle                // a process that a goroutine has opened
)

// Runner is what runs the code of a process: a type for each kind, which begins with the process. It
// is the task of the process, whether a stage runs it or not.
//
// What every message passes does not call it: there the kind that is the fastest, or a bool of
// the process, is compared in place. Those places are Process.Deliver, Process.push, and those who read
// from connections.
type Runner interface {
	executor.Task
	// Wake has the process look at its inbox. The caller owes it that: see [inbox.Inbox].
	Wake(a *Acting)
	// Prod is wake for a UserMailbox, which says Wake by rules of its own.
	Prod(a *Acting)
	// Start lets the process run for the first time. fresh: an Init is to be run. inline: of the
	// pool, for the goroutine that spawns; nil: none.
	Start(a *Acting, inline *executor.InlineWorker, fresh bool)
	// Exited ends what waits in the code of the process, which is dead. armed: its inbox was
	// when it was closed. own: its own code has ended it.
	Exited(a *Acting, armed, own bool)
	// Busy reports whether the code of the process, which has been ended from outside, has not
	// returned and is expected to.
	Busy(a *Acting) bool
	// Owning calls f while nobody else touches the queue; for the process's own code.
	Owning(a *Acting, f func())
	// Inspect is owning for other goroutines.
	Inspect(f func())
	// Here reports whether the calling goroutine runs the code of the process, which is dead. It
	// takes some microseconds.
	Here() bool
	// Doing returns what the process does, if it is alive, and on which stage; -1: on none. It
	// reads what whoever runs the process writes, without a lock: each answer is true by itself,
	// and what the process did a moment ago. Anybody may ask.
	Doing() (observe.State, int)
}

// Blocker is a Runner of blocking processes: how their code waits and sends.
type Blocker interface {
	// Deliver puts msg into the mailbox of a process of this node.
	Deliver(to *Process, msg any) error
	// Promise returns the promise of the next call that the process waits for.
	Promise() *Call
	// Await waits for the answer to a call, for k of its target; of on, a copy, where that is none of this
	// node.
	Await(ctx context.Context, t Ticket, k calls.WaitKind, on wire.Dest) (any, error)
	// Answered ends await. a is who has answered.
	Answered(a *Acting)
	// Context returns a context that is cancelled when the process exits.
	Context() context.Context
	// Unwind ends the goroutine of the process, which is dead; a handle's goes on.
	Unwind()
	// WaitLocked is what the process waits for, if it does what st says. The caller holds its lock.
	WaitLocked(st observe.State) observe.Wait
}

// Giver is a Runner that takes a message that ends a wait in hand.
type Giver interface{ Give(n *inbox.Node) }

// Runner returns what runs p.
func (p *Process) Runner() Runner { return p.Task().(Runner) }

// OnStage reports whether a stage runs p.
func (p *Process) OnStage() bool { return p.Kind <= Coroutine }

// blocks reports whether p is a blocking process.
func (p *Process) blocks() bool { return p.Kind != Actor && p.Kind != External }
