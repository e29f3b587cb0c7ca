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
func Call[T node.Dest, Q Asks[R], R any](ctx context.Context, from node.Caller, to T, req Q) (R, error) {
	return node.Call[R](ctx, from, to, req)
}

// CallWithin is Call with a timeout in place of a context.
func CallWithin[T node.Dest, Q Asks[R], R any](d time.Duration, from node.Caller, to T, req Q) (R, error) {
	return node.CallWithin[R](d, from, to, req)
}

// Async sends a request and returns at once; the future gets what Call would
// return. In an Actor, whose methods must not wait, use its SendTo, or
// [node.SendRequest], which costs less and does not check the types.
func Async[T node.Dest, Q Asks[R], R any](from node.Caller, to T, req Q) *node.Future[R] {
	return node.Async[R](from, to, req)
}

// Sender sends messages: a [*node.Node], a [*node.Context], a [*Context], or a
// [*node.Process].
type Sender = node.Sender

// Cast sends a message that the server handles without a reply. It returns before
// that, and the errors of the Sender: whether there is a server, and whether it
// handles casts of this type, it does not say, except [node.ErrNoName].
func Cast[T node.Dest, M any](from Sender, to T, msg M) error {
	return node.SendTo(from, to, node.Cast[M]{Body: msg})
}

// Stop ends a server with a reason, its Terminate included, and waits until it
// is gone: gen_server:stop. Errors: see [sys.Stop]. It does not kill: a server that
// does not come back from a method or from Terminate is left when ctx ends.
func Stop[T node.Dest](ctx context.Context, from node.Caller, to T, reason any) error {
	return sys.Stop(ctx, from, to, reason)
}
