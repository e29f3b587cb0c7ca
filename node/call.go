package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/wire"
)

// Request is what a called process gets: the caller's request and the means to answer it. T is the type in the caller's
// code. A call from another node, and by OTP's gen_server:call, is one too: T is then the body's type, or any if the
// body is nil or of a type that is neither basic, a term nor registered. See [TypeOf].
type Request[T any] struct {
	Body T
	From
}

// Result is the reply to a call as a message: after [SendRequest], or [Future.SendTo].
type Result struct {
	Tag   any // what SendRequest or SendTo was given
	Value any
	Err   error
}

// Caller is who calls: a [*Node] for a plain goroutine, a [*Context] for an
// Actor, a [*Process] for a blocking process or a handle.
type Caller interface{ Inside(process.Key) inside }

// Dest is a destination: a process (PID), a registered name (Atom), an alias (Ref) or a name on a node (At). A name is
// an Atom, not a string: Send(node.Atom("till"), m).
type Dest = wire.Dest

// Global is a [Dest], too: the process that has a name of the cluster, any term, when it is used. See package global.
func Global(name any) Dest { return tables.Global{Name: name} }

// SendRequest sends a [Request] with req and returns at once; the caller gets the outcome as a message, a [Result] with
// the tag. It is gen_server's send_request, and the way for an Actor to call: it costs less than a future. The process that
// is called is told of no deadline: see [From.Deadline].
func SendRequest[Q any](from Caller, to Dest, tag any, req Q) {
	a := actingOf(from)
	//lint:ignore SA1012 nothing ends the call but its answer
	begin(nil, a, true, a.Requested(runner.Expected(a.Process, tag)), to, req)
}

// begin sends a request on behalf of p, whose waiter, asker or more is set. It sends nothing if ctx, which may be nil,
// has ended. ctx bounds the wait for space in a bounded mailbox. async says that the caller does not wait for the
// reply.
func begin[Q any](ctx context.Context, a *process.Acting, async bool, p *process.Call, to Dest, req Q) process.Ticket {
	n := nodeOf(a.System)
	t := p.NewTicket()
	p.Target = nil
	p.SetDeadline(ctx)
	from := From{t: t}
	mayCarry := a.Process == nil
	if a.Process != nil {
		from.caller = a.Process.ID + 1
		if !a.Process.Plain() {
			if a.Gone() {
				t.Settle(a, nil, ErrExited)
				return t
			}
			mayCarry = true
		}
	}
	if ctx != nil && ctx.Err() != nil { // nothing is sent
		t.Settle(a, nil, cause.Of(ctx))
		return t
	}
	if mayCarry && a.Checked() {
		if err := a.MaySend(to, req, true); err != nil {
			t.Settle(a, nil, err)
			return t
		}
	}
	var msg any
	if pid, ok := to.(PID); ok {
		p.Target = n.sys.Lookup(pid)
	}
	if p.Target == nil {
		switch to.(type) {
		case erpc.Function, erpc.Behaviour:
			n.beginByName(ctx, a, async, t, to)
			return t
		}
		target := n.sys.Target(to)
		if target.Node != "" && n.peers.Call(a, async, t, target, req, n.token(ctx, a)) {
			return t
		}
		msg = Request[Q]{req, from}
		var err error
		switch {
		case !target.ByName():
			if msg, err = n.sys.Take(&target, msg); err == ErrNoProcess {
				err = gone(to)
			}
		default:
			err = n.unreachable(target.Node)
		}
		if err != nil {
			t.Settle(a, nil, err)
			return t
		}
		p.Target = target.Process
	} else {
		msg = Request[Q]{req, from}
	}
	if p.Target == a.Process && !async && a.Process != nil {
		t.Settle(a, nil, ErrSelfCall)
		return t
	}
	if n.sys.Cycles != nil && !async {
		if err := a.MayAwait(process.Ticket{}, t, calls.WaitReply, nil); err != nil {
			t.Settle(a, nil, err)
			return t
		}
	}
	if !p.List() {
		t.Settle(a, nil, gone(to))
		return t
	}
	var err error
	if tr := n.sys.Traces(); tr != nil {
		if msg, err = p.Target.Shown(tr, a.PID(), msg); err != nil {
			t.Settle(a, nil, err)
			return t
		}
	}
	if p.Target.Boxed {
		if err = p.Target.Offer(a, msg, &process.Patience{Ctx: ctx, From: a.Process, Noted: !async}); err == ErrNoProcess {
			err = nil // its exit has settled the call
		}
	} else if mayCarry {
		err = p.Target.DeliverWith(a, msg, n.token(ctx, a))
	} else {
		err = p.Target.Deliver(a, msg)
	}
	if err != nil {
		t.Settle(a, nil, err)
	}
	return t
}

