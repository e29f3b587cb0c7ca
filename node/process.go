package node

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/bias"
	"github.com/actornode/actornode/internal/inbox"
	"github.com/actornode/actornode/node/internal/env"
	"github.com/actornode/actornode/node/internal/waiting"
)

// Process is a process as its own blocking code sees it: the argument of a
// [ProcessFunc], or a handle that any goroutine got from [Node.Open]. It belongs to
// one goroutine.
type Process struct {
	own proc // what p is; first, for the lines of the cache that proc tells of
	core
	park   chan struct{} // capacity 1: ends a wait
	given  *inbox.Node   // the message that has ended it; nil: look around
	spare  *inbox.Node
	fn     ProcessFunc   // nil: a handle
	waits  *waits        // made by the first wait that needs it
	co     *turns        // of a coroutine; nil: a goroutine of its own
	bias   bias.Owned    // guards q: Node.messages looks at it
	since  atomic.Uint64 // when the last receive that had to wait began, Unix time, ns
	parked uint32        // waiting for a message or a reply; see bias.Store
	sends  uint32        // for sendsBeforeGosched
}

// waits is what a process needs that waits for more than messages. Only the
// process's own code sets the fields, under p.mu; so does it Process.waits.
type waits struct {
	timer env.Timer        // of Receive with a timeout, kept for the next
	fires <-chan time.Time // of timer
	reply chan struct{}    // capacity 1: a call has been answered
	call  call             // of the call that is waited for, one after the other

	record waiting.Record // what for: see Process.waitsFor
	on     Dest           // on what, where that is no process of this node; guarded by p.mu

	ctx context.Context // that of the process, if it has been asked for
}

// prepare makes s.waits.
func (s *Process) prepare() *waits {
	if s.waits == nil {
		s.p.mu.Lock() // for exit, which answers too
		s.waits = &waits{reply: make(chan struct{}, 1)}
		s.waits.call.node = s.p.node
		s.p.mu.Unlock()
	}
	return s.waits
}

// blocking lets a Process stand where a behaviour does.
type blocking struct{ *Process }

// Receive is never called: a blocking process takes its messages itself.
func (blocking) Receive(*Context, any) error { return nil }

// BehaviourName is part of [BehaviourNamer].
func (s blocking) BehaviourName() string {
	if s.fn == nil {
		return "node.Process"
	}
	return "node.ProcessFunc"
}

// Close ends a handle with a reason; nil is normal. Open handles end with the
// node at the latest.
func (s *Process) Close(reason any) {
	if reason == nil {
		reason = Normal
	}
	if s.p.exit(&s.acting, reason) {
		s.settle()
	}
}

// die unwinds the goroutine of a process that is dead. A handle's goroutine is
// not the runtime's to end: there die answers what Receive should return.
func (s *Process) die() any {
	if s.fn != nil {
		runtime.Goexit()
	}
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return Exited{From: s.p.pid(), Reason: s.p.coldPart().reason}
}

// Infinity is the timeout that never runs out.
const Infinity time.Duration = 1<<63 - 1

