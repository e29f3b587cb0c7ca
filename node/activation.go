package node

import (
	"github.com/actornode/actornode/internal/fiber"
	"github.com/actornode/actornode/internal/nodehook"
)

// What package active needs of a process: see package nodehook.
func init() {
	nodehook.Fibers = func(c any) *fiber.Pool { return &c.(*Context).node.fibers }
	nodehook.Home = func(c any) *fiber.Fiber { return c.(*Context).switcher() }
	nodehook.Gone = func(c any) bool { return c.(*Context).p.gone() }
	nodehook.Past = func(c any) any { return c.(*Context).past() }
	nodehook.Signal = func(from any, to PID, msg any) bool {
		a := from.(Caller).caller()
		p := a.node.lookup(to)
		if p != nil {
			p.signal(a, msg)
		}
		return p != nil
	}
	nodehook.Promise = func(c, f any) { f.(ownFuture).promise(&c.(*Context).acting) }
	nodehook.Settle = func(c, f, reply any, err error) {
		f.(ownFuture).ticket().settle(&c.(*Context).acting, reply, err)
	}
	nodehook.IsDone = func(f any) bool { return f.(ownFuture).ticket().done() }
	nodehook.OnDone = func(c, f any, then func(by any, inTurn bool)) {
		a := &c.(*Context).acting
		p := a.p
		f.(ownFuture).watches().Add(a, func(a *acting) { then(a, a.is(p)) })
	}
	nodehook.Failed = func(from, f any, err error) { f.(ownFuture).failed(from.(Caller).caller(), err) }
}

// switcher is nodehook.Home.
func (c *Context) switcher() *fiber.Fiber {
	if c.w == nil || !c.w.CanSwitch() {
		return nil
	}
	return c.home
}

// past is nodehook.Past.
func (c *Context) past() *Context {
	past := &Context{}
	past.acting = acting{node: c.node, p: c.p, ctx: past}
	return past
}

// ownFuture is a *Future of whatever type.
type ownFuture interface {
	promise(a *acting)
	failed(a *acting, err error)
	ticket() ticket
	watches() *watches
}

// promise makes f, which is new, the reply to a call that the process makes to itself.
func (f *Future[R]) promise(a *acting) {
	f.p.node, f.p.more, f.p.target = a.node, &f.w, a.p
	f.t = f.p.arm()
	if !f.p.list() {
		f.t.settle(a, nil, &ExitError{NoProc})
	}
}

// failed makes f, which is new, one that has failed.
func (f *Future[R]) failed(a *acting, err error) {
	f.p.node, f.p.more = a.node, &f.w
	f.t = f.p.arm()
	f.t.settle(a, nil, err)
}

func (f *Future[R]) ticket() ticket { return f.t }
