package active

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
)

// task is what an activation of a group does.
type task interface {
	method
	act(c *node.Context) // sets the Context that the method uses from now on
}

// acts is the first part of each task: an activation, and its method's Context.
type acts struct {
	activation
	context Context
	wait    wait
}

// init makes t the task of a new activation of an object in g.
func (x *acts) init(g *group, object uint64, t task) {
	x.context.group, x.context.acts = g, x
	x.Method, x.Object = t, object
}

//actornode:ignore contextescape each turn of the activation sets it anew
func (x *acts) act(c *node.Context) { x.context.ActorContext = c }

// Completed is part of calls.Waiter: the awaited future is completed.
func (x *acts) Completed(by *process.Acting) {
	if g := x.context.group; by.Is(g.process) {
		g.Ready(&x.activation)
	} else {
		g.readyFromOutside(by, &x.activation)
	}
}

// call is the message that calls a method.
type call[T, A, R any] struct {
	object uint64
	f      callee[T, A, R] `isolation:"share"`
	arg    A
}

func (m call[T, A, R]) begin(g *group, from node.From) *activation {
	t := newTask(g, m.object, m.f, m.arg)
	t.from = from
	t.context.own = from.Inside(process.Key{}).Ticket()
	return &t.activation
}

// invoked is the activation of a method.
type invoked[T, A, R any] struct {
	acts
	callee callee[T, A, R]
	arg    A

	future *node.Future[R] // of a call within the group; nil: use from
	from   node.From
}

func newTask[T, A, R any](g *group, object uint64, f callee[T, A, R], arg A) *invoked[T, A, R] {
	t := &invoked[T, A, R]{callee: f, arg: arg}
	t.init(g, object, t)
	return t
}

// Run is part of method.
func (t *invoked[T, A, R]) Run() {
	g := t.context.group
	t.context.ActorContext = g.context
	if g.context.Inside(process.Key{}).Gone() {
		return
	}
	returned := false
	defer func() {
		if !returned {
			t.context.caller.returned()
			if err := t.context.broken(recover()); err != nil {
				t.fail(err, nil) // it is in the log
			}
		}
	}()
	var v any
	object, err := find[T](g, t.Object)
	switch { // here, not in a method of callee, to save stack
	case err != nil:
	case t.callee.with != nil:
		v, err = t.callee.with(object, &t.context, t.arg)
	default:
		v, err = t.callee.without(object, &t.context)
	}
	returned = true
	t.context.caller.returned()
	if err != nil {
		t.fail(err, unread(g, err))
		return
	}
	if c := t.context.ActorContext; t.future != nil {
		c.Inside(process.Key{}).Settle(t.future, v, nil, nil)
	} else {
		_ = c.Reply(t.from, v) // fails if the caller has given up
	}
}

// fail completes the future with an error. unread is as in Settle of a node.
func (t *invoked[T, A, R]) fail(err error, unread func()) {
	if c := t.context.ActorContext; t.future != nil {
		c.Inside(process.Key{}).Settle(t.future, nil, err, unread)
	} else {
		c.Inside(process.Key{}).FailFrom(t.from, err, unread)
	}
}

// unread returns a function that logs an error that nobody has read.
func unread(g *group, err error) func() {
	log, pid, object := g.node.Log(), g.pid, g.name
	return func() {
		log.Warn("a method failed, and nobody read its future", "pid", pid.String(), "object", object, "error", err)
	}
}

// broken returns the error of a method that did not return; nil: it was unwound. cause is what
// recover returned.
func (c *Context) broken(cause any) error {
	if cause == nil && c.ActorContext.Inside(process.Key{}).Gone() {
		return nil
	}
	crash := node.Panicked(cause)
	c.Node().Log().Error("a method panicked", "pid", c.Self().String(), "object", c.group.name, "reason", crash.Error(),
		"stack", string(crash.Stack))
	return &node.ExitError{Reason: crash}
}

// reception is the activation of Receiver.Receive.
type reception struct {
	acts
	receiver Receiver
	msg      any
}

func (g *group) newReception(r Receiver, msg any) *activation {
	t := &reception{receiver: r, msg: msg}
	t.init(g, 0, t)
	return &t.activation
}

// Run is part of method.
func (t *reception) Run() {
	g := t.context.group
	t.context.ActorContext = g.context
	returned := false
	defer func() {
		if !returned {
			if cause := recover(); cause != nil || !t.context.ActorContext.Inside(process.Key{}).Gone() {
				g.err = node.ExitWith(node.Panicked(cause))
				g.Stop()
			}
		}
	}()
	if err := t.receiver.Receive(&t.context, t.msg); err != nil {
		g.err = err
		g.Stop()
	}
	returned = true
}
