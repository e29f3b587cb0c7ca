package node

import (
	"context"
	"errors"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
)

// ErrIgnore, returned from an Initializer's Init, ends the process with the reason normal and says that this is no
// failure: there is nothing to run. [SpawnWait] returns it then. Erlang's ignore.
var ErrIgnore error = ignore{}

// ignore is [ErrIgnore].
type ignore struct{}

func (ignore) Error() string { return "node: Init returned ErrIgnore: the process does not run" }

// Unwrap returns how the process ends.
func (ignore) Unwrap() error { return ErrStop }

// ErrPending, returned from an Initializer's Init, says that the process handles messages from now on but has not
// started yet: it calls [Context.Announce] when it has, or exits if that fails. Erlang's init_ack, for those whose
// start takes more than one message.
var ErrPending = errors.New("node: the start continues after Init returns")

// Announce says that the process has started, after an Init that returned [ErrPending]. It does nothing if nobody waits
// for it.
func (c *Context) Announce() {
	if p := c.own.Own(); p.Tells {
		p.Tells = false
		announce(p, c.by, false)
	}
}

// Started is what a process that was spawned with [Options].Announce sends to the one that spawned it: Init has
// returned nil, or [ErrIgnore]. If Init fails, the exit signal of the link says why instead.
type Started struct {
	PID     PID
	Ignored bool // the process has not started, and that is no failure
}

// born goes on after Init has returned err.
func born(p *process.Process, a *process.Acting, err error) {
	ignored := false
	if _, exits := err.(*chosen); err != nil && !exits { // nearly all that end have chosen a reason
		if errors.Is(err, ErrPending) {
			return
		}
		ignored = errors.Is(err, ErrIgnore)
	}
	if ignored {
		runner.ForgetName(p) // the process that is told may want the name
	}
	if p.Tells && (err == nil || ignored) {
		p.Tells = false
		announce(p, a, ignored)
	}
	if err != nil {
		p.Exit(a, ReasonOf(err))
	}
}

// announce says that Init has returned.
func announce(p *process.Process, a *process.Acting, ignored bool) {
	if p.Cold != nil && p.Cold.Birth.Call != nil {
		var err error
		if ignored {
			err = ErrIgnore
		}
		p.Cold.Birth.Settle(a, nil, err)
		return
	}
	p.Announced()
	if parent := p.System.Numbered(p.Parent - 1); parent != nil {
		parent.Signal(a, Started{PID: p.PID(), Ignored: ignored})
	}
}

// SpawnWait starts a process and returns when the Init of an [Initializer] has returned; another behaviour has started
// as soon as it is spawned. It is what proc_lib:start and start_link are in Erlang. Errors besides those of SpawnOpt:
// [ErrIgnore]; [ErrCycle]; [*ExitError], which wraps the error of Init, if the process exits before; the error of ctx,
// in which case the process has been killed, or not been spawned. After an error the caller has no link to the process,
// no monitor of it and no message from it; but if it does not trap exits, a linked process that fails takes it down.
func SpawnWait(ctx context.Context, from Caller, o Options, b Actor) (PID, error) {
	a := actingOf(from)
	if ctx.Err() != nil && !a.Gone() {
		return PID{}, cause.Of(ctx)
	}
	o.Announce = false
	promise := a.Promise()
	birth := promise.NewTicket()
	promise.Target = nil
	o.birth = birth
	pid, err := nodeOf(a.System).spawn(a, &o, b)
	if err != nil {
		birth.Settle(a, nil, err)
		return PID{}, err
	}
	if _, err = a.Await(ctx, birth, calls.WaitStart, pid); err == nil {
		return pid, nil
	}
	if a.Process != nil {
		a.Process.Unlink(a, pid)
		if o.Monitor != nil {
			a.Process.Demonitor(a, *o.Monitor, true)
			*o.Monitor = Ref{}
		}
		if o.Link {
			a.Process.Discard(a, func(msg any) bool {
				e, ok := msg.(Exited)
				return ok && e.From == pid
			})
		}
	}
	if err != ErrIgnore { // it is about to end by itself then
		nodeOf(a.System).Exit(pid, Kill) // unless it is dead already
	}
	return PID{}, err
}
