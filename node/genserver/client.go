package genserver

import (
	"context"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/sys"
)

// Call sends a request and waits for the reply, whose type the request says. It
// is [node.Call] with the types joined; the errors are the same, and what the
// server's method returned. [*UnhandledError] if the server has no such method.
func Call[Q Asks[R], R any](ctx context.Context, from node.Caller, to node.Dest, req Q) (R, error) {
	return node.Call[R](ctx, from, to, req)
}

// CallWithin is Call with a timeout in place of a context.
func CallWithin[Q Asks[R], R any](d time.Duration, from node.Caller, to node.Dest, req Q) (R, error) {
	return node.CallWithin[R](d, from, to, req)
}

// Async sends a request and returns at once; the future gets what Call would
// return. In an Actor, whose methods must not wait, use its SendTo, or
// [node.SendRequest], which costs less and does not check the types.
func Async[Q Asks[R], R any](from node.Caller, to node.Dest, req Q) *node.Future[R] {
	return node.Async[R](from, to, req)
}

// Cast sends a message that the server handles without a reply. It returns before
// that, and the errors of [node.Node.Send]: whether there is a server, and whether it
// handles casts of this type, it does not say, except [node.ErrNoName].
func Cast[M any](from node.Caller, to node.Dest, msg M) error {
	return node.Send(from, to, node.Cast[M]{Body: msg})
}

// Stop ends a server with a reason, its Terminate included, and waits until it
// is gone: gen_server:stop. Errors: see [sys.Stop]. It does not kill: a server that
// does not come back from a method or from Terminate is left when ctx ends.
func Stop(ctx context.Context, from node.Caller, to node.Dest, reason any) error {
	return sys.Stop(ctx, from, to, reason)
}
