package process

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// Call is the untyped half of a call in progress. It monitors the called process itself, without a monitor's reference. Some
// are reused for one call after another: a ticket tells these apart.
//
// Invariants, in addition to those of package calls:
//
//  1. Target, Waiter, Tag and More are written by the owner before the ticket is
//     given to others. With an old ticket only the state, what is atomic, node and Far are read.
//  2. entry is guarded by the lock of Target.
type Call struct {
	calls.Promise
	System *System // set once
	Target *Process
	entry  tables.ListEntry[Call] // of Target.Cold.Calls

	// Who is notified: Waiter; or Asker; or More; or Far.
	Waiter Blocker  // a process that is parked, or will be; Asker is that process
	Asker  *Process // a process that receives a message with the tag
	More   *Watches // of a future

	Far  requester // the caller, if it is on another node or made the request as a term; set once
	Away forgetter // of a call to another node
	Tag  any       // what Asker has given for the message, a value of any type, or OfExit

	until atomic.Int64 // see SetDeadline
}

// requester is the caller of a request that came as a term.
type requester interface {
	// Reply sends the result of p as a message, on behalf of a. It never blocks a, neither for a mailbox nor for a peer: the
	// request determined where the reply goes, and a caller that does not read must not stall a server that also serves others.
	Reply(a *Acting, p *Call)
	// WhenGone calls f, on a goroutine of its own, once the caller no longer waits, as far as that can be known. stop prevents
	// that.
	WhenGone(f func()) (stop func() bool)
}

// forgetter waits for an answer of another node.
type forgetter interface {
	// Forget ends the wait; an answer that arrives later is discarded.
	Forget()
}

// Watches are the subscribers of a Future.
type Watches = calls.Watches[*Acting]

// OfExit is the Tag of a call that waits for no answer but only for the exit of its target.
var OfExit any = exitOnly{}

type exitOnly struct{}

// Ticket is one use of a call.
type Ticket struct {
	Call *Call
	N    calls.Ticket
}

// NewTicket makes p ready for one more call. Only the owner calls it.
func (p *Call) NewTicket() Ticket { return Ticket{p, p.Arm()} }

func (t Ticket) Pending() bool { return t.Call != nil && t.Call.Pending(t.N) }

func (t Ticket) Done() bool { return t.Call.Done(t.N) }

// Settle answers the call on behalf of a. It returns false if the call was answered before.
func (t Ticket) Settle(a *Acting, v any, err error) bool { return t.SettleOrTell(a, v, err, nil) }

// SettleOrTell is Settle, and calls tell, unless it is nil, if the call is that of a future that is never read: see
// [calls.Watches.WhenUnread].
func (t Ticket) SettleOrTell(a *Acting, v any, err error, tell func()) bool {
	p := t.Call
	if p == nil || !p.Begin(t.N, v, err) {
		return false
	}
	if to := p.Target; to != nil {
		to.Mu.Lock()
		if to.Cold != nil {
			to.Cold.Calls.Remove(&p.entry)
		}
		to.Mu.Unlock()
	}
	p.Promise.Forget(t.N)
	if p.Away != nil {
		p.Away.Forget()
		p.Away = nil
	}
	waiter, asker, more, tag, n := p.Waiter, p.Asker, p.More, p.Tag, p.System
	if tr := n.Traces(); tr != nil {
		if waiter != nil {
			tr.Answered(a.PID(), asker.PID(), v, err) // before the caller can continue
		}
		if err == nil && p.Far == nil {
			var asks wire.PID
			if asker != nil {
				asks = asker.PID()
			}
			v, err = tr.Reply(a.PID(), asks, waiter != nil, v)
			p.Replace(v, err)
		}
	}
	if tell != nil && more != nil {
		more.WhenUnread(tell)
	}
	p.Finish(t.N) // from here on the owner may use p again
	switch {
	case waiter != nil:
		waiter.Answered(a)
	case asker != nil:
		p.Asker, p.Tag = nil, nil
		r := n.Host.Result(tag, v, err)
		if !asker.Gone() {
			asker.Signal(a, r) // the process has requested it: past its bound, without blocking
		} else {
			n.Undeliverable(asker.PID(), r)
		}
		asker.Ask(-1)
		runtime.KeepAlive(tag) // until then it keeps asker alive, which an owner may hold
		if a.Local != nil {
			a.Local.keep(p)
		}
	case more != nil:
		more.Tell(a)
	case p.Far != nil:
		p.Far.Reply(a, p)
	}
	return true
}

