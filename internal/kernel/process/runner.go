package process

import (
	"context"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// Kind is the kind of a process's runner. Set at spawn.
type Kind uint8

const (
	Actor     Kind = iota // an Actor on a stage
	Coroutine             // a blocking process on a stage
	External              // an Actor with a scheduler of its own, or a detached one
	Goroutine             // a blocking process with a goroutine of its own
	Handle                // a process opened by a goroutine
)

// Runner runs the code of a process: a type for each kind, which begins with the process. It is the task of the process,
// whether a stage runs it or not.
//
// The paths that every message takes do not call it: they compare the fastest kind, or a bool of the process, directly. These
// are Process.Deliver, Process.Push, and the readers of connections.
type Runner interface {
	executor.Task
	// Wake makes the process check its inbox. The inbox has obliged the caller to call it: see [inbox.Inbox].
	Wake(a *Acting)
	// Prod is Wake for a UserMailbox, which returns Wake by rules of its own.
	Prod(a *Acting)
	// Start runs the process for the first time. fresh reports that an Init must be run. inline is the pool's inline worker of
	// the spawning goroutine, or nil.
	Start(a *Acting, inline *executor.InlineWorker, fresh bool)
	// Exited ends waits in the code of the process, which is dead. armed reports whether its inbox was armed when it was closed,
	// own whether its own code has ended it.
	Exited(a *Acting, armed, own bool)
	// Busy reports whether the code of the process, which has been ended from outside, has not returned and is expected to.
	Busy(a *Acting) bool
	// Owning calls f with exclusive access to the queue; for the process's own code.
	Owning(a *Acting, f func())
	// Inspect is Owning for other goroutines.
	Inspect(f func())
	// Doing returns the state of the process, if it is alive, and its stage, or -1 if it is on none. It reads without a lock
	// what the goroutine that runs the process writes: each result is valid by itself, and may be slightly outdated. It may be
	// called concurrently.
	Doing() (observe.State, int)
}

// Blocker is a Runner of blocking processes, whose code waits and sends.
type Blocker interface {
	// Deliver puts msg into the mailbox of a local process.
	Deliver(to *Process, msg any) error
	// Promise returns the promise of the next call that the process waits for.
	Promise() *Call
	// Await waits for the answer to a call. k is what it waits for, from its target; on, a copy, names the target if that is not
	// local.
	Await(ctx context.Context, t Ticket, k calls.WaitKind, on wire.Dest) (any, error)
	// Answered ends Await. a is who has answered.
	Answered(a *Acting)
	// Context returns a context that is cancelled when the process exits.
	Context() context.Context
	// Unwind ends the goroutine of the process, which is dead; a handle's goroutine continues.
	Unwind()
	// WaitLocked returns what the process waits for in the state st. The caller holds its lock.
	WaitLocked(st observe.State) observe.Wait
}

// Giver is a Runner that directly takes a message that ends a wait.
type Giver interface{ Give(n *inbox.Node) }

// Runner returns the runner of p.
func (p *Process) Runner() Runner { return p.Task().(Runner) }

// OnStage reports whether a stage runs p.
func (p *Process) OnStage() bool { return p.Kind <= Coroutine }

// blocks reports whether p is a blocking process.
func (p *Process) blocks() bool { return p.Kind != Actor && p.Kind != External }
