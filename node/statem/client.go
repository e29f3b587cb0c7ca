package statem

import (
	"context"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/sys"
)

// Returns is embedded in a request type to say what type its reply has: the same
// as for a server of package genserver, whose requests a machine can be sent.
type Returns[R any] = genserver.Returns[R]

// Call sends a request and waits for the reply, whose type the request says. It
// is [node.Call] with the types joined; the errors are the same, what the state
// function returned, and [*UnhandledError].
func Call[Q genserver.Asks[R], R any](ctx context.Context, from node.Caller, to node.Dest, req Q) (R, error) {
	return node.Call[R](ctx, from, to, req)
}

// CallWithin is Call with a timeout in place of a context.
func CallWithin[Q genserver.Asks[R], R any](d time.Duration, from node.Caller, to node.Dest, req Q) (R, error) {
	return node.CallWithin[R](d, from, to, req)
}

// Async sends a request and returns at once: send_request of gen_statem.
func Async[Q genserver.Asks[R], R any](from node.Caller, to node.Dest, req Q) *node.Future[R] {
	return node.Async[R](from, to, req)
}

// Cast sends a message that the machine handles without a reply.
func Cast[M any](from node.Caller, to node.Dest, msg M) error {
	return node.Send(from, to, node.Cast[M]{Body: msg})
}

// Stop ends a machine with a reason, its Terminate included, and waits until it
// is gone. The error is a [*node.ExitError] if it ended for another reason.
func Stop(ctx context.Context, from node.Caller, to node.Dest, reason any) error {
	return sys.Stop(ctx, from, to, reason)
}
