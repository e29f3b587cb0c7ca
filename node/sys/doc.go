// Package sys provides the system messages of Erlang's behaviours: the messages that the sys module
// of stdlib sends to any gen_server, supervisor or gen_statem to look at its
// state, to suspend, resume or end it, and to log and count its
// messages.
//
// Servers, state machines, event managers, supervisors and ports of this module answer
// system messages, those from Erlang and those that the functions of this package send:
// [GetState], [Suspend], [Stop] and the others. [Answer] makes any other actor
// answer them. User code can show and change its state through the interfaces [Stater],
// [StateSetter] and [CodeChanger].
//
// # Protocol
//
//	{system, {Pid, Tag}, What}   reply {Tag, Reply}, to an alias if Tag is [alias|Ref]
//
//	What                         Reply
//	get_state                    the state
//	{replace_state, Fun}         the new state | {error, {callback_failed, {M, system_replace_state}, {error, Reason}}}
//	get_status                   {status, Pid, {module, M}, [Dictionary, running|suspended, Parent, Debug, Status]}
//	suspend, resume              ok
//	{terminate, Reason}          ok, then the process ends
//	{change_code, M, Vsn, Extra} ok | {error, Reason}; only while suspended
//	{debug, Command}             see the next table
//	anything else                {error, {unknown_system_msg, What}}
//
//	Command                      Reply
//	{log, true|{true, N}}        ok; the last 10 or N events are kept. No change if they are already
//	{log, get}                   {ok, Events}, the oldest first
//	{log, print}                 ok; to the node's log
//	{statistics, true}           ok; counting begins, if it has not yet
//	{statistics, get}            {ok, [{start_time, T}, {current_time, T}, {reductions, N},
//	                             {messages_in, N}, {messages_out, N}]} | {ok, no_statistics}
//	{trace, true}                ok; events go to the node's log
//	{log|statistics|trace, false}, no_debug
//	                             ok
//	{log_to_file, File}          {error, open_file}: no message makes this node write a file
//	{remove, Id}                 ok; nothing can be installed
//	anything else                unknown_debug
//
//	Event                        of a gen_server
//	{in, Msg}                    a message, before it is handled
//	{out, Reply, From, State}    a reply
//	{noreply, State}             a message has been handled and not answered
//	{continue, Name}             a continuation has run
//
// A Fun is a Go function func(any) (any, error), or an exported function, which is
// looked up in the node's exports. Reductions are messages handled. Suspending
// is not counted: one resume ends any number of suspends.
//
// # Invariants
//
//  1. A suspended behaviour handles system messages and its parent's exit; all
//     other messages wait in the mailbox, in order.
//  2. Answering a system message other than terminate never ends the process, whatever the
//     behaviour's own code does, except by runtime.Goexit.
//  3. A log of events is a ring: it keeps as many as were asked for, 100,000 at
//     most.
//
// # Limits
//
// System messages are messages: if a bounded mailbox is full because its
// process is suspended, they do not get in either. An exit signal does.
//
// # Goroutines
//
// None.
package sys
