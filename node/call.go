package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/actornode/actornode/sched"
)

// Request is what a process that is called gets: the caller's request and what
// to answer it with.
type Request[T any] struct {
	Body T
	From
}

// From is where a reply goes. It can be kept, sent and used from anywhere, once.
type From struct{ p *promise }

// Reply answers the caller. [ErrReplied] if somebody has done so, or if the
// caller has given up: such a reply is a dead letter, never a message.
func (f From) Reply(v any) error { return f.answer(nil, v, nil) }

// Fail answers the caller with an error.
func (f From) Fail(err error) error { return f.answer(nil, nil, err) }

func (f From) answer(c *Context, v any, err error) error {
	if f.p == nil || !f.p.complete(v, err) {
		if f.p != nil {
			f.p.node.dead.add(DeadLetter{Cause: CauseLateReply, To: f.p.from, Message: v})
		}
		return ErrReplied
	}
	return nil
}

// Pending reports whether the caller still waits.
func (f From) Pending() bool {
	if f.p == nil {
		return false
	}
	f.p.mu.Lock()
	defer f.p.mu.Unlock()
	return !f.p.done
}

// Result is a future turned into a message by [Future.SendTo].
type Result struct {
	Tag   any // what SendTo was given
	Value any
	Err   error
}

// promise is the untyped half of a Future: one call in flight. It watches the
// process that was called by itself, without a monitor's reference. Lock order:
// the mu of a proc, then the mu of a promise, never the other way round.
type promise struct {
	node   *Node
	from   PID // zero: a plain goroutine
	target *proc

	// Guarded by target.mu.
	next, prev *promise // of target.cold.calls
	listed     bool

	mu     sync.Mutex
	done   bool
	value  any
	err    error
	waiter *Self         // parked until done
	ch     chan struct{} // closed when done, if somebody asked for it
	then   []func()      // called when done
}

// complete answers the call; false if that had been done.
func (p *promise) complete(v any, err error) bool {
	p.mu.Lock()
	if p.done {
		p.mu.Unlock()
		return false
	}
	p.done, p.value, p.err = true, v, err
	waiter, ch, then := p.waiter, p.ch, p.then
	p.waiter, p.then = nil, nil
	p.mu.Unlock()
	p.unlist()
	if waiter != nil {
		waiter.answered()
	}
	if ch != nil {
		close(ch)
	}
	for _, f := range then {
		f()
	}
	return true
}

// list makes target's exit complete p; false: it has exited.
func (p *promise) list() bool {
	t := p.target
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status.Load() != alive {
		return false
	}
	k := t.chill()
	p.next, p.listed = k.calls, true
	if p.next != nil {
		p.next.prev = p
	}
	k.calls = p
	return true
}

func (p *promise) unlist() {
	t := p.target
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !p.listed {
		return
	}
	p.listed = false
	if p.prev != nil {
		p.prev.next = p.next
	} else if t.cold.calls == p {
		t.cold.calls = p.next
	}
	if p.next != nil {
		p.next.prev = p.prev
	}
	p.next, p.prev = nil, nil
}

