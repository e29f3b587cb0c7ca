package node

import (
	"context"
	"iter"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/sched"
)

// coroutine is what a Process has that runs on stages, like an Actor: its
// function is a coroutine which the stage's worker resumes when there is
// something for it and which gives the stage back when it has to wait. A switch
// costs half of one between goroutines, and messages on one stage need no
// atomic operation. The price: a function that blocks otherwise than in a
// Receive or a Call holds its stage up until the watcher notices.
//
// Owned by whoever runs the process, answered excepted.
type coroutine struct {
	resume func() (struct{}, bool)
	yield  func(struct{}) bool
	c      *Context // of the worker that resumed it; changes with every pause
	ended  bool     // the function has returned

	left     int         // receives until it lets others have a turn
	sends    int         // sends until it does
	calling  bool        // waits for a reply, not for messages
	answered atomic.Bool // the reply is there
	seq      uint64      // of the timeout that counts
	expired  bool        // that timeout has come
}

// coSends is how many sends a coroutine may do before others have a turn.
const coSends = 2048

// tick wakes a coroutine without being a message: a timeout has come (seq), or
// a reply (0).
type tick struct{ seq uint64 }

// unwinding is the panic that ends the function of a coroutine that is dead.
type unwinding struct{}

// newCoroutine makes s's function a coroutine, which starts when it is first
// resumed.
func newCoroutine(s *Self) *coroutine {
	co := &coroutine{}
	co.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
		co.yield = yield
		s.runCoroutine()
	})
	return co
}

func (s *Self) runCoroutine() {
	ended := false
	defer func() {
		s.co.ended = true
		cause := recover()
		if _, dead := cause.(unwinding); ended || dead {
			return
		}
		if cause == nil {
			cause = "runtime.Goexit was called in a coroutine"
		}
		s.p.exit(s.co.c, &Crash{Reason: cause, Panic: true, Stack: debug.Stack()})
	}()
	if s.p.status.Load() == alive {
		err := s.fn(s)
		ended = true
		s.p.exit(s.co.c, reasonOf(err))
	}
	ended = true
}

// turn resumes the coroutine of p: the Turn of such a process.
func (s *Self) turn(c *Context, w *sched.Worker) sched.Verdict {
	p, co := s.p, s.co
	if co.ended {
		return sched.Idle
	}
	co.c, co.left, co.sends = c, p.node.cfg.Budget, 0
	w.Leave()
	co.resume()
	co.c = nil
	if !w.Enter() {
		return sched.Lost
	}
	if p.status.Load() != alive {
		if co.ended {
			return sched.Idle
		}
		return sched.Again // to be unwound
	}
	if s.due() {
		return sched.Again
	}
	return sched.Idle
}

// due reports whether there is a reason to resume the coroutine. The caller
// holds the stage.
func (s *Self) due() bool {
	p, co := s.p, s.co
	if co.ended {
		return false
	}
	if p.status.Load() != alive || co.left <= 0 || co.answered.Load() {
		return true
	}
	return !co.calling && (p.q.Next() != nil || p.boxed && p.cold.box.Len() > p.q.Len() || p.in.Pending())
}

// pause gives the stage back until there is something to look at.
func (s *Self) pause() {
	s.co.yield(struct{}{})
	if s.p.status.Load() != alive {
		panic(unwinding{})
	}
}

// receiveCo is receive for a coroutine.
func (s *Self) receiveCo(match func(any) bool, d time.Duration) (any, error) {
	if d < 0 {
		return nil, ErrBadTimeout
	}
	p, co := s.p, s.co
	if co.left--; co.left <= 0 {
		s.pause()
	}
	var timer *time.Timer
	s.enter()
	p.q.Rewind()
	for {
		for n := p.q.Next(); n != nil; n = p.q.Next() {
			if t, ok := n.Msg.(tick); ok {
				co.expired = co.expired || t.seq == co.seq
				co.c.w.Stage().Recycle(p.q.Drop())
				continue
			}
			if match != nil {
				co.c.w.Leave()
				ok := match(n.Msg)
				s.enter()
				if !ok {
					p.q.Skip()
					continue
				}
			}
			msg := n.Msg
			p.settle(co.c.w.Stage(), nil)
			co.c.w.Leave()
			if timer != nil {
				timer.Stop()
			}
			return msg, nil
		}
		if p.refill() {
			continue
		}
		co.c.w.Leave()
		switch {
		case p.status.Load() != alive:
			panic(unwinding{})
		case d == 0 || timer != nil && co.expired:
			return nil, ErrTimeout
		case timer == nil && d != Infinity:
			co.seq++
			co.expired = false
			t := tick{co.seq}
			timer = time.AfterFunc(d, func() { p.deliver(nil, t) })
		}
		s.pause()
		s.enter()
	}
}

// enter takes the stage, waiting for it if it was lost.
func (s *Self) enter() {
	for !s.co.c.w.Enter() {
		s.co.left = 0 // there is a reason to resume
		s.pause()
	}
}

// parkCo is promise.park for a coroutine.
func (p *promise) parkCo(ctx context.Context, s *Self) (any, error) {
	co := s.co
	co.answered.Store(false)
	p.mu.Lock()
	if !p.done {
		p.waiter = s
		stop := context.AfterFunc(ctx, func() { p.complete(nil, context.Cause(ctx)) })
		defer stop()
	}
	co.calling = true
	defer func() {
		co.calling = false
		co.answered.Store(false)
	}()
	for !p.done {
		p.mu.Unlock()
		co.yield(struct{}{})
		if s.p.status.Load() != alive {
			p.complete(nil, ErrExited)
			panic(unwinding{})
		}
		p.mu.Lock()
	}
	defer p.mu.Unlock()
	return p.value, p.err
}
