package node

import (
	"context"
	"github.com/actornode/actornode/internal/kernel/calls"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
)

// Future is the reply to a call that is under way. Any number of goroutines can pass it around and await it.
//
// If R is builtin or registered, it can be sent to other Go nodes, and be a field, of type *Future[R], of a registered
// type: there it is a Future[R], too. Each copy asks the future's node once, when somebody first waits for the copy. A
// copy fails with [*ExitError]: noconnection if its node is lost, and noproc if it asks later than 5 minutes after the
// future was completed, or when 1000 others have been since. Who cancels a copy gives up for all who wait on that copy.
type Future[R any] struct {
	p process.Call
	w process.Watches
	t process.Ticket

	to  Dest             // who was called; nil: it was made without a call, or by another node
	by  *process.Process // who has made it; nil: no process, or another node
	far *farFuture       // of one of another node; nil: it is of this node
}

// Async sends a [Request] with req and returns at once. The future is completed
// by the reply, by the exit of the process that was called ([*ExitError]), or
// by [Future.Cancel] and the end of a context of [Await]. The process that was called is told of no deadline: see
// [From.Deadline].
func Async[R, Q any](from Caller, to Dest, req Q) *Future[R] {
	a := actingOf(from)
	f := &Future[R]{}
	f.p.System, f.p.More, f.to, f.by = a.System, &f.w, to, a.Process
	//lint:ignore SA1012 nothing ends the call but its answer
	f.t = begin(nil, a, true, &f.p, to, req)
	return f
}

// Await waits for the reply, as [Call] does: an Actor gives up its stage meanwhile, and the wait of a process ends with
// its death. If ctx ends first, the error is its cause. If the caller has made the future, it then gives up on it, for
// all who wait; otherwise the others go on waiting. All goroutines that pass the [*Node] as the caller count as one maker:
// if the future was made for the Node, each of them gives up for all. Errors: those of Call; see [ErrCycle], too.
func Await[R any](ctx context.Context, from Caller, f *Future[R]) (R, error) {
	a := actingOf(from)
	w := f.watches()
	p := a.Promise()
	t := p.NewTicket()
	p.Target = nil
	err := a.MayAwait(process.Ticket{}, f.t, calls.WaitFuture, func() bool { return p.Waiting(t.N) })
	if err != nil {
		t.Settle(a, nil, err)
		return typed[R](nil, err)
	}
	number := w.Add(a, func(a *process.Acting) {
		v, err := f.p.Result()
		t.Settle(a, v, err)
	})
	v, err := a.Await(ctx, t, calls.WaitFuture, f.maker())
	if !f.t.Done() {
		w.Remove(number)
		if f.far == nil && f.by == a.Process {
			f.t.Settle(a, nil, err)
		}
	}
	return typed[R](v, err)
}

// read is what a reader gets: with isolation.Config.Copy a value of its own.
func (f *Future[R]) read(v any, err error) (R, error) {
	if t := f.p.System.Traces(); t != nil && err == nil {
		v, err = t.Read(v)
	}
	return typed[R](v, err)
}

// Result returns the reply, or why there is none, if the future is completed. [Await] waits for it.
func (f *Future[R]) Result() (v R, done bool, err error) {
	f.ask()
	if !f.t.Done() {
		return v, false, nil
	}
	v, err = f.read(f.p.Result())
	return v, true, err
}

// Done returns a channel that is closed when the future is completed.
func (f *Future[R]) Done() <-chan struct{} { return f.watches().Signal() }

// maker is who should complete the future; nil: unknown.
func (f *Future[R]) maker() Dest {
	if f.far != nil {
		return f.far.ref
	}
	if p := f.p.Target; p != nil {
		return p.PID()
	}
	return f.to
}

// Cancel gives up on the reply, and reports whether it had not come yet.
func (f *Future[R]) Cancel() bool {
	f.w.Want() // who gives up knows that there may be an error
	return f.t.Settle(&f.p.System.Plain, nil, context.Canceled)
}

// SendTo sends a [Result] with the tag to a process when the future is completed. A name or an alias means the process
// that has it then. For a process of this node the Result goes past the bound of its mailbox; one that nobody gets is a
// dead letter.
func (f *Future[R]) SendTo(to Dest, tag any) {
	f.watches().Add(&f.p.System.Plain, runner.Keeping(f.p.System, to, func(a *process.Acting) {
		v, err := f.read(f.p.Result())
		r := Result{Tag: tag, Err: err}
		if err == nil {
			r.Value = v
		}
		nodeOf(f.p.System).sendResult(a, to, r)
	}))
}

// sendResult sends r to a process, past the bound of its mailbox if it is of this node. It does not block, and reports
// no failure.
func (n *Node) sendResult(a *process.Acting, to Dest, r Result) {
	t := n.sys.Target(to)
	if t.Process == nil { // what is lost is a dead letter
		_ = n.SendOpt(SendOptions{NoWait: true}, to, r)
	} else if m, err := n.sys.Take(&t, r); err == nil {
		t.Process.Signal(a, m)
	}
}
