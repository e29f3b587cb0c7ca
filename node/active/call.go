package active

import (
	"fmt"
	"reflect"
	"runtime"
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
)

// Go calls a method of an object and returns at once. The future is completed with the method's
// result: see the package comment.
func Go[T, A, R any](from node.Caller, to Addr[T], method func(T, *Context, A) (R, error), arg A) *node.Future[R] {
	if c, ok := from.(*Context); ok {
		if c.check(); to.PID == c.group.pid {
			return beginHere(c, to.Object, callee[T, A, R]{with: method}, arg)
		}
	}
	return beginElsewhere(from, to, callee[T, A, R]{with: method}, arg)
}

// Do is [Go] for a method without an argument, or, as a function literal, one with any arguments:
//
//	active.Do(c, buffer, (*Buffer).Get)
//	active.Do(c, account, func(a *Account, c *active.Context) (int, error) { return a.Transfer(c, 20, "bob") })
//
// Only a method can be called on another node: see [ExportDo].
func Do[T, R any](from node.Caller, to Addr[T], method func(T, *Context) (R, error)) *node.Future[R] {
	if c, ok := from.(*Context); ok {
		if c.check(); to.PID == c.group.pid {
			return beginHere(c, to.Object, callee[T, struct{}, R]{without: method}, struct{}{})
		}
	}
	return beginElsewhere(from, to, callee[T, struct{}, R]{without: method}, struct{}{})
}

// callee is a method, or a function that is called like one, with an argument or without. One field is nil.
type callee[T, A, R any] struct {
	with    func(T, *Context, A) (R, error)
	without func(T, *Context) (R, error)
}

// name returns Go's name for the method, such as bank.(*Account).Withdraw, preceded by the path of the package: the same
// in all programs that have it.
func (f callee[T, A, R]) name() string {
	v := reflect.ValueOf(f.with)
	if f.with == nil {
		v = reflect.ValueOf(f.without)
	}
	return runtime.FuncForPC(v.Pointer()).Name()
}

// beginElsewhere is Go or Do to another group. It is a separate function to save stack in calls within a group, 264 bytes
// with the profile of a program that calls a lot; for that the two have the test between them and beginHere, too.
//
//go:noinline
func beginElsewhere[T, A, R any](from node.Caller, to Addr[T], f callee[T, A, R], arg A) *node.Future[R] {
	if where := to.where(); where != "" && where != from.Inside(process.Key{}).Node().Name() {
		body, err := newFarCall(to, f.name(), arg)
		if err != nil {
			failed := &node.Future[R]{}
			from.Inside(process.Key{}).Failed(failed, err)
			return failed
		}
		return node.Async[R](from, to.Dest(), body)
	}
	return node.Async[R, invocation](from, to.Dest(), call[T, A, R]{to.Object, f, arg})
}

// beginHere is Go or Do to an object of the group of c. Future and activation are one allocation.
func beginHere[T, A, R any](c *Context, object uint64, f callee[T, A, R], arg A) *node.Future[R] {
	t := &struct {
		invoked[T, A, R]
		promised node.Future[R]
	}{invoked: invoked[T, A, R]{callee: f, arg: arg}}
	t.init(c.group, object, &t.invoked)
	t.future = &t.promised
	c.ActorContext.Inside(process.Key{}).Promise(t.future)
	t.context.own = t.future.Inside(process.Key{}).Ticket()
	c.group.Ready(&t.activation)
	return t.future
}

// Call is Await of Go. If the object is of the same group, it runs the method at once, on the same stack.
func Call[T, A, R any](c *Context, to Addr[T], method func(T, *Context, A) (R, error), arg A) (R, error) {
	if to.PID != c.group.pid {
		return Await(c, Go(c, to, method, arg))
	}
	c.check()
	object, err := find[T](c.group, to.Object)
	if err != nil {
		var none R
		return none, err
	}
	if to.Object != c.acts.Object {
		return callAs(object, to.Object, c, method, arg)
	}
	return method(object, c, arg)
}

// callAs calls a method of an object other than the current one.
func callAs[T, A, R any](object T, number uint64, c *Context, method func(T, *Context, A) (R, error), arg A) (R, error) {
	x := c.acts
	defer func(was uint64) { x.Object = was }(x.Object)
	x.Object = number
	return method(object, c, arg)
}

// Await suspends the activation until a future is completed, and returns its value or error. Awaiting the future of
// the activation itself, which has not returned, fails with [node.ErrSelfCall].
func Await[R any](c *Context, f *node.Future[R]) (R, error) {
	c.check()
	if in := f.Inside(process.Key{}); !in.IsDone() {
		if err := c.await(in.Ticket(), in.Watches()); err != nil {
			var none R
			return none, err
		}
	}
	v, _, err := f.Result()
	return v, err
}

