package node

import (
	"context"
	"time"
)

// Deadline returns when the caller gives up: the deadline of the context of its [Call], on this node's clock. ok is
// false if there is none, or it is unknown, or the caller no longer waits. A caller on another Go node sends how long it
// waits, so clocks need not agree; the time that a request is under way is not counted. Unknown are the deadlines of
// callers on other nodes if the call is made by OTP, goes to an alias, was sent before the nodes were connected, was
// forwarded by another node, or may take more than 24 days.
func (f From) Deadline() (at time.Time, ok bool) {
	if at, ok = f.t.Deadline(); !ok || !f.farWaits() {
		return time.Time{}, false
	}
	return at, true
}

// Context returns a context for the work on the request: its deadline is that of the caller. It ends when the caller
// gives up, when the request is answered, and with parent, such as the context of the process. [Forward] ends it, too, also
// if it fails; then call Context again. A caller on another node that gives up says so, if it is on a Go node or called
// by OTP's gen_server; one whose node is lost has given up. Call Context once for a request: each one lives until the
// request is answered or parent ends.
//
//	func (s *Search) HandleCall(c *node.Context, r node.Request[Query]) {
//		rows, err := s.db.QueryContext(r.Context(c.Context()), r.Body.SQL)
func (f From) Context(parent context.Context) context.Context {
	ctx, cancel := f.t.Context(parent)
	if !f.t.Observe(callContext{cancel}) {
		cancel()
	}
	return ctx
}

// callContext is told when its request is over.
type callContext struct{ cancel context.CancelFunc }

// Forget is part of calls.Watch.
func (w callContext) Forget() { w.cancel() }