// Receive takes the oldest message, waiting for one if need be. If the process
// is killed, a Process's goroutine is unwound, its deferred calls included; a
// handle gets [Exited] with its own PID.
//
//go:noinline
func (s *Process) Receive() any {
	// Not inlined by a profile: the function of a process would have the frame of all this on
	// the small stack that a goroutine begins with.
	//
	// The common case of both kinds, in one function and without a call of waiter: after a switch
	// every return is a mispredicted branch, so each level of calls counts.
	p := &s.own
	if co := s.co; co != nil {
		if co.left > 1 && !p.boxed && s.w.Enter() {
			for co.left > 1 && !p.boxed {
				p.q.Rewind()
				msg, ok := p.q.Next()
				if !ok && p.refill() {
					msg, ok = p.q.Next()
				}
				if !ok {
					if co.run.Locked() {
						break // pause refuses it
					}
					s.waitsSince()
					if next, yield := s.leave(); next != nil {
						next()
					} else {
						yield(struct{}{})
					}
					if p.gone() {
						s.w.Leave()
						runtime.Goexit()
					}
					continue
				}
				if !ordinary(msg) {
					break
				}
				co.left--
				p.countHandled()
				s.drop()
				s.w.Leave()
				return msg
			}
			s.w.Leave()
		}
	} else {
		s.bias.Enter()
		switch {
		case p.boxed || p.status.Load() != alive: // see receive
		case p.q.Len() != 0:
			p.q.Rewind()
			if msg, ok := p.q.Next(); ok {
				(*goroutine)(s).take()
				s.bias.Leave()
				return msg
			}
		case p.in.Arm():
			s.bias.Leave()
			s.waitsSince()
			n := (*goroutine)(s).wait()
			s.bias.Enter()
			if n != nil && p.q.Len() == 0 && p.status.Load() == alive {
				msg := n.Msg
				n.Msg = nil
				s.spare = n
				s.count()
				s.bias.Leave()
				return msg
			}
			if n != nil {
				p.q.Append(n)
			}
		}
		s.bias.Leave()
	}
	m, err := s.receive(nil, Infinity)
	if err != nil {
		return s.die()
	}
	return m
}

// ReceiveMatch takes the oldest message for which match answers true; the others
// stay, in order. match must not use s.
func (s *Process) ReceiveMatch(match func(any) bool) any {
	m, err := s.receive(match, Infinity)
	if err != nil {
		return s.die()
	}
	return m
}

// ReceiveWithin is Receive, or ReceiveMatch where match is not nil, with a
// timeout: [ErrTimeout] after d. With d = 0 only what is in the mailbox
// already is looked at; [Infinity] waits for ever; [ErrBadTimeout] is for d < 0.
func (s *Process) ReceiveWithin(d time.Duration, match func(any) bool) (any, error) {
	m, err := s.receive(match, d)
	if err == ErrExited && s.fn != nil {
		s.die()
	}
	return m, err
}

// count counts a message that the process takes, and now and then tells the node.
func (s *Process) count() {
	if s.p.countHandled(); s.p.handled.Load()%tellTaken == 0 {
		s.p.node.tally.Messages(tellTaken)
	}
}

// tellTaken is after how many messages the node is told of them.
const tellTaken = 64

// settle tells the node of the messages that it has not been told of. The end of
// the process's code calls it, once.
func (s *Process) settle() { s.p.node.tally.Messages(s.p.handled.Load() % tellTaken) }

// receive is behind all the receives. It is no method of waiter: called by an interface, match
// would be put on the heap.
func (s *Process) receive(match func(any) bool, d time.Duration) (any, error) {
	if s.co != nil {
		return (*coroutine)(s).receive(match, d)
	}
	return (*goroutine)(s).receive(match, d)
}

// deliver is the end of a send of s: it puts msg into the mailbox of a process of this node.
// Each message passes it, so it is no method of waiter.
func (s *Process) deliver(to *proc, msg any) error {
	if s.co != nil {
		return (*coroutine)(s).deliver(to, msg)
	}
	if to.boxed {
		return (*userMailbox)(to).deliver(&s.acting, msg, &patience{from: &s.own})
	}
	if s.sends++; s.sends%sendsBeforeGosched == 0 {
		runtime.Gosched()
	}
	n := s.spare
	if n != nil {
		s.spare = nil
		n.Msg = msg
	} else {
		n = &inbox.Node{Msg: msg}
	}
	return to.push(&s.acting, n)
}

// ReceiveOf takes the oldest message of type T.
func ReceiveOf[T any](s *Process) T {
	m, _ := s.ReceiveMatch(func(m any) bool { _, ok := m.(T); return ok }).(T)
	return m
}

// ReceiveOfWithin is ReceiveOf with a timeout; see [Process.ReceiveWithin].
func ReceiveOfWithin[T any](s *Process, d time.Duration) (T, error) {
	m, err := s.ReceiveWithin(d, func(m any) bool { _, ok := m.(T); return ok })
	t, _ := m.(T)
	return t, err
}
