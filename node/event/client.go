package event

import (
	"context"
	"time"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// notifyRequest is an event on its way to a manager.
type notifyRequest struct{ event any }

// Term is {notify, Event}.
func (m notifyRequest) Term() any { return wire.Tuple{aNotify, sysmsg.Term(m.event)} }

// What a manager is asked, on its way from Go. Terms as in Erlang's gen_event.
type (
	syncNotifyRequest struct{ event any }
	callRequest       struct {
		id      ID
		request any
	}
	addRequest struct {
		id    ID
		h     Handler
		owned bool // by the caller
	}
	deleteRequest struct {
		id  ID
		arg any
	}
	swapRequest struct {
		old, new ID
		arg      any
		h        Handler
		owned    bool
	}
	whichHandlersRequest struct{}
)

// Term is {sync_notify, Event}.
func (q syncNotifyRequest) Term() any { return wire.Tuple{aSyncNotify, sysmsg.Term(q.event)} }

// Term is {call, Handler, Request}.
func (q callRequest) Term() any { return wire.Tuple{aCall, q.id.term(), sysmsg.Term(q.request)} }

// Term is {add_handler, Handler, State}.
func (q addRequest) Term() any { return wire.Tuple{aAdd, q.id.term(), stateOf(q.h)} }

// Term is {delete_handler, Handler, Arg}.
func (q deleteRequest) Term() any { return wire.Tuple{aDelete, q.id.term(), sysmsg.Term(q.arg)} }

// Term is {swap_handler, Handler, Arg, NewHandler, State}.
func (q swapRequest) Term() any {
	return wire.Tuple{aSwap, q.old.term(), sysmsg.Term(q.arg), q.new.term(), stateOf(q.h)}
}

// Term is which_handlers.
func (q whichHandlersRequest) Term() any { return aWhich }

// Notify sends an event to a manager's handlers and does not wait. The errors are
// those of Send.
func Notify(from node.Caller, to node.Dest, event any) error {
	return node.Send(from, to, notifyRequest{event})
}

// SyncNotify is Notify that returns when all handlers have handled the event.
// The errors of this and the functions below are those of [node.Call].
func SyncNotify(ctx context.Context, from node.Caller, to node.Dest, event any) error {
	_, err := node.Call[any](ctx, from, to, syncNotifyRequest{event})
	return err
}

// Call asks one handler and returns its reply. [ErrNoHandler], [ErrNoCalls], what
// HandleCall returned.
func Call[R any](ctx context.Context, from node.Caller, to node.Dest, id ID, request any) (R, error) {
	return node.Call[R](ctx, from, to, callRequest{id, request})
}

// CallWithin is Call with a timeout in place of a context.
func CallWithin[R any](d time.Duration, from node.Caller, to node.Dest, id ID, request any) (R, error) {
	return node.CallWithin[R](d, from, to, callRequest{id, request})
}

// Add adds a handler; it is the first that later events come to. The error is
// what its Init returned, or a [*node.ExitError] with the [*node.Crash] of its panic.
func Add(ctx context.Context, from node.Caller, to node.Dest, id ID, h Handler) error {
	_, err := node.Call[ID](ctx, from, to, addRequest{id, h, false})
	return err
}

// AddOwned is Add for a handler that is taken out when the calling process exits,
// and whose owner gets an [Exit] when it is taken out otherwise: add_sup_handler.
// Manager and owner are linked. [ErrNoOwner] if the caller is a plain goroutine.
func AddOwned(ctx context.Context, from node.Caller, to node.Dest, id ID, h Handler) error {
	_, err := node.Call[ID](ctx, from, to, addRequest{id, h, true})
	return err
}

// Delete takes a handler out and returns what its Terminate answered, ok without
// one. [ErrNoHandler].
func Delete(ctx context.Context, from node.Caller, to node.Dest, id ID, arg any) (any, error) {
	return node.Call[any](ctx, from, to, deleteRequest{id, arg})
}

// Swap takes a handler out, arg is for its Terminate, and adds another, which is
// owned by who owned the old one, and told what Terminate answered if it is an
// [Heir]. It adds the new one even if there is no old one. The errors are those
// of Add.
func Swap(ctx context.Context, from node.Caller, to node.Dest, old ID, arg any, id ID, h Handler) error {
	_, err := node.Call[any](ctx, from, to, swapRequest{old, id, arg, h, false})
	return err
}

// SwapOwned is Swap for a handler that the calling process owns.
func SwapOwned(ctx context.Context, from node.Caller, to node.Dest, old ID, arg any, id ID, h Handler) error {
	_, err := node.Call[any](ctx, from, to, swapRequest{old, id, arg, h, true})
	return err
}

// Handlers returns the handlers of a manager, the one added last first:
// which_handlers.
func Handlers(ctx context.Context, from node.Caller, to node.Dest) ([]ID, error) {
	return node.Call[[]ID](ctx, from, to, whichHandlersRequest{})
}

// Stop ends a manager with a reason, the Terminate of its handlers included, and
// waits until it is gone.
func Stop(ctx context.Context, from node.Caller, to node.Dest, reason any) error {
	return sys.Stop(ctx, from, to, reason)
}
