package node

import (
	"context"

	"github.com/actornode/actornode/internal/executor"
	"github.com/actornode/actornode/node/observe"
)

// kind says which runner a process has. Set at spawn.
type kind uint8

const (
	kindActor     kind = iota // actor
	kindCoroutine             // coroutine
	kindExternal              // external
	kindGoroutine             // goroutine
	kindHandle                // handle
)

// runner is what runs the code of a process: a type for each kind. Each is the process
// itself under another type, so none takes memory.
//
// What every message passes does not call it: there the kind that is the fastest, or a bool of
// the process, is compared in place. Those places are proc.deliver, proc.push, Process.Receive,
// Process.deliver, and peer.hand with what the reader asks of its target.
type runner interface {
	// wake has the process look at its inbox. The caller owes it that: see [inbox.Inbox].
	wake(a *acting)
	// prod is wake for a userMailbox, which says Wake by rules of its own.
	prod(a *acting)
	// start lets the process run for the first time. fresh: an Init is to be run. inline: of the
	// pool, for the goroutine that spawns; nil: none.
	start(a *acting, inline *executor.InlineWorker, fresh bool)
	// exited ends what waits in the code of the process, which is dead. armed: its inbox was
	// when it was closed. own: its own code has ended it.
	exited(a *acting, armed, own bool)
	// busy reports whether the code of the process, which has been ended from outside, has not
	// returned and is expected to.
	busy(a *acting) bool
	// owning calls f while nobody else touches the queue; for the process's own code.
	owning(a *acting, f func())
	// inspect is owning for other goroutines.
	inspect(f func())
	// here reports whether the calling goroutine runs the code of the process, which is dead. It
	// takes some microseconds.
	here() bool
	// doing returns what the process does, if it is alive, and on which stage; -1: on none. It
	// reads what whoever runs the process writes, without a lock: each answer is true by itself,
	// and what the process did a moment ago. Anybody may ask.
	doing() (observe.State, int)
}

// runner returns p as what runs it.
func (p *proc) runner() runner {
	switch p.kind {
	case kindActor:
		return (*actor)(p)
	case kindCoroutine:
		return (*coroutine)(p.process())
	case kindExternal:
		return (*external)(p)
	case kindGoroutine:
		return (*goroutine)(p.process())
	}
	return handle{(*goroutine)(p.process())}
}

// task returns p as a stage runs it; nil: none does.
func (p *proc) task() executor.Task {
	switch p.kind {
	case kindActor:
		return (*actor)(p)
	case kindCoroutine:
		return (*coroutine)(p.process())
	}
	return nil
}

// onStage reports whether a stage runs p.
func (p *proc) onStage() bool { return p.kind <= kindCoroutine }

// process returns the Process that p is part of. Not for an Actor.
func (p *proc) process() *Process { return p.behaviour.(blocking).Process }

// waiter is how the code of a Process waits for a reply: a type for each kind. For a message see
// Process.receive.
type waiter interface {
	// await waits for the answer to a call.
	await(ctx context.Context, t ticket) (any, error)
	// answered ends await. a is who has answered.
	answered(a *acting)
}

// waiter returns s as what waits.
func (s *Process) waiter() waiter {
	if s.co != nil {
		return (*coroutine)(s)
	}
	return (*goroutine)(s)
}