// SetDeadline records when the caller gives up: at the deadline of ctx; a nil ctx has none. Only the owner calls it, before the
// ticket is given to others.
func (p *Call) SetDeadline(ctx context.Context) {
	if ctx != nil {
		if at, ok := ctx.Deadline(); ok {
			p.SetWait(p.System.Env.Until(at))
			return
		}
	}
	if p.until.Load() != 0 { // most have none, and a store costs more
		p.until.Store(0)
	}
}

// SetWait is SetDeadline, d from now. A time on the monotonic clock is kept: the wall clock may be set meanwhile.
func (p *Call) SetWait(d time.Duration) {
	now := p.System.Env.Since(p.System.Clock.Start())
	p.until.Store(int64(max(1, now+min(d, math.MaxInt64-now))))
}

// Deadline returns when the caller gives up, if that is known and the caller waits.
func (t Ticket) Deadline() (at time.Time, ok bool) {
	if t.Call == nil {
		return at, false
	}
	until := t.Call.until.Load()
	if until == 0 || !t.Pending() { // then until may be that of the next call
		return at, false
	}
	return t.Call.System.Clock.Start().Add(time.Duration(until)), true
}

// Context returns a context with the deadline of the caller that also ends with parent, or by cancel.
func (t Ticket) Context(parent context.Context) (ctx context.Context, cancel context.CancelFunc) {
	at, ok := t.Deadline()
	if !ok {
		return context.WithCancel(parent)
	}
	e := t.Call.System.Env
	return e.WithTimeout(parent, e.Until(at))
}

// Observe makes w.Forget be called when the call is settled or forwarded, or a caller on another node no longer waits. It
// returns false if the call is settled or is being settled; then the caller must call w.Forget itself.
func (t Ticket) Observe(w calls.Watch) bool {
	p := t.Call
	if p == nil {
		return false
	}
	if p.Far == nil {
		return p.Promise.Observe(t.N, w)
	}
	far := &farWatch{w, p.Far.WhenGone(w.Forget)}
	ok := p.Promise.Observe(t.N, far)
	if !ok {
		far.stop()
	}
	return ok
}

// farWatch is a watch that also learns when the caller, of another node, is gone.
type farWatch struct {
	calls.Watch
	stop func() bool
}

// Forget is part of calls.Watch.
func (w *farWatch) Forget() {
	w.stop()
	w.Watch.Forget()
}

// List registers the call with its target, whose exit settles it. It returns false if the target has exited.
func (p *Call) List() bool {
	t := p.Target
	t.Mu.Lock()
	defer t.Mu.Unlock()
	if t.Gone() {
		return false
	}
	t.ColdPart().Calls.Add(&p.entry, p)
	return true
}

// Wait waits until t is done or ctx is, and gives up in the latter case.
func (t Ticket) Wait(ctx context.Context) (any, error) { return t.waitOr(ctx, nil) }

// waitOr is Wait for an Actor's handler: it also gives up when killed, which is closed when the process exits.
func (t Ticket) waitOr(ctx context.Context, killed <-chan struct{}) (any, error) {
	p := t.Call
	if t.Done() {
		return p.Result()
	}
	ch := p.More.Signal()
	select {
	case <-ch:
		return p.Result()
	case <-ctx.Done():
		t.Settle(&p.System.Plain, nil, cause.Of(ctx))
	case <-killed:
		t.Settle(&p.System.Plain, nil, ErrExited)
	}
	<-ch // another goroutine may be settling it
	return p.Result()
}
