package event

import (
	"errors"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Handler handles the events of a manager. If it panics or returns an error, the manager
// removes and reports it; the other handlers go on. The error [ErrRemove] removes it
// without a report.
//
// All handlers of a manager run in its process, one after the other.
type Handler interface {
	HandleEvent(c *Context, event any) error
}

// Interfaces that a [Handler] may also implement. [sys.Stater], [sys.StateSetter] and [sys.CodeChanger]
// are for system messages.
type (
	// Initializer is called when the handler is about to be added. If it returns an error, the
	// handler is not added.
	Initializer interface{ Init(c *Context) error }

	// Heir is called instead of Init when the handler replaces another in a swap. legacy is
	// what the other's Terminate returned. found is false if
	// there was no other handler.
	Heir interface {
		Inherit(c *Context, legacy any, found bool) error
	}

	// Caller answers the requests that [Call] sends to this handler. An error goes to
	// the caller, and the handler stays. The handler is removed after [ErrRemove], which may come with a
	// reply, after node.ExitWith, and after a panic.
	Caller interface {
		HandleCall(c *Context, request any) (reply any, err error)
	}

	// Listener handles the messages that are neither events nor calls, such as
	// node.Exited. A handler without it does not get them.
	Listener interface {
		HandleInfo(c *Context, msg any) error
	}

	// Terminator is called when the handler has been removed. The result is for the
	// caller that removed it: see Delete and Swap.
	Terminator interface {
		Terminate(c *Context, end End) any
	}
)

// ErrRemove, returned from a handler, removes it from the manager: remove_handler.
var ErrRemove = errors.New("event: remove this handler")

// Errors that callers get.
var (
	ErrNoHandler = errors.New("event: the manager has no such handler")
	ErrNoCalls   = errors.New("event: the handler answers no calls")
	errNoModule  = errors.New("event: the manager has no handler module of that name")
	errUnknown   = errors.New("event: unknown request")
	errNoOwner   = errors.New("event: only a process can own a handler")
)

// ID identifies a handler: a module, and an ID that distinguishes several handlers of one module, or nil.
// It is Erlang's Module or {Module, Id}. If two handlers have the same ID, it means
// the one that was added last.
type ID struct {
	Module node.Atom
	ID     any
}

// term is Module or {Module, Id}.
func (i ID) term() any {
	if i.ID == nil {
		return i.Module
	}
	return wire.Tuple{i.Module, i.ID}
}

// text is Module or {Module, Id} as text.
func (i ID) text() string { return sysmsg.Words(i.term()) }

// idOf reads Module or {Module, Id}.
func idOf(term any) (ID, bool) {
	switch t := term.(type) {
	case ID:
		return t, true
	case wire.Atom:
		return ID{Module: t}, true
	case wire.Tuple:
		if len(t) == 2 {
			m, ok := t[0].(wire.Atom)
			if on, isBool := wire.AsBool(t[1]); isBool && !on {
				return ID{Module: m}, ok // as in OTP, where false stands for nothing
			}
			return ID{m, t[1]}, ok
		}
	}
	return ID{}, false
}

// How says why a handler's Terminate is called.
type How string

const (
	Deleted   How = "deleted"      // by Delete; Arg is its arg
	Swapped   How = "swapped"      // by Swap or Context.Swap; Arg is its arg
	Removed   How = "removed"      // it returned ErrRemove
	OwnerGone How = "owner exited" // Arg is the owner's exit reason
	Stopped   How = "stopped"      // the manager ends; Arg is its exit reason
	Failed    How = "failed"       // Arg is the error that it returned, or a *node.Crash
)

// End is what a handler's Terminate is given.
type End struct {
	How How
	Arg any
}

// Exit tells the owner of a handler that the handler has been removed: Erlang's
// {gen_event_EXIT, Handler, Reason}. Reason is normal after Delete and ErrRemove,
// shutdown when the manager ends, {swapped, NewHandler, NewOwner} after a swap, with
// false for no owner, else a [*node.Crash].
type Exit struct {
	Handler ID
	Reason  any
}

// term is {gen_event_EXIT, Handler, Reason}.
func (e Exit) term() any { return wire.Tuple{wire.Atom("gen_event_EXIT"), e.Handler.term(), e.Reason} }

// Func makes a Handler of a function for events of type E. It ignores other events.
func Func[E any](f func(c *Context, event E) error) Handler { return typed[E](f) }

type typed[E any] func(*Context, E) error

// HandleEvent is part of Handler.
func (f typed[E]) HandleEvent(c *Context, event any) error {
	if e, ok := event.(E); ok {
		return f(c, e)
	}
	return nil
}

// State is part of sys.Stater: a function has no state to show.
func (f typed[E]) State() any { return wire.AtomUndefined }

// Context is what a handler acts through. It is valid until the method returns.
type Context struct {
	*node.ActorContext
	id   ID
	swap *swap // asked for by the method that runs
}

// swap is a change of one handler for another.
type swap struct {
	arg  any // for the old one's Terminate
	id   ID
	make maker
}

// ID returns the handler's identifier.
func (c *Context) ID() ID { return c.id }

// Swap replaces this handler by another when the method has
// returned, unless it returns an error: {swap_handler, Arg, _, Handler, _}. arg goes
// to Terminate, and the new handler inherits what that returns.
func (c *Context) Swap(arg any, id ID, h Handler) { c.swap = &swap{arg, id, given(h)} }

func init() {
	termof.Enter(ID.term)
	termof.Enter(Exit.term)
	values.Enter(ErrRemove, ErrNoHandler, ErrNoCalls, errNoModule, errUnknown, errNoOwner)
	node.Know(process.Key{}, node.TypeOf[ID]("$event.ID"), node.TypeOf[Exit]("$event.Exit"),
		node.TypeOf[callRequest]("$event.Call"), node.TypeOf[deleteRequest]("$event.Delete"),
		node.TypeOf[whichHandlersRequest]("$event.Handlers"))
}
