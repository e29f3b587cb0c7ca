package genserver

import (
	"context"

	"github.com/actornode/actornode/node"
)

// Call sends a request and waits for the reply, whose type the request says. It
// is [node.Call] with the types joined; the errors are the same, and what the
// server's method returned. [*UnhandledError] if the server has no such method. Machines of
// package statem are called by it, too. [sys.Stop] ends a server. [CallTo] also checks that
// the request is for this server.
func Call[Q Returning[R], R any](ctx context.Context, from node.Caller, to node.Dest, req Q) (R, error) {
	return node.Call[R](ctx, from, to, req)
}

// Async sends a request and returns at once; the future gets what Call would
// return. In an Actor, whose methods must not wait, use its SendTo, or
// [node.SendRequest], which costs less and does not check the types.
func Async[Q Returning[R], R any](from node.Caller, to node.Dest, req Q) *node.Future[R] {
	return node.Async[R](from, to, req)
}

// Cast sends a message that the server handles without a reply. It returns before
// that, and the errors of [node.Node.Send]: whether there is a server, and whether it
// handles casts of this type, it does not say, except [node.ErrNoName].
func Cast[M any](from node.Caller, to node.Dest, msg M) error {
	return node.Send(from, to, node.Cast[M]{Body: msg})
}
