package node

import (
	"context"
	"runtime"
	"time"

	"github.com/actornode/actornode/internal/bias"
	"github.com/actornode/actornode/internal/inbox"
	"github.com/actornode/actornode/node/internal/env"
)

// Process is a process as its own blocking code sees it: the argument of a
// [ProcessFunc], or a handle that any goroutine got from [Node.Open]. It belongs to
// one goroutine.
type Process struct {
	core
	own    proc          // what p is
	park   chan struct{} // capacity 1: ends a wait
	given  *inbox.Node   // the message that has ended it; nil: look around
	spare  *inbox.Node
	fn     ProcessFunc // nil: a handle
	waits  *waits      // made by the first wait that needs it
	co     *coroutine  // nil: a goroutine of its own
	bias   bias.Owned  // guards q: Node.messages looks at it
	parked uint32      // waiting for a message or a reply; see bias.Store
	sends  uint32      // for sendsBeforeGosched
}

// waits is what a process needs that waits for more than messages. Only the
// process's own code sets the fields, under p.mu; so does it Process.waits.
type waits struct {
	timer env.Timer        // of Receive with a timeout, kept for the next
	fires <-chan time.Time // of timer
	reply chan struct{}    // capacity 1: a call has been answered
	call  promise          // of the call that is waited for, one after the other

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

func (s blocking) what() string {
	if s.fn == nil {
		return "node.Process"
	}
	return "node.ProcessFunc"
}

// run is a Process's goroutine: started by spawn, ended by the function's
// return or by the process's death, waited for by Node.Stop.
func (s *Process) run() {
	p := &s.own
	ended := false
	defer func() {
		defer p.node.functions.Add(-1)
		defer p.returned()
		s.settle()
		if ended {
			return
		}
		if cause := recover(); cause != nil {
			p.leave(&s.acting, Panicked(cause), true)
		} else if !p.gone() { // else unwound by die
			p.leave(&s.acting, Panicked(nil), true)
		}
	}()
	if p.gone() {
		return
	}
	err := s.fn(s)
	ended = true
	p.leave(&s.acting, ReasonOf(err), true)
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
	return Exited{From: s.p.pid(), Reason: s.p.chill().reason}
}

// Infinity is the timeout that never runs out.
const Infinity time.Duration = 1<<63 - 1

// Receive takes the oldest message, waiting for one if need be. If the process
// is killed, a Process's goroutine is unwound, its deferred calls included; a
// handle gets [Exited] with its own PID.
func (s *Process) Receive() any {
	// The common case of receive and receiveCo, in one function: after a switch
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
		if p.q.Len() == 0 && !p.boxed && p.in.Arm() {
			s.bias.Leave()
			n := s.wait()
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

// receive is behind all the receives. It arms the inbox before it parks; whoever
// takes it out of that state sends once to s.park, with or without a message in s.given.
func (s *Process) receive(match func(any) bool, d time.Duration) (any, error) {
	if s.co != nil {
		return s.receiveCo(match, d)
	}
	if d < 0 {
		return nil, ErrBadTimeout
	}
	p := &s.own
	s.bias.Enter()
	p.q.Rewind()
	timed := false
	for {
		if msg, ok := s.scan(match); ok {
			s.bias.Leave()
			if timed {
				s.waits.timer.Stop()
			}
			return msg, nil
		}
		if p.refill() {
			continue
		}
		if p.gone() {
			s.bias.Leave()
			return nil, ErrExited
		}
		if d == 0 {
			s.bias.Leave()
			return nil, ErrTimeout
		}
		if !p.boxed && !p.in.Arm() {
			continue
		}
		s.bias.Leave()
		if d == Infinity {
			n := s.wait()
			s.bias.Enter()
			if n == nil {
				continue
			}
			p.q.Append(n)
			continue
		}
		if !timed {
			timed = true
			s.clock(d)
		}
		n, expired := s.parkUntil()
		if expired {
			d = 0 // one last look
		}
		s.bias.Enter()
		if n != nil {
			p.q.Append(n)
		}
	}
}

// wait parks until there is something to look at: n, or what n nil says.
func (s *Process) wait() (n *inbox.Node) {
	bias.Store(&s.parked, 1)
	<-s.park
	bias.Store(&s.parked, 0)
	return s.gift()
}

// parkUntil parks until there is something to look at or the timer has fired.
func (s *Process) parkUntil() (n *inbox.Node, expired bool) {
	bias.Store(&s.parked, 1)
	select {
	case <-s.park:
		n = s.gift()
	case <-s.waits.fires:
		expired = true
		if !s.p.boxed && !s.p.in.Claim() {
			<-s.park // somebody was faster, and the node is on its way
			n = s.gift()
		}
	}
	bias.Store(&s.parked, 0)
	return n, expired
}

// scan takes the first message that match wants, nil standing for any.
func (s *Process) scan(match func(any) bool) (any, bool) {
	q := &s.p.q
	if st := s.p.status.Load(); st != alive {
		if st != tokened {
			return nil, false
		}
		return s.scanTraced(match)
	}
	for msg, ok := q.Next(); ok; msg, ok = q.Next() {
		if match != nil {
			s.bias.Leave()
			ok := match(msg)
			s.bias.Enter()
			if !ok {
				q.Skip()
				continue
			}
		}
		s.take()
		return msg, true
	}
	return nil, false
}

// clock starts the process's timer.
func (s *Process) clock(d time.Duration) {
	w := s.prepare()
	if w.timer == nil {
		w.timer, w.fires = s.node.env.NewTimer(d)
	} else {
		w.timer.Reset(d)
	}
}

// take removes the message that Next returns, and keeps its node.
func (s *Process) take() {
	p := &s.own
	n := p.q.Drop()
	s.count()
	switch {
	case p.boxed:
		p.cold.box.Done()
	case n != nil:
		n.Msg = nil
		s.spare = n
	}
}

// count counts a message that the process takes, and now and then tells the node.
func (s *Process) count() {
	if s.p.countHandled(); s.p.handled.Load()%tellTaken == 0 {
		s.p.node.taken.Add(tellTaken)
	}
}

// tellTaken is after how many messages the node is told of them.
const tellTaken = 64

// settle tells the node of the messages that it has not been told of. The end of
// the process's code calls it, once.
func (s *Process) settle() { s.p.node.taken.Add(s.p.handled.Load() % tellTaken) }

// deliver is the end of a send of s: it puts msg into the mailbox of a process of this node.
func (s *Process) deliver(to *proc, msg any) error {
	if s.co != nil {
		if s.co.sends++; s.co.sends >= coSends {
			s.co.left, s.co.talks, s.co.sends = 0, &to.Entity, 0
			s.yield()
		}
		return to.deliver(&s.acting, msg)
	}
	if to.boxed {
		return to.deliverBoxed(&s.acting, msg, &patience{from: &s.own})
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

// sendsBeforeGosched is how many sends a process on a goroutine of its own does until
// the others have a turn. Go's scheduler would leave it its processor for 10 ms, and
// many senders would fill the mailbox of one receiver with millions of messages.
const sendsBeforeGosched = 1024

// give ends a wait of s with a message. The caller owes s the wake-up.
func (s *Process) give(n *inbox.Node) {
	s.given = n
	s.park <- struct{}{}
}

// gift returns what has ended the wait; nil: s shall look around.
func (s *Process) gift() *inbox.Node {
	n := s.given
	s.given = nil
	return n
}

// prod makes s look around.
func (s *Process) prod() {
	select {
	case s.park <- struct{}{}:
	default:
	}
}

// answered ends the wait for a reply. c is the context of the actor that has
// answered, nil elsewhere.
func (s *Process) answered(a *acting) {
	if s.co != nil {
		s.co.answered.Store(true)
		if a.w != nil && a.w.Enter() {
			near := s.p.Home() == a.w.Stage()
			if near {
				a.w.Stage().Wake(&s.p.Entity)
			}
			if a.w.Leave(); near {
				return
			}
		}
		s.p.nudge(replied{})
		return
	}
	s.p.mu.Lock()
	w := s.waits
	s.p.mu.Unlock()
	if w == nil {
		return
	}
	select {
	case w.reply <- struct{}{}:
	default:
	}
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
