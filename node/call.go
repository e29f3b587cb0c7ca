package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/node/internal/values"
	"github.com/actornode/actornode/node/internal/waiting"
	"github.com/actornode/actornode/wire"
)

// Request is what a process that is called gets: the caller's request and what
// to answer it with. T is the type that the caller's code says. A call from another node,
// and by OTP's gen_server:call, is one too: T is the type that the body has then, or any
// if that is nil or neither a basic type, a term nor registered. See [TypeOf].
type Request[T any] struct {
	Body T
	From
}

// Result is the reply to a call as a message: to one by [SendRequest], or of a
// future by [Future.SendTo].
type Result struct {
	Tag   any // what SendRequest or SendTo was given
	Value any
	Err   error
}

// Caller is who calls: a [*Node] for a plain goroutine, a [*Context] for an
// Actor, a [*Process] for a blocking process or a handle.
type Caller interface{ caller() *acting }

// Dest is whom something is for: a process (PID), a registered name (Atom), an alias (Ref) or
// a name on a node (At).
type Dest = wire.Dest

// SendRequest sends a [Request] with req and returns at once; what comes of it is
// a message to the caller, a [Result] with the tag. It is gen_server's
// send_request, and the way for an Actor to call: it costs less than a future.
func SendRequest[Q any](from Caller, to Dest, tag any, req Q) {
	a := from.caller()
	//lint:ignore SA1012 nothing ends the call but its answer
	begin(nil, a, true, a.request(tag), to, req)
}

// request returns a promise that will be a Result with the tag for the caller.
func (a *acting) request(tag any) *call {
	var p *call
	if a.ctx != nil {
		p = a.ctx.promise()
	} else {
		p = &call{node: a.node}
	}
	p.waiter, p.asker, p.tag = nil, a.p, tag
	return p
}

// begin sends a request on behalf of p, whose waiter, asker or more is set. ctx, nil
// for none, bounds how long it waits for room in a bounded mailbox. async says that the caller
// does not wait for the reply.
func begin[Q any](ctx context.Context, a *acting, async bool, p *call, to Dest, req Q) ticket {
	n := a.node
	p.target = nil
	t := p.arm()
	from := From{t: t}
	mayCarry := false
	if a.p != nil {
		from.caller = a.p.id + 1
		if a.p.status.Load() != alive {
			if a.p.gone() {
				t.settle(a, nil, ErrExited)
				return t
			}
			mayCarry = true
		}
	}
	m := Request[Q]{req, from}
	switch to := to.(type) {
	case PID:
		p.target = n.lookup(to)
		if p.target == nil && n.callFar(a, async, t, to, At{}, req) {
			return t
		}
		if p.target == nil {
			if err := n.undeliverable(to, m); err != nil {
				t.settle(a, nil, err)
				return t
			}
		}
	case Atom:
		var err error
		if p.target, err = n.named(to, m); err != nil {
			t.settle(a, nil, err)
			return t
		}
	case At:
		if to.Node != n.cfg.Name {
			if !n.callFar(a, async, t, PID{}, to, req) {
				t.settle(a, nil, &ExitError{NoConnection})
			}
			return t
		}
		var err error
		if p.target, err = n.named(to.Name, m); err != nil {
			t.settle(a, nil, err)
			return t
		}
	case Ref:
		if at, far := n.elsewhere(to); far {
			if !n.callFar(a, async, t, PID{}, at, req) {
				t.settle(a, nil, &ExitError{NoConnection})
			}
			return t
		}
		p.target = n.aliased(to, m)
	default:
		a.beginByName(async, t, to)
		return t
	}
	if p.target == a.p && !async && a.p != nil {
		t.settle(a, nil, ErrSelfCall)
		return t
	}
	if n.cycles != nil && !async {
		if err := a.mayAwait(t, waiting.Reply); err != nil {
			t.settle(a, nil, err)
			return t
		}
	}
	if p.target == nil || !p.list() {
		t.settle(a, nil, &ExitError{NoProc})
		return t
	}
	if t := n.traces(); t != nil {
		t.Message(a.pid(), p.target.pid(), m)
	}
	var err error
	if p.target.boxed {
		if err = p.target.offer(a, m, &patience{ctx, a.p, !async}); err == ErrNoProcess {
			err = nil // its exit has settled the call
		}
	} else if mayCarry {
		err = p.target.deliverWith(a, m, a.p.token())
	} else {
		err = p.target.deliver(a, m)
	}
	if err != nil {
		t.settle(a, nil, err)
	}
	return t
}

