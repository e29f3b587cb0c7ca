// Package sys is the system messages of Erlang's behaviours: what the sys module
// of stdlib sends to any gen_server, supervisor or gen_statem to look at its
// state, to suspend and resume it, to end it, to have its messages logged and
// counted.
//
// # Nouns
//
//   - A [Server] is a behaviour that answers system messages: what it must be able
//     to say and do.
//   - A [System] is what such a behaviour keeps for it and hands each [Request] to.
//   - A [Command] is a system message on its way from Go; GetState, Suspend, Stop
//     and the like send one.
//
// # Protocol
//
//	{system, {Pid, Tag}, What}   reply {Tag, Reply}, to an alias if Tag is [alias|Ref]
//
//	What                         Reply
//	get_state                    the state
//	{replace_state, Fun}         the new state | {error, {callback_failed, Fun, {error, Reason}}}
//	get_status                   {status, Pid, {module, M}, [Dictionary, running|suspended, Parent, Debug, Status]}
//	suspend, resume              ok
//	{terminate, Reason}          ok, then the process ends
//	{change_code, M, Vsn, Extra} ok | {error, Reason}; only while suspended
//	{debug, Command}             see Debug
//	anything else                {error, {unknown_system_msg, What}}
//
// # Invariants
//
//  1. A suspended behaviour handles system messages and its parent's exit; all
//     other messages wait in the mailbox, in order.
//  2. A log of events is a ring: at most as many as were asked for, 100,000 at
//     most.
//
// # Goroutines
//
// None.
package sys
