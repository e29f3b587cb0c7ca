package node

import (
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/nodehook"
	"github.com/actornode/actornode/internal/sched/fiber"
)

// What package active needs of a process: see package nodehook.
func init() {
	nodehook.Fibers = func(c any) *fiber.Pool { return &c.(*Context).own.System.Fibers }
	nodehook.Home = func(c any) *fiber.Fiber { return c.(*Context).switcher() }
	nodehook.Gone = func(c any) bool { return c.(*Context).own.Process.Gone() }
	nodehook.Coarse = func(c any) int64 { return c.(*Context).own.System.Clock.Coarse() }
	nodehook.Past = func(c any) any { return c.(*Context).past() }
	nodehook.Signal = func(from any, to PID, msg any) bool {
		a := from.(Caller).caller()
		p := a.System.Lookup(to)
		if p != nil {
			p.Signal(a, msg)
		}
		return p != nil
	}
	nodehook.Open = func(from, f any) { f.(ownFuture).open(from.(Caller).caller()) }
	nodehook.Promise = func(c, f any) { f.(ownFuture).promise(c.(*Context).by) }
	nodehook.Settle = func(from, f, reply any, err error, unread func()) {
		f.(ownFuture).ticket().SettleOrTell(from.(Caller).caller(), reply, err, unread)
	}
	nodehook.FailFrom = func(c, from any, err error, unread func()) {
		_ = from.(From).answerOrTell(c.(*Context).by, nil, err, unread) // who has given up does not want it
	}
	nodehook.IsDone = func(f any) bool { return f.(ownFuture).ticket().Done() }
	nodehook.Wait = func(c, f, waiter any) {
		f.(ownFuture).watches().Wait(c.(*Context).by, waiter.(calls.Waiter[*process.Acting]))
	}
	nodehook.Watch = func(from, f any, then func(by any)) (stop func()) {
		w := f.(ownFuture).watches()
		number := w.Add(from.(Caller).caller(), func(a *process.Acting) { then(&common{a}) })
		return func() { w.Remove(number) }
	}
	nodehook.Failed = func(from, f any, err error) {
		f.(ownFuture).open(from.(Caller).caller())
		nodehook.Settle(from, f, nil, err, nil)
	}
	nodehook.Process = func(c any) (process, behaviour any) {
		p := c.(*Context).own.Process
		return p, behaviourOf(p)
	}
	nodehook.Slot = func(c, slot any) (was any) {
		x := c.(*Context)
		was, x.behaviour = x.behaviour, slot.(*Actor)
		return was
	}
	nodehook.Ticket = func(f any) any { return f.(interface{ ticket() process.Ticket }).ticket() }
}

// switcher is nodehook.Home.
func (c *Context) switcher() *fiber.Fiber {
	if w := c.own.Worker; w == nil || !w.CanSwitch() {
		return nil
	}
	return c.local.Fiber
}

// past is nodehook.Past.
func (c *Context) past() *Context {
	past := newContext(c.own.System)
	past.own.Process, past.behaviour = c.own.Process, c.behaviour
	return past
}

// ownFuture is a *Future of whatever type.
type ownFuture interface {
	open(a *process.Acting)
	promise(a *process.Acting)
	ticket() process.Ticket
	watches() *process.Watches
}

// open makes f, which is new, one that nothing has completed, and the process who has made it.
func (f *Future[R]) open(a *process.Acting) {
	f.p.System, f.p.More, f.by = a.System, &f.w, a.Process
	f.t = f.p.NewTicket()
}

// promise makes f, which is new, the reply to a call that the process makes to itself.
func (f *Future[R]) promise(a *process.Acting) {
	f.open(a)
	f.p.Target = a.Process
	if !f.p.List() {
		f.t.Settle(a, nil, &ExitError{Reason: NoProc})
	}
}

func (f *Future[R]) ticket() process.Ticket { return f.t }

func (f *From) ticket() process.Ticket { return f.t }