// Await2 is [Await] of two futures, whose values may have different types. The first error counts, and is returned as
// soon as it is known of f, or of g once f has its value.
func Await2[A, B any](c *Context, f *node.Future[A], g *node.Future[B]) (a A, b B, err error) {
	if a, err = Await(c, f); err == nil {
		b, err = Await(c, g)
	}
	return a, b, err
}

// await suspends the activation until the future with the ticket f is completed.
func (c *Context) await(f process.Ticket, w *process.Watches) error {
	if c.own == f {
		return fmt.Errorf("active: an activation awaits its own future: %w", node.ErrSelfCall)
	}
	c.mayWait()
	by := c.ActorContext.Inside(process.Key{}).Acting()
	if c.own.Call != nil && by.System.Cycles != nil {
		a := *by // the wait may end with another worker's Context
		if err := a.MayAwait(c.own, f, calls.WaitFuture, nil); err != nil {
			return err
		}
		defer a.Waited(c.own)
	}
	w.Wait(by, c.acts)
	c.suspended(future, c.group.Suspend)
	return nil
}

// Block waits for a future and blocks the group, which does nothing else meanwhile; [Await] suspends only the activation.
// If only an activation of the group could complete the future, Block waits for ever.
func Block[R any](c *Context, f *node.Future[R]) (R, error) {
	c.check()
	return node.Await(c.Context(), c.ActorContext, f)
}

// Context is what a method acts through. It belongs to the activation, and is valid until the method
// returns. Become and Push are not for active objects.
type Context struct {
	*node.ActorContext // of the current turn
	group              *group
	acts               *acts
	own                process.Ticket // of the call to answer, or zero
	caller             *callerWatch   // nil: the method has not asked whether its caller waits
}

// Until suspends the activation until a condition on the state of the group's objects holds. holds is
// called here, and again when other activations have run, on any goroutine: the package comment says when.
// Until panics if holds panics, with the same value. holds must not wait.
func (c *Context) Until(holds func() bool) {
	c.check()
	if holds() {
		return
	}
	c.mayWait()
	c.suspended(condition, func() { c.group.Until(holds) })
}

// UntilWithin is [Context.Until] for at most d. It reports whether the condition holds. With d <= 0 it does not suspend the
// activation.
func (c *Context) UntilWithin(d time.Duration, holds func() bool) bool {
	c.check()
	if holds() {
		return true
	} else if d <= 0 {
		return false
	}
	c.mayWait()
	g, late := c.group, false
	sys := g.process.System
	timer := sys.Env.AfterFunc(d, func() {
		g.fromOutside(&sys.Plain, func(o *outside) { o.late = append(o.late, &late) })
	})
	defer timer.Stop()
	c.suspended(condition, func() { g.Until(func() bool { return late || holds() }) })
	return !late || holds()
}

// Sleep suspends the activation for d. With d <= 0 it returns at once.
func (c *Context) Sleep(d time.Duration) {
	if c.check(); d <= 0 {
		return
	}
	c.mayWait()
	g, a := c.group, &c.acts.activation
	sys := g.process.System
	timer := sys.Env.AfterFunc(d, func() { g.readyFromOutside(&sys.Plain, a) })
	defer timer.Stop()
	c.suspended(asleep, g.Suspend)
}

// Suspend suspends the activation until all others that are ready now have run, and lets calls begin that have arrived.
func (c *Context) Suspend() {
	c.check()
	c.mayWait()
	c.suspended(turn, c.group.Yield)
}

// check panics if the activation of c does not run.
func (c *Context) check() {
	if !c.group.runs(c) {
		panic("active: a Context is used outside its activation, or by another goroutine")
	}
}

// mayWait panics if the activation must not be suspended.
func (c *Context) mayWait() {
	if c.group.Locked() {
		panic(node.ErrThreadLocked)
	}
}

// suspended calls wait, which suspends the activation, and then sets the Context of the current turn. The activation
// does not go on if the process is dead.
func (c *Context) suspended(k kind, wait func()) {
	g, w := c.group, &c.acts.wait
	g.waits.begin(w, k, c.ActorContext.Inside(process.Key{}).Coarse())
	defer g.waits.end(w)
	wait()
	c.ActorContext = c.group.context
	if c.ActorContext.Inside(process.Key{}).Gone() {
		runtime.Goexit()
	}
}
