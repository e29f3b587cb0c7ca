package node

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/bias"
	"github.com/actornode/actornode/internal/executor"
	"github.com/actornode/actornode/internal/fiber"
	"github.com/actornode/actornode/internal/inbox"
	"github.com/actornode/actornode/node/internal/env"
	"github.com/actornode/actornode/node/observe"
)

// goroutine is the runner of a ProcessFunc with a goroutine of its own.
type goroutine Process

// handle is the runner of a process that a goroutine has opened: see [Node.Open]. That
// goroutine is not the runtime's to start or to end.
type handle struct{ *goroutine }

// start is part of runner.
func (handle) start(*acting, *executor.InlineWorker, bool) {}

// busy is part of runner.
func (handle) busy(*acting) bool { return false }

// here is part of runner: whose goroutine it is is not known.
func (handle) here() bool { return false }

// start is part of runner.
func (g *goroutine) start(*acting, *executor.InlineWorker, bool) {
	g.node.functions.Add(1)
	if g.node.env == (env.Env{}) {
		go g.run() // without the closure that Go takes
	} else {
		g.node.env.Go(g.run)
	}
}

// run is a Process's goroutine: started by spawn, ended by the function's
// return or by the process's death, waited for by Node.Stop.
func (g *goroutine) run() {
	s := (*Process)(g)
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
			p.leave(&s.acting, panicked(cause), true)
		} else if !p.gone() { // else unwound by die
			p.leave(&s.acting, panicked(nil), true)
		}
	}()
	if p.gone() {
		return
	}
	err := g.call(fiber.MarkOf(p))
	ended = true
	p.leave(&s.acting, reasonOf(err), true)
}

// call calls the function of the process, with what here looks for.
//
//go:noinline
func (g *goroutine) call(fiber.Mark) error { return g.fn((*Process)(g)) }

// here is part of runner.
func (g *goroutine) here() bool { return fiber.Marked(&g.own) }

// give ends a wait of g with a message. The caller owes s the wake-up.
func (g *goroutine) give(n *inbox.Node) {
	g.given = n
	g.park <- struct{}{}
}

// gift returns what has ended the wait; nil: g shall look around.
func (g *goroutine) gift() *inbox.Node {
	n := g.given
	g.given = nil
	return n
}

// wake is part of runner.
func (g *goroutine) wake(a *acting) { g.prod(a) }

// prod is part of runner: g looks around.
func (g *goroutine) prod(*acting) {
	select {
	case g.park <- struct{}{}:
	default:
	}
}

// exited is part of runner.
func (g *goroutine) exited(a *acting, armed, _ bool) {
	if armed || g.own.boxed {
		g.prod(a)
	}
	g.answered(a)
}

// busy is part of runner. One that waits has not returned either: it is unwound.
func (g *goroutine) busy(*acting) bool { return true }

// doing is part of runner.
func (g *goroutine) doing() (observe.State, int) {
	if atomic.LoadUint32(&g.parked) != 0 {
		return observe.Waiting, -1
	}
	return observe.Running, -1
}

// owning is part of runner.
func (g *goroutine) owning(_ *acting, f func()) {
	g.bias.Enter()
	f()
	g.bias.Leave()
}

// inspect is part of runner.
func (g *goroutine) inspect(f func()) {
	g.bias.Lock()
	f()
	g.bias.Unlock()
}

// receive is Process.receive. It arms the inbox before it parks; whoever
// takes it out of that state sends once to s.park, with or without a message in s.given.
func (g *goroutine) receive(match func(any) bool, d time.Duration) (any, error) {
	if d < 0 {
		return nil, ErrBadTimeout
	}
	s, p := (*Process)(g), &g.own
	s.bias.Enter()
	p.q.Rewind()
	timed, waits := false, false
	for {
		if msg, ok := g.scan(match); ok {
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
		if !p.intake().arm() {
			continue
		}
		s.bias.Leave()
		if !waits {
			waits = true
			s.waitsSince()
		}
		if d == Infinity {
			n := g.wait()
			s.bias.Enter()
			if n == nil {
				continue
			}
			p.q.Append(n)
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
		s.bias.Enter()
		if n != nil {
			p.q.Append(n)
		}
	}
}

// wait parks until there is something to look at: n, or what n nil says.
func (g *goroutine) wait() (n *inbox.Node) {
	bias.Store(&g.parked, 1)
	<-g.park
	bias.Store(&g.parked, 0)
	return g.gift()
}

// parkUntil parks until there is something to look at or the timer has fired.
func (g *goroutine) parkUntil() (n *inbox.Node, expired bool) {
	bias.Store(&g.parked, 1)
	select {
	case <-g.park:
		n = g.gift()
	case <-g.waits.fires:
		expired = true
		if !g.p.boxed && !g.p.in.Claim() {
			<-g.park // somebody was faster, and the node is on its way
			n = g.gift()
		}
	}
	bias.Store(&g.parked, 0)
	return n, expired
}

// scan takes the first message that match wants, nil standing for any.
func (g *goroutine) scan(match func(any) bool) (any, bool) {
	s, q := (*Process)(g), &g.own.q
	if st := s.p.status.Load(); st != alive {
		if st != tokened {
			return nil, false
		}
		return g.scanTokens(match)
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
		g.take()
		return msg, true
	}
	return nil, false
}

// take removes the message that Next returns, and keeps its node.
func (g *goroutine) take() {
	p := &g.own
	n := p.q.Drop()
	(*Process)(g).count()
	switch {
	case p.boxed:
		p.cold.box.Done()
	case n != nil:
		n.Msg = nil
		g.spare = n
	}
}

// clock starts the process's timer.
func (g *goroutine) clock(d time.Duration) {
	w := (*Process)(g).prepare()
	if w.timer == nil {
		w.timer, w.fires = g.node.env.NewTimer(d)
	} else {
		w.timer.Reset(d)
	}
}

// sendsBeforeGosched is how many sends a process on a goroutine of its own does until
// the others have a turn. Go's scheduler would leave it its processor for 10 ms, and
// many senders would fill the mailbox of one receiver with millions of messages.
const sendsBeforeGosched = 1024

// await is part of waiter.
func (g *goroutine) await(ctx context.Context, t ticket) (any, error) {
	return t.park(ctx, (*Process)(g))
}

// answered is part of waiter.
func (g *goroutine) answered(*acting) {
	g.p.mu.Lock()
	w := g.waits
	g.p.mu.Unlock()
	if w == nil {
		return
	}
	select {
	case w.reply <- struct{}{}:
	default:
	}
}