// promise returns a promise for a call that the caller will wait for.
func (a *acting) promise() *call {
	if a.proc != nil {
		p := &a.proc.prepare().call
		p.waiter = a.proc
		return p
	}
	p := &struct {
		call
		watches
	}{}
	p.node, p.more = a.node, &p.watches
	return &p.call
}

// Call sends a [Request] with req and waits for the reply. Errors: what the
// reply says; [*ExitError] if the process exits first (errors.Is it
// [ErrNoProcess] if there was none); [ErrNoName]; [ErrMailboxFull];
// [ErrReplyType]; [ErrSelfCall]; [ErrCycle]; [ErrDropped] if a bounded mailbox loses the request;
// [ErrExited] if the caller is killed meanwhile; and the cause of ctx's end. A reply that
// comes later than that is a dead letter. An Actor's stage goes on without it while it waits.
func Call[R, Q any](ctx context.Context, from Caller, to Dest, req Q) (R, error) {
	a := from.caller()
	v, err := a.await(ctx, begin(ctx, a, false, a.promise(), to, req), waiting.Reply, to)
	r, mistyped := typed[R](v, err)
	if _, refused := mistyped.(*values.Refusal); err == nil && mistyped != nil && !refused {
		mistyped = fmt.Errorf("%w, from %s for a %T", mistyped, destText(to), req)
	}
	return r, mistyped
}

// destText is a destination in an error. A Dest that is formatted as it is would be on the heap in each call.
func destText(to Dest) string {
	switch to := to.(type) {
	case PID:
		return to.String()
	case Atom:
		return string(to)
	case Ref:
		return to.String()
	case At:
		return to.String()
	}
	return "a function"
}

// await waits for t in the way that is proper for the caller: for k of whom on stands for.
func (a *acting) await(ctx context.Context, t ticket, k waiting.Kind, on Dest) (any, error) {
	switch s := a.proc; {
	case a.p == nil:
		a.block()
		return t.waitOr(ctx, nil)
	case s == nil || a.node.cycles != nil:
		return a.awaitNoted(ctx, t, k, on)
	default:
		s.waitsFor(k, on, t)
		return s.waiter().await(ctx, t)
	}
}

// awaitNoted is await for an Actor's handler, and with Config.DetectCycles for each process.
func (a *acting) awaitNoted(ctx context.Context, t ticket, k waiting.Kind, on Dest) (any, error) {
	if a.node.cycles != nil {
		defer a.node.cycles.Remove(a.p)
	}
	if s := a.proc; s != nil {
		s.waitsFor(k, on, t)
		return s.waiter().await(ctx, t)
	}
	a.block()
	if p := t.p.target; p != nil {
		on = p.pid()
	}
	a.p.waitsFor(k, on)
	defer a.p.waitsNoMore()
	return t.waitOr(ctx, a.p.context().Done())
}

func typed[R any](v any, err error) (R, error) {
	r, ok := v.(R)
	if err != nil || ok || v == nil {
		return r, err
	}
	if convert(v, &r) == nil { // a term, for what it stands for
		return r, nil
	}
	var none R
	return none, replyError[R](v)
}

// AwaitExit waits until a process has exited and returns its exit reason: noproc
// if there was none to wait for. The error is the cause of ctx's end, or [ErrCycle], or that
// the calling process has exited.
func AwaitExit(ctx context.Context, from Caller, to Dest) (reason any, err error) {
	a := from.caller()
	p := a.promise()
	p.target = nil
	t := p.arm()
	var far *peer
	var pid PID
	var name Atom
	switch to := to.(type) {
	case PID:
		p.target, pid = a.node.lookup(to), to
		far = a.node.reach(to)
	case Atom:
		p.target = a.node.whose(to)
	case Ref:
		if at, ok := a.node.elsewhere(to); ok {
			return AwaitExit(ctx, from, at)
		}
		p.target = a.node.aliasOwner(to)
	case At:
		if far, name = a.node.peer(to.Node), to.Name; to.Node == a.node.cfg.Name {
			p.target = a.node.whose(to.Name)
		}
	}
	switch {
	case far != nil:
		far.watchFor(a, t, a.sender(), pid, name)
	case p.target == nil || !p.list():
		t.settle(a, nil, nil)
		return NoProc, nil
	}
	if err = a.mayAwait(t, waiting.Exit); err != nil {
		t.settle(a, nil, err)
		return nil, err
	}
	_, err = a.await(ctx, t, waiting.Exit, to)
	if errors.Is(err, ErrNoName) {
		return NoProc, nil
	}
	if e, ok := err.(*ExitError); ok {
		if cause, _ := context.Cause(ctx).(*ExitError); cause != e {
			return e.Reason, nil
		}
	}
	return nil, err
}