// token returns the token for what a sends now, in a call with ctx, which may be nil.
func (n *Node) token(ctx context.Context, a *process.Acting) any {
	if a.Process != nil || n.cfg.TokenLabel == nil || ctx == nil {
		return a.Process.Token()
	}
	label := n.cfg.TokenLabel(ctx)
	if label == nil {
		return nil
	}
	return watch.NewToken(label, a.Sender())
}

// gone is the error for a request that is not sent because the process is gone.
func gone(to Dest) error {
	switch to := to.(type) {
	case Atom, At:
		return fmt.Errorf("%w: %s", ErrNoName, erpc.DestText(to))
	case tables.Global:
		return fmt.Errorf("%w: global %v", ErrNoName, to.Name)
	}
	return &ExitError{Reason: NoProc}
}

// Call sends a [Request] with req and waits for the reply. Errors: what the reply says; [*ExitError] if the process
// exits first (errors.Is it [ErrNoProcess] if there was none); [ErrNoName]; [ErrMailboxFull]; [ErrReplyType];
// [ErrSelfCall]; [ErrCycle]; [ErrDropped] if a bounded mailbox loses the request; [ErrExited] if the caller is killed
// meanwhile; and if ctx ends first, its error ([context.Canceled] or [context.DeadlineExceeded]), which also wraps the
// cause. A later reply is a dead letter; if ctx has ended before, nothing is sent. While an Actor waits, its stage goes
// on without it.
func Call[R, Q any](ctx context.Context, from Caller, to Dest, req Q) (R, error) {
	a := actingOf(from)
	v, err := a.Await(ctx, begin(ctx, a, false, a.Promise(), to, req), calls.WaitReply, to)
	r, mistyped := typed[R](v, err)
	if _, refused := mistyped.(*values.Refusal); err == nil && mistyped != nil && !refused {
		if mistyped = fmt.Errorf("%w, from %s", mistyped, erpc.DestText(to)); any(req) != any(struct{}{}) {
			mistyped = fmt.Errorf("%w for a request of type %T", mistyped, req)
		}
	}
	return r, mistyped
}

func typed[R any](v any, err error) (R, error) {
	if err != nil {
		if w, watched := err.(*watch.Replied); watched {
			return typed[R](w.Open(), nil)
		}
		var none R
		return none, err
	}
	r, ok := v.(R)
	if ok || v == nil {
		return r, nil
	}
	why := convert(v, &r)
	if why == nil { // a term, for what it stands for
		return r, nil
	}
	var none R
	return none, replyError[R](v, why)
}

// AwaitExit waits until a process has exited and returns its exit reason: noproc if there was none to wait for. See
// [ExitError] for the errors in it. The error is that of ctx, which also wraps the cause, or [ErrCycle], or
// [ErrSelfCall], or says that the calling process has exited.
func AwaitExit(ctx context.Context, from Caller, to Dest) (reason any, err error) {
	a := actingOf(from)
	a.Own() // or panic
	if ctx.Err() != nil && !a.Gone() {
		return nil, cause.Of(ctx)
	}
	target := a.System.Target(to)
	if target.Process == a.Process && a.Process != nil {
		return nil, fmt.Errorf("%w, and for its own exit", ErrSelfCall)
	}
	p := a.Promise()
	t := p.NewTicket()
	p.Target, p.Tag = target.Process, process.OfExit
	defer func() { p.Tag = nil }() // it may be that of another call
	far := nodeOf(a.System).peers.Of(target, false)
	switch {
	case far != nil:
		far.AwaitExit(a, t, target)
	case p.Target == nil || !p.List():
		t.Settle(a, nil, nil)
		return NoProc, nil
	}
	if err = a.MayAwait(process.Ticket{}, t, calls.WaitExit, nil); err != nil {
		t.Settle(a, nil, err)
		return nil, err
	}
	_, err = a.Await(ctx, t, calls.WaitExit, to)
	if e, ok := err.(*ExitError); ok {
		return e.Reason, nil
	}
	if errors.Is(err, ErrNoName) && ctx.Err() == nil {
		return NoProc, nil
	}
	return nil, err
}
