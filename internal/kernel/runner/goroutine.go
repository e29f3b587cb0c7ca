package runner

import (
	"context"
	"runtime"
	"time"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// goroutine is the runner of a ProcessFunc with a goroutine of its own.
type goroutine Blocking

// handle is the runner of a process that a goroutine has opened: see Node.Open. The runtime neither starts nor ends that
// goroutine.
type handle struct{ *goroutine }

// Start implements process.Runner.
func (handle) Start(*process.Acting, *executor.InlineWorker, bool) {}

// Busy implements process.Runner.
func (handle) Busy(*process.Acting) bool { return false }

// Start implements process.Runner.
func (g *goroutine) Start(*process.Acting, *executor.InlineWorker, bool) {
	g.System.Functions.Add(1)
	if g.System.Env == (env.Env{}) {
		go g.run() // avoids the closure that Go needs
	} else {
		g.System.Env.Go(g.run)
	}
}

// run is a process's goroutine: started by Start, ended by the function's return or by the process's death, waited for by
// Node.Stop.
func (g *goroutine) run() {
	s := (*Blocking)(g)
	p := &s.Own
	ended := false
	defer func() {
		defer p.System.Functions.Add(-1)
		defer p.Returned()
		s.settle()
		if ended {
			return
		}
		if cause := recover(); cause != nil {
			p.Leave(&s.Acting, s.System.Host.Panicked(cause), true)
		} else if !p.Gone() { // otherwise unwound by die
			p.Leave(&s.Acting, s.System.Host.Panicked(nil), true)
		}
	}()
	if p.Gone() {
		return
	}
	err := g.body.Run((*Blocking)(g))
	ended = true
	p.Leave(&s.Acting, s.System.Host.ReasonOf(err), true)
}

// Give implements process.Giver: it ends a wait of g with a message. The caller has been obliged to wake g.
func (g *goroutine) Give(n *inbox.Node) {
	g.given = n
	g.park <- struct{}{}
}

// gift returns the message that has ended the wait, or nil if g must check its inbox.
func (g *goroutine) gift() *inbox.Node {
	n := g.given
	g.given = nil
	return n
}

// Wake implements process.Runner.
func (g *goroutine) Wake(a *process.Acting) { g.Prod(a) }

// Prod implements process.Runner: g checks its inbox.
func (g *goroutine) Prod(*process.Acting) {
	select {
	case g.park <- struct{}{}:
	default:
	}
}

// Exited implements process.Runner.
func (g *goroutine) Exited(a *process.Acting, armed, _ bool) {
	if armed || g.Own.Boxed {
		g.Prod(a)
	}
	g.Answered(a)
}

// Busy implements process.Runner. A waiting function has not returned either: it is unwound.
func (g *goroutine) Busy(*process.Acting) bool { return true }

// Doing implements process.Runner.
func (g *goroutine) Doing() (observe.State, int) {
	if g.parked.Load() {
		return observe.Waiting, -1
	}
	return observe.Running, -1
}

// Owning implements process.Runner.
func (g *goroutine) Owning(_ *process.Acting, f func()) {
	g.QueueMu.Lock()
	f()
	g.QueueMu.Unlock()
}

// Inspect implements process.Runner.
func (g *goroutine) Inspect(f func()) {
	g.QueueMu.Lock()
	f()
	g.QueueMu.Unlock()
}

// receive is Blocking.receive. It arms the inbox before it parks; whoever disarms it sends once to g.park, with or without a
// message in g.given.
func (g *goroutine) receive(match func(any) bool, d time.Duration, from begin) (any, error) {
	if d < 0 {
		return nil, process.ErrBadTimeout
	}
	s, p := (*Blocking)(g), &g.Own
	s.QueueMu.Lock()
	s.seek(from)
	timed, waits := false, false
	for {
		if msg, ok := g.scan(match); ok {
			s.QueueMu.Unlock()
			if timed {
				s.waits.timer.Stop()
			}
			return msg, nil
		}
		if p.Refill() {
			continue
		}
		if p.Gone() {
			s.QueueMu.Unlock()
			return nil, process.ErrExited
		}
		if d == 0 {
			s.QueueMu.Unlock()
			return nil, process.ErrTimeout
		}
		if !p.Intake().Arm() {
			continue
		}
		s.QueueMu.Unlock()
		if !waits {
			waits = true
			s.waitsSince()
		}
		if d == Infinity {
			n := g.wait()
			s.QueueMu.Lock()
			if n == nil {
				continue
			}
			p.Queue.Append(n)
			continue
		}
		if !timed {
			timed = true
			g.clock(d)
		}
		n, expired := g.parkUntil()
		if expired {
			d = 0 // one last look
		}
		s.QueueMu.Lock()
		if n != nil {
			p.Queue.Append(n)
		}
	}
}

// wait parks until there is something to check: n, or what a nil n means.
func (g *goroutine) wait() (n *inbox.Node) {
	g.parked.Store(true)
	<-g.park
	g.parked.Store(false)
	return g.gift()
}

// parkUntil parks until there is something to check or the timer has fired.
func (g *goroutine) parkUntil() (n *inbox.Node, expired bool) {
	g.parked.Store(true)
	select {
	case <-g.park:
		n = g.gift()
	case <-g.waits.fires:
		expired = true
		if !g.Process.Boxed && !g.Process.Inbox.Claim() {
			<-g.park // a sender was faster, and the node is on its way
			n = g.gift()
		}
	}
	g.parked.Store(false)
	return n, expired
}

// scan takes the first message for which match, or nil for any, returns true.
func (g *goroutine) scan(match func(any) bool) (any, bool) {
	q := &g.Own.Queue
	if !g.Process.Plain() {
		if g.Process.Gone() {
			return nil, false
		}
		return g.scanTokens(match)
	}
	for msg, ok := q.Next(); ok; msg, ok = q.Next() {
		if match != nil && !g.wants(match, msg) {
			q.Skip()
			continue
		}
		g.take()
		return msg, true
	}
	return nil, false
}

// wants calls match, while others may access the queue.
func (g *goroutine) wants(match func(any) bool, msg any) bool {
	g.QueueMu.Unlock()
	ok := match(msg) // if it panics, the queue stays open to others
	g.QueueMu.Lock()
	return ok
}

// take removes the message that Next returns, and keeps its node.
func (g *goroutine) take() {
	p := &g.Own
	n := p.Queue.Drop()
	(*Blocking)(g).count()
	switch {
	case p.Boxed:
		p.Cold.Box.Done()
	case n != nil:
		n.Msg = nil
		g.spare = n
	}
}

// clock starts the process's timer.
func (g *goroutine) clock(d time.Duration) {
	w := (*Blocking)(g).prepare()
	w.begin()
	if w.timer == nil {
		w.timer, w.fires = g.System.Env.NewTimer(d)
	} else {
		w.timer.Reset(d)
	}
}

// sendsBeforeGosched is the number of sends after which a process on a goroutine of its own yields. Go's scheduler would
// leave it its processor for 10 ms, and many senders would fill the mailbox of one receiver with millions of messages.
const sendsBeforeGosched = 1024

// Await implements process.Blocker.
func (g *goroutine) Await(ctx context.Context, t process.Ticket, k calls.WaitKind, on wire.Dest) (any, error) {
	s := (*Blocking)(g)
	s.waitsFor(k, on, t)
	reply := s.waits.reply
	s.parked.Store(true)
	defer s.parked.Store(false)
	for over := ctx.Done(); !t.Done(); {
		select {
		case <-reply:
		case <-over:
			over = nil // once: it is being settled from now on
			t.Settle(&s.System.Plain, nil, cause.Of(ctx))
		}
		if s.Process.Gone() {
			if t.Settle(&s.Acting, nil, process.ErrExited); t.Done() {
				s.unwind()
			}
		}
	}
	return t.Call.Take()
}

// Deliver implements process.Blocker.
func (g *goroutine) Deliver(to *process.Process, msg any) error {
	s := (*Blocking)(g)
	if to.Boxed {
		return (*process.UserMailbox)(to).Deliver(&s.Acting, msg, &process.Patience{From: &s.Own})
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
	return to.Push(&s.Acting, n)
}

// Promise implements process.Blocker.
func (g *goroutine) Promise() *process.Call { return (*Blocking)(g).promise() }

// Context implements process.Blocker.
func (g *goroutine) Context() context.Context { return (*Blocking)(g).context() }

// Unwind implements process.Blocker.
func (g *goroutine) Unwind() { (*Blocking)(g).unwind() }

// WaitLocked implements process.Blocker.
func (g *goroutine) WaitLocked(st observe.State) observe.Wait { return (*Blocking)(g).waitLocked(st) }

// Name implements executor.Task.
func (g *goroutine) Name() string { return g.Own.Name() }

// Answered implements process.Blocker.
func (g *goroutine) Answered(*process.Acting) {
	g.Process.Mu.Lock()
	w := g.waits
	g.Process.Mu.Unlock()
	if w == nil {
		return
	}
	select {
	case w.reply <- struct{}{}:
	default:
	}
}

// scanTokens is scan if there may be tokens.
func (g *goroutine) scanTokens(match func(any) bool) (any, bool) {
	q := &g.Own.Queue
	for msg, ok := q.Next(); ok; msg, ok = q.Next() {
		with, _ := msg.(*watch.Carried)
		if with != nil {
			msg = with.Msg
		}
		if match != nil && !g.wants(match, msg) {
			q.Skip()
			continue
		}
		g.take()
		g.Process.Cold.Token.Take(with)
		return msg, true
	}
	return nil, false
}
