package event

import (
	"context"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// notifyRequest is an event on its way to a manager.
type notifyRequest struct{ event any }

// Term is {notify, Event}.
func (m notifyRequest) Term() any { return wire.Tuple{aNotify, m.event} }

// Requests to a manager, as Go sends them. Go nodes send each other those with exported fields
// as they are; the others, and all requests to OTP nodes, go as terms, as in Erlang's gen_event.
type (
	syncNotifyRequest struct{ event any }
	callRequest       struct {
		ID      ID
		Request any
	}
	addRequest struct {
		id    ID
		h     Handler `isolation:"share"`
		owned bool    // by the caller
	}
	deleteRequest struct {
		ID  ID
		Arg any
	}
	swapRequest struct {
		old, new ID
		arg      any
		h        Handler `isolation:"share"`
		owned    bool
	}
	whichHandlersRequest struct{}
)

// Term is {sync_notify, Event}.
func (q syncNotifyRequest) Term() any { return wire.Tuple{aSyncNotify, q.event} }

// Term is {call, Handler, Request}.
func (q callRequest) Term() any { return wire.Tuple{aCall, q.ID.term(), q.Request} }

// Term is {add_handler, Handler, State}.
func (q addRequest) Term() any { return wire.Tuple{aAdd, q.id.term(), stateOf(q.h)} }

// Term is {delete_handler, Handler, Arg}.
func (q deleteRequest) Term() any { return wire.Tuple{aDelete, q.ID.term(), q.Arg} }

// Term is {swap_handler, Handler, Arg, NewHandler, State}.
func (q swapRequest) Term() any {
	return wire.Tuple{aSwap, q.old.term(), q.arg, q.new.term(), stateOf(q.h)}
}

// Term is which_handlers.
func (q whichHandlersRequest) Term() any { return aWhich }

// Notify sends an event to a manager's handlers and does not wait. The errors are
// those of Send.
func Notify(from node.Caller, to node.Dest, event any) error {
	return node.Send(from, to, notifyRequest{event})
}

// SyncNotify is Notify that returns when all handlers have handled the event.
// SyncNotify and the functions below have the errors of [node.Call].
func SyncNotify(ctx context.Context, from node.Caller, to node.Dest, event any) error {
	_, err := node.Call[any](ctx, from, to, syncNotifyRequest{event})
	return err
}

// Call asks one handler and returns its reply. Errors: [ErrNoHandler], [ErrNoCalls], and what
// HandleCall returned.
func Call[R any](ctx context.Context, from node.Caller, to node.Dest, id ID, request any) (R, error) {
	return node.Call[R](ctx, from, to, callRequest{id, request})
}

// Add adds a handler, which gets later events before all others. The error is
// what its Init returned, or a [*node.ExitError] with the [*node.Crash] of its panic.
func Add(ctx context.Context, from node.Caller, to node.Dest, id ID, h Handler) error {
	h, isOwned := disown(h)
	_, err := node.Call[ID](ctx, from, to, addRequest{id, h, isOwned})
	return err
}

// Owned makes the process that calls [Add] or [Swap] the owner of a handler: the handler is
// removed when the owner exits, and the owner gets an [Exit] when the handler is removed
// for another reason: add_sup_handler, swap_sup_handler. Manager and owner are linked. A plain
// goroutine cannot own a handler. A manager's Modules and Context.Swap do not take an owned handler.
func Owned(h Handler) Handler { return owned{h} }

// owned is a handler with an owner, on its way to Add or Swap.
type owned struct{ Handler }

func disown(h Handler) (Handler, bool) {
	if o, ok := h.(owned); ok {
		return o.Handler, true
	}
	return h, false
}

// Delete removes a handler and returns what its Terminate returned, or ok if it has
// none. Errors: [ErrNoHandler].
func Delete(ctx context.Context, from node.Caller, to node.Dest, id ID, arg any) (any, error) {
	return node.Call[any](ctx, from, to, deleteRequest{id, arg})
}

// Swap removes a handler, passing arg to its Terminate, and adds another. The owner of the
// old one owns the new one, or the caller does if it is [Owned]. If the new one is
// an [Heir], it gets what Terminate returned. It is added even if there is no old one. The
// errors are those of Add.
func Swap(ctx context.Context, from node.Caller, to node.Dest, old ID, arg any, id ID, h Handler) error {
	h, isOwned := disown(h)
	_, err := node.Call[any](ctx, from, to, swapRequest{old, id, arg, h, isOwned})
	return err
}

// Handlers returns the handlers of a manager, the one added last first:
// which_handlers.
func Handlers(ctx context.Context, from node.Caller, to node.Dest) ([]ID, error) {
	return node.Call[[]ID](ctx, from, to, whichHandlersRequest{})
}
