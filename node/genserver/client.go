package genserver

import (
	"context"

	"github.com/actornode/actornode/node"
)

// Call sends a request and waits for the reply, whose type the request fixes. It
// is [node.Call] with the two types tied together. It returns the errors of node.Call, the error of the
// server's method, or [*UnhandledError] if the server has no such method. It also calls machines of
// package statem. [sys.Stop] ends a server. [CallTo] also checks that
// the request is for this server.
func Call[Q Returning[R], R any](ctx context.Context, from node.Caller, to node.Dest, req Q) (R, error) {
	return node.Call[R](ctx, from, to, req)
}

// Async sends a request and returns at once; the future gets what Call would
// return. In an Actor, whose methods must not wait, use the future's SendTo, or
// [node.SendRequest], which costs less and does not check the types.
func Async[Q Returning[R], R any](from node.Caller, to node.Dest, req Q) *node.Future[R] {
	return node.Async[R](from, to, req)
}

// Cast sends a message that the server handles without a reply. It does not wait for that. The
// errors are those of [node.Node.Send]: apart from [node.ErrNoName], they do not tell whether there is a server or
// whether it handles casts of this type.
func Cast[M any](from node.Caller, to node.Dest, msg M) error {
	return node.Send(from, to, node.Cast[M]{Body: msg})
}
