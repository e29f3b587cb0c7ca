package node

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/internal/bias"
)

// promise is the untyped half of a call in flight. It watches the process that
// was called by itself, without a monitor's reference. Some are used for one
// call after the other: a ticket tells these apart.
//
// Invariants:
//
//  1. state only goes waiting, settling, done, and then up to waiting of the next
//     ticket, which only the owner does. Who makes it settling, by a
//     compare-and-swap, settles the promise, alone.
//  2. value and err are written while settling and read when done.
//  3. target, waiter, tag and more are written by the owner before the ticket is
//     given to others. Of an old ticket only state, node and far are read.
//  4. next, prev and listed are guarded by target.mu.
type promise struct {
	state  atomic.Uint64 // ticket<<2 | waiting, settling or done
	node   *Node         // set once
	target *proc

	next, prev *promise // of target.cold.calls
	listed     bool

	// Who is told; at most one of these is set.
	waiter *Process // a process that is parked, or will be
	asker  *proc    // a process that gets a Result with the tag
	more   *watches // of a Future

	far   *requester // the caller, if it is not one of this node; set once
	away  *farCall   // of a call to another node
	tag   any
	value any
	err   error
}

const (
	waiting uint64 = iota
	settling
	done
	phases = 3
)

// ticket is one use of a promise.
type ticket struct {
	p *promise
	n uint64 // state while waiting
}

// arm makes p ready for one more call. Only the owner calls it.
func (p *promise) arm() ticket {
	n := (p.state.Load() + 4) &^ phases
	p.value, p.err = nil, nil
	p.state.Store(n)
	return ticket{p, n}
}

func (t ticket) pending() bool { return t.p != nil && t.p.state.Load() < t.n|done }

func (t ticket) done() bool { return t.p.state.Load() >= t.n|done }

// settle answers the call; false if that had been done. c is the context of the
// actor that answers, nil elsewhere.
func (t ticket) settle(a *acting, v any, err error) bool {
	p := t.p
	if p == nil || !p.state.CompareAndSwap(t.n, t.n|settling) {
		return false
	}
	p.value, p.err = v, err
	p.unlist()
	if p.away != nil {
		p.away.forget()
		p.away = nil
	}
	waiter, asker, more, tag, n := p.waiter, p.asker, p.more, p.tag, p.node
	if tr := n.traces(); tr != nil && waiter != nil {
		tr.answered(a.p, &waiter.own, v, err) // before the caller can do anything else
	}
	p.state.Store(t.n | done) // from here on the owner may use p again
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
		more.tell(a)
	}
	return true
}

// list makes target's exit settle the promise; false: it has exited.
func (p *promise) list() bool {
	t := p.target
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone() {
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

// watches are those who are told of a Future.
type watches struct {
	mu   sync.Mutex
	over bool
	ch   chan struct{}   // closed when it is over, if somebody asked for it
	then []func(*acting) // called when it is over
}

func (w *watches) tell(a *acting) {
	w.mu.Lock()
	ch, then := w.ch, w.then
	w.over, w.then = true, nil
	w.mu.Unlock()
	if ch != nil {
		close(ch)
	}
	for _, f := range then {
		f(a)
	}
}

// signal returns a channel that is closed when it is over.
func (w *watches) signal() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ch == nil {
		w.ch = make(chan struct{})
		if w.over {
			close(w.ch)
		}
	}
	return w.ch
}

// add has f called when it is over, with who has settled it; now, with from, if it is over.
func (w *watches) add(from *acting, f func(*acting)) {
	w.mu.Lock()
	if !w.over {
		w.then = append(w.then, f)
		w.mu.Unlock()
		return
	}
	w.mu.Unlock()
	f(from)
}

// wait returns when t is done or ctx is, and gives up in the latter case.
func (t ticket) wait(ctx context.Context) (any, error) {
	p := t.p
	if !t.done() {
		ch := p.more.signal()
		select {
		case <-ch:
		case <-ctx.Done():
			t.settle(&p.node.acting, nil, context.Cause(ctx))
			<-ch // somebody else may be settling it
		}
	}
	return p.value, p.err
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
	return t.p.value, t.p.err
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
	return t.p.value, t.p.err
}

// kept is how many promises a context keeps for calls to come.
const kept = 64

func (c *Context) keep(p *promise) {
	if len(c.promises) < kept {
		c.promises = append(c.promises, p)
	}
}

func (c *Context) promise() *promise {
	if last := len(c.promises) - 1; last >= 0 {
		p := c.promises[last]
		c.promises = c.promises[:last]
		return p
	}
	return &promise{node: c.node}
}
