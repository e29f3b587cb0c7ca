// Package genserver is Erlang's gen_server: a process that keeps a state and
// answers calls, handles casts and other messages, one at a time.
//
// # Nouns
//
//   - A server's state is any Go value; its methods handle what it is sent.
//   - A [Kind] says which method handles which type, once for all servers of the
//     kind. [Define] makes it.
//   - A request type that embeds [Returns] says what type its reply has: caller
//     and method are held to it by the compiler.
//   - A [Context] is what a method acts through: all of node.Context, and From,
//     Stop, Continue, Timeout.
//
// See the example for a whole server.
//
// # Protocol
//
// A server answers calls and casts of this package, any [node.Call], and what
// Erlang's gen_server module sends:
//
//	{'$gen_call', {Pid, Tag}, Body}          reply {Tag, Reply} to Pid
//	{'$gen_call', {Pid, [alias|Ref]}, Body}  reply {[alias|Ref], Reply} to the alias
//	{'$gen_cast', Body}
//	{system, From, What}                     see package sys
//
// Body finds the handler whose request or cast type is the Go type that the term
// comes in as; see package wire. An error that a method returns becomes {error,
// Reason} for an Erlang caller; see [node.ErrorTerm].
//
// # What ends a server
//
//	method returns an error       call: the caller gets it, the server goes on
//	                              cast, message, continuation: the exit reason is a *node.Crash
//	method returns node.ExitWith  that is the exit reason
//	Context.Stop                  the reply goes, that is the exit reason
//	panic                         the exit reason is a *node.Crash with the stack
//	{system, _, {terminate, R}}   R
//	exit of the parent, trapped   the parent's reason
//	another exit signal           as for any process: without Terminate, unless trapped
//
// In all cases but the last, Terminate is called if the state has it. A panic in
// Terminate is the exit reason in place of the one it was told.
//
// # Invariants
//
//  1. One method runs at a time. A continuation runs before any other message.
//  2. A call gets one answer: what its method returned, what its From was given
//     later, an [UnhandledError], or word of the server's exit.
//  3. While suspended (package sys) a server handles system messages and its
//     parent's exit; all else waits, in order.
//
// # Goroutines
//
// None. A server is an Actor; for one whose methods block or compute for long,
// start it with Options.Place = node.Detached().
//
// # Differences from gen_server
//
// Hibernate does nothing. A request that no method handles is answered with an
// error instead of crashing the server. sys:replace_state works with exported
// functions and Go functions: a fun of another node cannot run here.
package genserver
