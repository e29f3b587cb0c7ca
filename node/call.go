package node

import (
	"context"
	"fmt"
	"time"
)

// Request is what a process that is called gets: the caller's request and what
// to answer it with.
type Request[T any] struct {
	Body T
	From
}

// From is where a reply goes. It can be kept, sent and used from anywhere, once.
type From struct {
	t      ticket
	caller uint64 // number of the calling process, plus 1; 0: a plain goroutine
}

// Reply answers the caller. [ErrReplied] if somebody has done so, or if the
// caller has given up: such a reply is a dead letter, never a message.
func (f From) Reply(v any) error { return f.answer(nil, v, nil) }

// Fail answers the caller with an error.
func (f From) Fail(err error) error { return f.answer(nil, nil, err) }

func (f From) answer(c *Context, v any, err error) error {
	if f.t.settle(c, v, err) {
		return nil
	}
	if f.t.p != nil {
		f.t.p.node.dead.add(DeadLetter{Cause: CauseLateReply, To: f.Caller(), Message: bare(v)})
	}
	return ErrReplied
}

// Pending reports whether the caller still waits.
func (f From) Pending() bool { return f.t.pending() }

// Result is the reply to a call as a message: to one by [SendRequest], or of a
// future by [Future.SendTo].
type Result struct {
	Tag   any // what SendRequest or SendTo was given
	Value any
	Err   error
}

// calling is who makes a call.
type calling struct {
	node *Node
	c    *Context
	s    *Process
	p    *proc // nil: a plain goroutine
	more bool  // makes calls that it does not wait for
}

// Caller makes calls: a [*Node] for a plain goroutine, a [*Context] for an
// Actor, a [*Process] for a Process or a handle.
type Caller interface{ caller() calling }

// Dest is whom a call is for: a process, a registered name, or an alias.
type Dest interface{ PID | Atom | Ref | At }

// Of returns the node of a caller.
func Of(from Caller) *Node { return from.caller().node }

// Future is the reply to a call that is under way. It can be passed around and
// awaited by any number of goroutines.
type Future[R any] struct {
	p promise
	w watches
	t ticket
}

// Async sends a [Request] with req and returns at once. The future is completed
// by the reply, by the exit of the process that was called ([*ExitError]), or
// by whoever gives up on it.
func Async[R any, T Dest, Q any](from Caller, to T, req Q) *Future[R] {
	me := from.caller()
	me.more = true
	f := &Future[R]{}
	f.p.node, f.p.more = me.node, &f.w
	f.t = begin(nil, me, &f.p, to, req)
	return f
}

// SendRequest sends a [Request] with req and returns at once; what comes of it is
// a message to the caller, a [Result] with the tag. It is gen_server's
// send_request, and the way for an Actor to call: it costs less than a future.
func SendRequest[T Dest, Q any](from Caller, to T, req Q, tag any) {
	me := from.caller()
	me.more = true
	begin(nil, me, me.request(tag), to, req)
}

// request returns a promise that will be a Result with the tag for the caller.
func (me calling) request(tag any) *promise {
	var p *promise
	if me.c != nil {
		p = me.c.promise()
	} else {
		p = &promise{node: me.node}
	}
	p.waiter, p.asker, p.tag = nil, me.p, tag
	return p
}

// begin sends a request on behalf of p, whose waiter, asker or more is set. ctx, nil
// for none, bounds how long it waits for room in a bounded mailbox.
func begin[T Dest, Q any](ctx context.Context, me calling, p *promise, to T, req Q) ticket {
	n := me.node
	p.target = nil
	t := p.arm()
	from := From{t: t}
	mayTrace := false
	if me.p != nil {
		from.caller = me.p.id + 1
		if me.p.status.Load() != alive {
			if me.p.gone() {
				t.settle(me.c, nil, ErrExited)
				return t
			}
			mayTrace = true
		}
	}
	m := Request[Q]{req, from}
	switch to := any(to).(type) {
	case PID:
		p.target = n.lookup(to)
		if p.target == nil && n.callFar(me, t, to, At{}, req) {
			return t
		}
		if p.target == nil {
			if err := n.undeliverable(to, m); err != nil {
				t.settle(me.c, nil, err)
				return t
			}
		}
	case Atom:
		var err error
		if p.target, err = n.named(to, m); err != nil {
			t.settle(me.c, nil, err)
			return t
		}
	case At:
		if to.Node != n.cfg.Name {
			if !n.callFar(me, t, PID{}, to, req) {
				t.settle(me.c, nil, &ExitError{NoConnection})
			}
			return t
		}
		var err error
		if p.target, err = n.named(to.Name, m); err != nil {
			t.settle(me.c, nil, err)
			return t
		}
	case Ref:
		p.target = n.aliased(to, m)
	}
	if p.target == nil || !p.list() {
		t.settle(me.c, nil, &ExitError{NoProc})
		return t
	}
	if t := n.traces(); t != nil {
		t.message(me.p, PID{}, p.target, m)
	}
	var err error
	if p.target.boxed {
		err = p.target.deliverBoxed(me.c, m, &patience{ctx, me.p})
	} else if mayTrace {
		err = p.target.deliverTraced(me.c, m, me.p.token())
	} else {
		err = p.target.deliver(me.c, m)
	}
	if err != nil {
		t.settle(me.c, nil, err)
	}
	return t
}

