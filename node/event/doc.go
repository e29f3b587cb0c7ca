// Package event is Erlang's gen_event: a process, the manager, that hands events
// to handlers, which are added and removed while it runs.
//
// # Nouns
//
//   - A manager is started by [Start], or made by [New] for a supervisor.
//   - A [Handler] is any value with a method HandleEvent, and others as it likes.
//     [Func] makes one of a function for events of one type.
//   - An [ID] names a handler in its manager.
//   - A [Context] is what a handler acts through: all of node.Context, and Swap.
//   - A [Subscription] is a channel of a manager's events for other Go code.
//
// See the example.
//
// # Protocol
//
// A manager answers the functions of this package, and what Erlang's gen_event
// module sends, where Label is the caller's PID and Handler is Module or {Module,
// Id}; $gen_call as a label will do as well. The answer to From, {Pid, Tag}, is
// {Tag, Reply}:
//
//	{notify, Event}
//	{Label, From, {sync_notify, Event}}                                  ok
//	{Label, From, {call, Handler, Query}}                                what HandleCall returned | {error, bad_module | Reason}
//	{Label, From, {add_handler, Handler, Args}}                          ok | {error, Reason} | {'EXIT', Reason}
//	{Label, From, {add_sup_handler, Handler, Args, Owner}}               as add_handler
//	{Label, From, {delete_handler, Handler, Arg}}                        what Terminate returned | {error, module_not_found}
//	{Label, From, {swap_handler, Handler, Arg, Handler2, Args}}          ok | {error, what add_handler would say}
//	{Label, From, {swap_sup_handler, Handler, Arg, Handler2, Args, Owner}}
//	{Label, From, which_handlers}                                        [Handler], the one added last first
//	{Label, From, get_modules}                                           [Module], each once
//	{Label, From, stop}                                                  ok, then the manager ends
//	{system, From, What}                                                 see package sys
//	anything else                                                        to each [Listener]
//
// An owner gets {gen_event_EXIT, Handler, Reason}: see [Exit]. Args make a handler by
// [Config].Modules. sys:get_state shows [{Module, Id, State}], with false for no Id.
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
// An error of HandleCall is for the caller. When a manager is killed, no Terminate
// is called, and owners get the exit signal of the link.
//
// # Invariants
//
//  1. One method of one handler runs at a time. All handlers of the manager have
//     had an event before any has the next.
//  2. The handler added last has each event first. One that has swapped itself
//     leaves its place to the new one.
//  3. Nothing that a handler does ends another handler or the manager, except
//     runtime.Goexit.
//  4. Terminate is called once for each handler whose Init has succeeded, unless the
//     manager is killed.
//  5. Every event that does not fit into a subscription's channel is counted in
//     Missed. Nothing waits for the reader.
//
// # Goroutines
//
// A manager has none: it is an Actor; for one whose handlers block or compute for
// long, start it with Options.Place = node.Detached(). A Subscription has one, of
// package context, for the moment in which it learns that its manager has exited.
//
// # Limits
//
// A handler must not call its own manager, which cannot answer meanwhile. A handler
// with an owner links it to the manager, and as in OTP that link outlives the
// handler. Handlers are Go values: only those of [Config].Modules can be added from
// other nodes. [SyncNotify], [Call] and the like are for managers of actornodes: to a
// gen_event on the BEAM their label is wrong; [Notify] is right.
//
// # Differences from gen_event
//
// An error of HandleCall keeps the handler, as one of a server's method keeps the
// server. A handler without HandleCall stays when it is called. Requests that nobody
// knows are answered with an error. Messages that no handler listens to are logged,
// once. An owner is told why a handler's replacement has failed; OTP 25 says
// crash. sys:replace_state's function is given the whole list, not one handler
// after the other.
package event