// wait returns when p is done or ctx is, and gives up in the latter case.
func (p *promise) wait(ctx context.Context) (any, error) {
	p.mu.Lock()
	if p.done {
		defer p.mu.Unlock()
		return p.value, p.err
	}
	if p.ch == nil {
		p.ch = make(chan struct{})
	}
	ch := p.ch
	p.mu.Unlock()
	select {
	case <-ch:
	case <-ctx.Done():
		p.complete(nil, context.Cause(ctx))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.value, p.err
}

// park is wait for a process, which may be killed meanwhile.
func (p *promise) park(ctx context.Context, s *Self) (any, error) {
	reply := s.prepare().reply
	sched.Store(&s.parked, 1)
	defer sched.Store(&s.parked, 0)
	p.mu.Lock()
	if !p.done {
		p.waiter = s
	}
	for !p.done {
		p.mu.Unlock()
		select {
		case <-reply:
		case <-ctx.Done():
			p.complete(nil, context.Cause(ctx))
		}
		if s.p.status.Load() != alive {
			p.complete(nil, ErrExited)
			s.die()
		}
		p.mu.Lock()
	}
	defer p.mu.Unlock()
	return p.value, p.err
}

// calling is who makes a call.
type calling struct {
	node *Node
	c    *Context
	s    *Self
	p    *proc // nil: a plain goroutine
}

// Caller makes calls: a [*Node] for a plain goroutine, a [*Context] for an
// Actor, a [*Self] for a Process or a handle.
type Caller interface{ caller() calling }

// Dest is whom a call is for: a process, a registered name, or an alias.
type Dest interface{ PID | Atom | Ref }

// Future is the reply to a call that is under way. It can be passed around and
// awaited by any number of goroutines.
type Future[R any] struct{ p promise }

// Async sends a [Request] with req and returns at once. The future is completed
// by the reply, by the exit of the process that was called ([*ExitError]), or
// by whoever gives up on it.
func Async[R any, T Dest, Q any](from Caller, to T, req Q) *Future[R] {
	f := &Future[R]{}
	begin(from.caller(), &f.p, to, req)
	return f
}

func begin[T Dest, Q any](me calling, p *promise, to T, req Q) {
	n := me.node
	p.node = n
	if me.p != nil {
		p.from = me.p.pid()
		if me.p.status.Load() != alive {
			p.complete(nil, ErrExited)
			return
		}
	}
	m := Request[Q]{req, From{p}}
	switch to := any(to).(type) {
	case PID:
		p.target = n.lookup(to)
		if p.target == nil {
			if err := n.undeliverable(to, m); err != nil {
				p.complete(nil, err)
				return
			}
		}
	case Atom:
		var err error
		if p.target, err = n.named(to, m); err != nil {
			p.complete(nil, err)
			return
		}
	case Ref:
		p.target = n.aliased(to, m)
	}
	if p.target == nil || !p.list() {
		p.complete(nil, &ExitError{NoProc})
		return
	}
	if err := p.target.deliver(me.c, m); err != nil {
		p.complete(nil, err)
	}
}

// Call sends a [Request] with req and waits for the reply. Errors: what the
// reply says; [*ExitError] if the process exits first (errors.Is it
// [ErrNoProcess] if there was none); [ErrNoName]; [ErrMailboxFull];
// [ErrReplyType]; and the cause of ctx's end. A reply that comes later than
// that is a dead letter. An Actor's stage goes on without it while it waits.
func Call[R any, T Dest, Q any](ctx context.Context, from Caller, to T, req Q) (R, error) {
	f := Future[R]{}
	p := &promise{}
	me := from.caller()
	begin(me, p, to, req)
	return f.typed(me.await(ctx, p))
}

// await waits for p in the way that is proper for the caller.
func (me calling) await(ctx context.Context, p *promise) (any, error) {
	switch {
	case me.s != nil && me.s.co != nil:
		return p.parkCo(ctx, me.s)
	case me.s != nil:
		return p.park(ctx, me.s)
	case me.c != nil:
		me.c.block()
	}
	return p.wait(ctx)
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

func (*Future[R]) typed(v any, err error) (R, error) {
	r, ok := v.(R)
	if err == nil && !ok && v != nil {
		return r, fmt.Errorf("%w: got %T, want %T", ErrReplyType, v, r)
	}
	return r, err
}

// Await waits for the reply; if ctx ends first, it gives up on behalf of all who
// wait. In an Actor's handler use [Future.SendTo] instead.
func (f *Future[R]) Await(ctx context.Context) (R, error) { return f.typed(f.p.wait(ctx)) }

// Done returns a channel that is closed when the future is completed.
func (f *Future[R]) Done() <-chan struct{} {
	f.p.mu.Lock()
	defer f.p.mu.Unlock()
	if f.p.ch == nil {
		f.p.ch = make(chan struct{})
		if f.p.done {
			close(f.p.ch)
		}
	}
	return f.p.ch
}

// Cancel gives up on the reply. It reports whether it had not come yet.
func (f *Future[R]) Cancel() bool { return f.p.complete(nil, context.Canceled) }

// SendTo sends a [Result] with the tag to a process when the future is completed.
func (f *Future[R]) SendTo(to PID, tag any) {
	f.p.whenDone(func() {
		v, err := f.typed(f.p.value, f.p.err)
		r := Result{Tag: tag, Err: err}
		if err == nil {
			r.Value = v
		}
		if p := f.p.node.lookup(to); p != nil {
			p.deliver(nil, r)
		} else {
			f.p.node.undeliverable(to, r)
		}
	})
}

func (p *promise) whenDone(f func()) {
	p.mu.Lock()
	if !p.done {
		p.then = append(p.then, f)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	f()
}

// Awaitable is any Future.
type Awaitable interface{ Done() <-chan struct{} }

// AwaitExit waits until a process has exited and returns its exit reason: noproc
// if there was none to wait for. The error is the cause of ctx's end, or that
// the calling process has exited.
func AwaitExit[T Dest](ctx context.Context, from Caller, to T) (reason any, err error) {
	me := from.caller()
	p := &promise{node: me.node}
	switch to := any(to).(type) {
	case PID:
		p.target = me.node.lookup(to)
	case Atom:
		p.target = me.node.names.get(to)
	case Ref:
		p.target = me.node.aliases.peek(me.node, to)
	}
	if p.target == nil || !p.list() {
		return NoProc, nil
	}
	_, err = me.await(ctx, p)
	if e, ok := err.(*ExitError); ok {
		return e.Reason, nil
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
		if p := n.aliases.peek(n, to); p != nil {
			return p.pid(), true
		}
	}
	return PID{}, false
}
