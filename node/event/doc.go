// Package event is Erlang's gen_event: a process, the manager, that passes each event
// to its handlers. Handlers can be added and removed while it runs.
//
// # Nouns
//
//   - A manager is started by [Start], or made by [New] for a supervisor.
//   - A [Handler] is any value with a method HandleEvent; other methods are optional.
//     [Func] turns a function for events of one type into a handler.
//   - An [ID] names a handler in its manager.
//   - A [Context] is a handler's access to the manager's process: all of node.Context,
//     and Swap.
//   - A [Subscription] is a channel of a manager's events for other Go code.
//
// See the example.
//
// # Protocol
//
// A manager answers the functions of this package and the messages of Erlang's
// gen_event module. Label is the caller's PID, or $gen_call. Handler is Module or
// {Module, Id}. The answer to From, {Pid, Tag}, is {Tag, Reply}:
//
//	{notify, Event}
//	{Label, From, {sync_notify, Event}}                                  ok
//	{Label, From, {call, Handler, Query}}                                what HandleCall returned | {error, bad_module | Reason}
//	{Label, From, {add_handler, Handler, Args}}                          ok | {error, Reason} | {'EXIT', Reason}
//	{Label, From, {add_sup_handler, Handler, Args, Owner}}               as add_handler
//	{Label, From, {delete_handler, Handler, Arg}}                        what Terminate returned | {error, module_not_found}
//	{Label, From, {swap_handler, Handler, Arg, Handler2, Args}}          ok | {error, what add_handler would answer}
//	{Label, From, {swap_sup_handler, Handler, Arg, Handler2, Args, Owner}}
//	{Label, From, which_handlers}                                        [Handler], the one added last first
//	{Label, From, get_modules}                                           [Module], each once
//	{Label, From, stop}                                                  ok, then the manager ends
//	{system, From, What}                                                 see package sys
//	anything else                                                        to each [Listener]
//
// An owner gets {gen_event_EXIT, Handler, Reason}: see [Exit]. [Config].Modules makes a
// handler from Args. sys:get_state shows [{Module, Id, State}], with false for no Id.
//
// # What ends a handler
//
//	                               Terminate's How   its owner is told
//	Delete                         Deleted           normal
//	Swap, Context.Swap             Swapped           {swapped, Handler2, Owner | false}
//	method returns ErrRemove       Removed           normal
//	HandleEvent, HandleInfo return an error, panic; HandleCall panics, returns node.ExitWith
//	                               Failed            a *node.Crash, or what ExitWith says
//	exit of the owner              OwnerGone
//	end of the manager             Stopped           shutdown
//
// An error of HandleCall goes to the caller. When a manager is killed, no Terminate
// is called, and owners get the exit signal of the link.
//
// # Invariants
//
//  1. One method of one handler runs at a time. All handlers of the manager get
//     an event before any gets the next.
//  2. The handler that was added last gets each event first. A handler that swaps
//     itself passes its position on to its successor.
//  3. A handler cannot end another handler or the manager, except by
//     runtime.Goexit.
//  4. Terminate is called once for each handler whose Init has succeeded, unless the
//     manager is killed.
//  5. Every event that does not fit into a subscription's channel is counted in
//     Missed. Nothing waits for the reader.
//
// # Goroutines
//
// A manager has none: it is an Actor. If its handlers block or compute for long, start
// it with Options.Place = node.Detached(). A Subscription has one, from package
// context, only while its manager exits.
//
// # Limits
//
// A handler must not call its own manager, which cannot answer while the handler runs.
// An owner is linked to the manager; as in OTP, that link outlives the handler.
// Handlers are Go values: other nodes can only add those of [Config].Modules.
// [SyncNotify], [Call] and similar functions work only for managers on actornodes,
// since their label differs from gen_event's. [Notify] works for both.
//
// # Differences from gen_event
//
// A handler stays when its HandleCall returns an error, and when it gets a call but has
// no HandleCall. Unknown requests are answered with an error. The first message
// without a [Listener] is logged. If the replacement of a handler fails, its owner
// learns why; OTP 25 says crash. The function of sys:replace_state gets the whole list
// of handlers, not one handler after the other.
package event