// promise returns a promise for a call that the caller will wait for.
func (me calling) promise() *promise {
	if me.s != nil {
		p := &me.s.prepare().call
		p.waiter = me.s
		return p
	}
	p := &struct {
		promise
		watches
	}{}
	p.node, p.more = me.node, &p.watches
	return &p.promise
}

// Call sends a [Request] with req and waits for the reply. Errors: what the
// reply says; [*ExitError] if the process exits first (errors.Is it
// [ErrNoProcess] if there was none); [ErrNoName]; [ErrMailboxFull];
// [ErrReplyType]; and the cause of ctx's end. A reply that comes later than
// that is a dead letter. An Actor's stage goes on without it while it waits.
func Call[R any, T Dest, Q any](ctx context.Context, from Caller, to T, req Q) (R, error) {
	me := from.caller()
	return typed[R](me.await(ctx, begin(ctx, me, me.promise(), to, req)))
}

// await waits for t in the way that is proper for the caller.
func (me calling) await(ctx context.Context, t ticket) (any, error) {
	switch {
	case me.s != nil && me.s.co != nil:
		return t.parkCo(ctx, me.s)
	case me.s != nil:
		return t.park(ctx, me.s)
	case me.c != nil:
		me.c.block()
	}
	return t.wait(ctx)
}

// CallWithin is Call with a timeout in place of a context: [ErrTimeout] after d.
func CallWithin[R any, T Dest, Q any](d time.Duration, from Caller, to T, req Q) (R, error) {
	if d < 0 {
		var none R
		return none, ErrBadTimeout
	}
	if d == Infinity {
		return Call[R](context.Background(), from, to, req)
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), d, ErrTimeout)
	defer cancel()
	return Call[R](ctx, from, to, req)
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
	return none, fmt.Errorf("%w: got %T, want %T", ErrReplyType, v, none)
}

// Await waits for the reply; if ctx ends first, it gives up on behalf of all who
// wait. In an Actor's handler use [Future.SendTo] instead.
func (f *Future[R]) Await(ctx context.Context) (R, error) { return typed[R](f.t.wait(ctx)) }

// Poll waits for the reply for d at most; 0 only looks. Other than Await it does
// not give up: [ErrTimeout] says that the call is still under way.
func (f *Future[R]) Poll(d time.Duration) (R, error) {
	var none R
	if d < 0 {
		return none, ErrBadTimeout
	}
	if !f.t.done() && d > 0 {
		late := time.NewTimer(d)
		defer late.Stop()
		select {
		case <-f.Done():
		case <-late.C:
		}
	}
	if !f.t.done() {
		return none, ErrTimeout
	}
	return typed[R](f.p.value, f.p.err)
}

// Done returns a channel that is closed when the future is completed.
func (f *Future[R]) Done() <-chan struct{} { return f.w.signal() }

// Cancel gives up on the reply. It reports whether it had not come yet.
func (f *Future[R]) Cancel() bool { return f.t.settle(nil, nil, context.Canceled) }

// SendTo sends a [Result] with the tag to a process when the future is completed.
func (f *Future[R]) SendTo(to PID, tag any) {
	f.w.add(func(c *Context) {
		v, err := typed[R](f.p.value, f.p.err)
		r := Result{Tag: tag, Err: err}
		if err == nil {
			r.Value = v
		}
		if p := f.p.node.lookup(to); p != nil {
			p.signal(c, r)
		} else {
			f.p.node.undeliverable(to, r)
		}
	})
}

// Awaitable is any Future.
type Awaitable interface{ Done() <-chan struct{} }

// AwaitExit waits until a process has exited and returns its exit reason: noproc
// if there was none to wait for. The error is the cause of ctx's end, or that
// the calling process has exited.
func AwaitExit[T Dest](ctx context.Context, from Caller, to T) (reason any, err error) {
	me := from.caller()
	p := me.promise()
	p.target = nil
	t := p.arm()
	var far *peer
	var pid PID
	var name Atom
	switch to := any(to).(type) {
	case PID:
		p.target, pid = me.node.lookup(to), to
		far = me.node.reach(to)
	case Atom:
		p.target = me.node.names.get(to)
	case Ref:
		p.target = me.node.aliasOwner(to)
	case At:
		if far, name = me.node.peer(to.Node), to.Name; to.Node == me.node.cfg.Name {
			p.target = me.node.names.get(to.Name)
		}
	}
	switch {
	case far != nil:
		far.watchFor(me.c, t, me.node.sender(me.p), pid, name)
	case p.target == nil || !p.list():
		t.settle(me.c, nil, nil)
		return NoProc, nil
	}
	_, err = me.await(ctx, t)
	if e, ok := err.(*ExitError); ok {
		if cause, _ := context.Cause(ctx).(*ExitError); cause != e {
			return e.Reason, nil
		}
	}
	return nil, err
}

// AwaitAll waits until all futures are completed or ctx ends, whose cause it
// returns in that case.
func AwaitAll(ctx context.Context, futures ...Awaitable) error {
	for _, f := range futures {
		select {
		case <-f.Done():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Resolve finds the process that a destination stands for now.
func Resolve[T Dest](from Caller, to T) (PID, bool) {
	n := from.caller().node
	switch to := any(to).(type) {
	case PID:
		return to, true
	case Atom:
		return n.Whereis(to)
	case Ref:
		if p := n.aliasOwner(to); p != nil {
			return p.pid(), true
		}
	}
	return PID{}, false
}
