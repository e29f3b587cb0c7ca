package node

import (
	"context"
	"runtime"

	"github.com/actornode/actornode/internal/bias"
	"github.com/actornode/actornode/node/internal/list"
	"github.com/actornode/actornode/node/internal/promise"
)

// call is the untyped half of a call in flight. It watches the process that
// was called by itself, without a monitor's reference. Some are used for one
// call after the other: a ticket tells these apart.
//
// Invariants, beside those of package promise:
//
//  1. target, waiter, tag and more are written by the owner before the ticket is
//     given to others. Of an old ticket only the state, node and far are read.
//  2. entry is guarded by target.mu.
type call struct {
	promise.Promise
	node   *Node // set once
	target *proc
	entry  list.Entry[call] // of target.cold.calls

	// What is told; at most one of these is set.
	waiter *Process // a process that is parked, or will be
	asker  *proc    // a process that gets a Result with the tag
	more   *watches // of a Future, of which tag is the Dest that it was asked of

	far  *requester // the caller, if it is not one of this node; set once
	away *farCall   // of a call to another node
	tag  any
}

// watches are what is told of a Future.
type watches = promise.Watches[*acting]

// ticket is one use of a call.
type ticket struct {
	p *call
	n promise.Ticket
}

// arm makes p ready for one more call. Only the owner calls it.
func (p *call) arm() ticket { return ticket{p, p.Arm()} }

func (t ticket) pending() bool { return t.p != nil && t.p.Pending(t.n) }

func (t ticket) done() bool { return t.p.Done(t.n) }

// settle answers the call; false if that had been done. c is the context of the
// actor that answers, nil elsewhere.
func (t ticket) settle(a *acting, v any, err error) bool {
	p := t.p
	if p == nil || !p.Begin(t.n, v, err) {
		return false
	}
	p.unlist()
	if p.away != nil {
		p.away.forget()
		p.away = nil
	}
	waiter, asker, more, tag, n := p.waiter, p.asker, p.more, p.tag, p.node
	if tr := n.traces(); tr != nil && waiter != nil {
		tr.Answered(a.pid(), waiter.own.pid(), v, err) // before the caller can do anything else
	}
	p.Finish(t.n) // from here on the owner may use p again
	switch {
	case waiter != nil:
		waiter.waiter().answered(a)
	case asker != nil:
		p.asker, p.tag = nil, nil
		r := Result{Tag: tag, Value: v, Err: err}
		if !asker.gone() {
			asker.signal(a, r) // the process has asked for it: past its bound, and nobody is held up
		} else {
			n.undeliverable(asker.pid(), r)
		}
		if a.ctx != nil {
			a.ctx.keep(p)
		}
	case more != nil:
		more.Tell(a)
	case p.far != nil:
		p.reply(a)
	}
	return true
}

// list makes target's exit settle the call; false: it has exited.
func (p *call) list() bool {
	t := p.target
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone() {
		return false
	}
	t.coldPart().calls.Add(&p.entry, p)
	return true
}

func (p *call) unlist() {
	if t := p.target; t != nil {
		t.mu.Lock()
		if t.cold != nil {
			t.cold.calls.Remove(&p.entry)
		}
		t.mu.Unlock()
	}
}

// wait returns when t is done or ctx is, and gives up in the latter case.
func (t ticket) wait(ctx context.Context) (any, error) { return t.waitOr(ctx, nil) }

// waitOr is wait for an Actor's handler: it also gives up when killed, which is closed by the exit
// of the process.
func (t ticket) waitOr(ctx context.Context, killed <-chan struct{}) (any, error) {
	p := t.p
	if t.done() {
		return p.Result()
	}
	ch := p.more.Signal()
	select {
	case <-ch:
		return p.Result()
	case <-ctx.Done():
		t.settle(&p.node.acting, nil, context.Cause(ctx))
	case <-killed:
		t.settle(&p.node.acting, nil, ErrExited)
	}
	<-ch // somebody else may be settling it
	return p.Result()
}

// until waits until t is done or over is closed. p, which may be nil, has made the future: if the
// code that waits is its, and it is killed, the wait ends as any other wait of its kind does.
func (t ticket) until(over <-chan struct{}, p *proc) error {
	var killed <-chan struct{}
	if p != nil && p.kind != kindHandle && p.status.MayLinger() {
		killed = p.context().Done()
	}
	for ch := t.p.more.Signal(); ; {
		select {
		case <-ch:
			return nil
		case <-over:
			return nil
		case <-killed:
			if p.endsHere() {
				return ErrExited
			}
			killed = nil
		}
	}
}

// endsHere reports whether the calling goroutine runs the code of p, which is dead. A function is
// unwound then.
func (p *proc) endsHere() bool {
	if !p.status.MayLinger() || !p.runner().here() {
		return false
	}
	if p.kind != kindActor && p.kind != kindExternal {
		p.process().die()
	}
	return true
}

// park is wait for a process, which may be killed meanwhile.
func (t ticket) park(ctx context.Context, s *Process) (any, error) {
	reply := s.waits.reply
	bias.Store(&s.parked, 1)
	defer bias.Store(&s.parked, 0)
	for over := ctx.Done(); !t.done(); {
		select {
		case <-reply:
		case <-over:
			over = nil // once: from now on somebody settles it
			t.settle(&s.node.acting, nil, context.Cause(ctx))
		}
		if s.p.gone() {
			if t.settle(&s.acting, nil, ErrExited); t.done() {
				s.die()
			}
		}
	}
	return t.p.Result()
}

// parkCo is park for a coroutine.
func (t ticket) parkCo(ctx context.Context, s *Process) (any, error) {
	co := s.co
	if ctx.Done() != nil && ctx != s.waits.ctx {
		stop := context.AfterFunc(ctx, func() { t.settle(&s.node.acting, nil, context.Cause(ctx)) })
		defer stop()
	}
	co.calling = true
	for {
		co.answered.Store(false)
		if t.done() {
			break
		}
		if co.run.Locked() {
			co.calling = false
			t.settle(&s.acting, nil, ErrThreadLocked)
			s.refuse()
		}
		if next, yield := s.depart(); next != nil {
			next()
		} else {
			yield(struct{}{})
		}
		if !s.arrive() {
			t.settle(&s.acting, nil, ErrExited)
			runtime.Goexit()
		}
	}
	co.calling = false
	return t.p.Result()
}

// kept is how many promises a context keeps for calls to come.
const kept = 64

func (c *Context) keep(p *call) {
	if len(c.promises) < kept {
		c.promises = append(c.promises, p)
	}
}

func (c *Context) promise() *call {
	if last := len(c.promises) - 1; last >= 0 {
		p := c.promises[last]
		c.promises = c.promises[:last]
		return p
	}
	return &call{node: c.node}
}
