package active

import (
	"context"
	"sync"
)

// Pending reports whether the caller still waits for the result of the method. It no longer waits once it has cancelled
// the future, or its context has ended. In Receiver.Receive, Pending is false. A condition may call Pending, and is
// evaluated again when the answer changes:
//
//	c.Until(func() bool { return a.balance >= n || !c.Pending() })
//	if !c.Pending() {
//		return 0, nil // the result is not read
//	}
func (c *Context) Pending() bool {
	if c.own.Call == nil {
		return false
	}
	return !c.watchCaller().isOver() && c.own.Pending()
}

// CallContext returns a context that ends when the caller gives up, at its [node.From.Deadline], when the method has
// returned, and when the process ends.
func (c *Context) CallContext() context.Context {
	if c.own.Call == nil {
		return c.Context()
	}
	w := c.watchCaller()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx == nil {
		w.ctx, w.cancel = c.own.Context(c.Context())
		if w.over {
			w.cancel()
		}
	}
	return w.ctx
}

// callerWatch is told when a call ends: the caller has given up, or the method has returned.
type callerWatch struct {
	group *group

	mu     sync.Mutex
	over   bool
	ctx    context.Context // nil: the method has not asked for it
	cancel context.CancelFunc
}

// watchCaller has the activation told when its caller gives up.
func (c *Context) watchCaller() *callerWatch {
	if c.caller == nil {
		c.caller = &callerWatch{group: c.group}
		if !c.own.Observe(c.caller) {
			c.caller.Forget()
		}
	}
	return c.caller
}

func (w *callerWatch) isOver() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

// Forget is part of calls.Watch.
func (w *callerWatch) Forget() {
	if w.end() {
		w.group.fromOutside(&w.group.process.System.Plain, func(o *outside) { o.changed = true })
	}
}

// end ends the context. It reports whether w was not over before.
func (w *callerWatch) end() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.over
	w.over = true
	if w.cancel != nil {
		w.cancel()
	}
	return !was
}

// returned is called when the method has returned, before its future is completed.
func (w *callerWatch) returned() {
	if w != nil {
		w.end()
	}
}
