package rpc

import (
	"context"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Call calls a function on a node, possibly this one, in a separate process, and waits
// for its result: erpc:call of OTP, in both directions. Results are read into R like
// the replies to [node.Call]. Errors, and their form in erpc:
//
//	*Error                       the exception of the function: throw, exit
//	                             {exception, Reason}, error {exception, Reason, Stack}
//	ErrUndef                     an *Error: there is no such function
//	node.ErrNoConnection         a *node.ExitError: error {erpc, noconnection}
//	*node.ExitError              any other: the process was ended: exit {signal, Reason}
//	*SpawnError                  there was no process: error {erpc, Reason}
//	*wire.EncodeError            an argument is not a term
//	node.ErrReplyType            the result is not an R
//	node.ErrExited               the calling process has exited
//	the error of ctx             error {erpc, timeout}; the function goes on
func Call[R any](ctx context.Context, from node.Caller, at wire.Atom, module, function wire.Atom, args ...any) (R, error) {
	return node.Call[R](ctx, from, erpc.NewFunction(at, module, function, args), struct{}{})
}

// Async is Call that returns at once, as [node.Async] does: erpc:send_request, whose
// receive_response is Await of the future and whose wait_response is Poll.
func Async[R any](from node.Caller, at wire.Atom, module, function wire.Atom, args ...any) *node.Future[R] {
	return node.Async[R](from, erpc.NewFunction(at, module, function, args), struct{}{})
}

// Request is Call that returns at once; the caller gets the result as a message,
// a [node.Result] with the tag, as by [node.SendRequest].
func Request(from node.Caller, at wire.Atom, tag any, module, function wire.Atom, args ...any) {
	node.SendRequest(from, erpc.NewFunction(at, module, function, args), tag, struct{}{})
}

// Cast has a function called on a node, possibly this one, and returns at once;
// nobody is told the outcome: erpc:cast. A cast that cannot be sent, because there is no
// connection or an argument is not a term, is a dead letter, {Module, Function, Args}
// for erpc. Errors: [node.ErrExited]; [node.ErrNotHere] if this node is not distributed; for a cast to
// this node those of Spawn of [node.Node].
func Cast(from node.Caller, at wire.Atom, module, function wire.Atom, args ...any) error {
	return node.Send(from, erpc.NewFunction(at, module, function, args), nil)
}

// Reply is the outcome of a call on one of several nodes.
type Reply[R any] struct {
	Node  wire.Atom
	Value R
	Err   error
}

// Multi calls a function on several nodes at once and waits until each has
// answered or proved unreachable, or ctx ends: erpc:multicall. The replies are
// in the order of nodes; each has its own error, as from Call.
func Multi[R any](ctx context.Context, from node.Caller, nodes []wire.Atom, module, function wire.Atom, args ...any) []Reply[R] {
	replies := make([]Reply[R], len(nodes))
	if err := cause.Of(ctx); err != nil {
		for i, at := range nodes {
			replies[i] = Reply[R]{Node: at, Err: err}
		}
		return replies
	}
	calls := make([]*node.Future[R], 0, len(nodes))
	defer func() { // if this process is killed meanwhile
		for _, f := range calls {
			f.Cancel()
		}
	}()
	for _, at := range nodes {
		f := erpc.NewFunction(at, module, function, args)
		f.Now = true
		calls = append(calls, node.Async[R](from, f, struct{}{}))
	}
	for i, f := range calls {
		v, err := node.Await(ctx, from, f)
		replies[i] = Reply[R]{nodes[i], v, err}
	}
	return replies
}

// Spawn starts a process on a node, possibly this one: what that node exports as module:function,
// with arguments. Errors: [*SpawnError], [node.ErrNoConnection], [node.ErrExited], the error of ctx.
// A name that the node does not know is no error: the process ends with undef.
func Spawn(ctx context.Context, from node.Caller, at wire.Atom, module, function wire.Atom, args ...any) (wire.PID, error) {
	return node.Call[wire.PID](ctx, from, erpc.NewBehaviour(at, module, function, args), struct{}{})
}
