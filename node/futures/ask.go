package futures

import (
	"time"

	"github.com/actornode/actornode/node"
)

// Asked is a request of an Actor whose answer comes in a later turn.
type Asked[R any] struct {
	c *node.Context
	f *node.Future[R]
}

// Ask sends a request on behalf of the Actor whose handler runs, and returns at once:
//
//	futures.Ask[string](c, shop, Get{}).Within(30*time.Second).Then(func(c *node.Context, s string, err error) error {
//		…
//	})
//
// The request is sent now. Within and Then may follow later in the same turn.
func Ask[R, Q any](c *node.Context, to node.Dest, req Q) Asked[R] {
	return Asked[R]{c, node.Async[R](c, to, req)}
}

// Within gives up after d: the answer is then [node.ErrTimeout]. A later answer is a dead letter. The process that is asked
// does not know d in advance, because the request has been sent already: [node.From.Deadline] returns none. It can see
// that the caller has given up: see [node.From.Context].
func (a Asked[R]) Within(d time.Duration) Asked[R] {
	Within(a.c, d, a.f)
	return a
}

// Then has do called with the answer, or the error: see the function [Then]. It returns the answer as a
// future. Cancelling the future gives up: do is called with context.Canceled.
func (a Asked[R]) Then(do func(c *node.Context, v R, err error) error) *node.Future[R] {
	Then(a.c, a.f, do)
	return a.f
}
