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
// See the example for a whole server. What gen_server's callbacks return is said
// so here:
//
//	{reply, R, S}                return R, nil
//	{reply, {error, E}, S}       return R, err
//	{noreply, S} of a call       return R, ErrReplyLater, having kept Context.From
//	{noreply, S}                 return nil
//	{stop, Reason, R, S}         Context.Stop(Reason), and return R, nil
//	{stop, Reason, S}            return node.ExitWith(Reason), or Context.Stop(Reason)
//	{_, S, Timeout}              Context.Timeout(d); handled by OnInfo of Timeout
//	{_, S, {continue, C}}        Context.Continue(f)
//	{ok, S} of init              return nil
//	{stop, Reason}, ignore       return node.ExitWith(Reason), return node.ErrIgnore
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
// Who handles it: the handler for exactly the Go type that the body, or the
// message, has; else the first for an interface that it implements; else the
// one for any. Terms have the Go types in which they come in, see package wire:
// OnRequest for wire.Atom handles gen_server:call(S, stop). What nobody handles is
// answered with an [UnhandledError], or logged if there is nobody to answer; so is
// what only resembles the messages above.
//
// An Erlang caller gets {error, Reason} for an error that a method returns; see
// [node.ErrorTerm].
//
// # What ends a server
//
//	method returns an error       call: the caller gets it, the server goes on
//	                              cast, message, continuation: the exit reason is a *node.Crash
//	method returns node.ExitWith  that is the exit reason; the caller of a call gets no reply
//	Context.Stop                  that is the exit reason; the reply goes after Terminate
//	panic, runtime.Goexit         the exit reason is a *node.Crash, with the stack if a panic
//	{system, _, {terminate, R}}   R
//	exit of the parent, trapped   the parent's reason
//	another exit signal           as for any process: kills, or, trapped, is a node.Exited
//
// The parent is the process that has started the server with Options.Link. In all
// cases but the last Terminate is called if the state has it. A panic in Terminate
// is the exit reason in place of the one it was told. All reasons but normal,
// shutdown and {shutdown, _} are logged, with the last message and the state.
//
// # Invariants
//
//  1. One method runs at a time. A continuation runs before any other message,
//     that of Init when its starter has been told.
//  2. A call gets one answer: what its method returned, what its From was given
//     later, an [UnhandledError], or word of the server's exit.
//  3. While suspended (package sys) a server handles system messages and its
//     parent's exit; all else waits, in order, and no Timeout runs.
//  4. No message ends a server but by what its methods do with it, a system
//     message terminate, and an exit signal.
//  5. Of a server that was killed no method is called any more, Terminate
//     included. Go cannot stop the one that runs.
//
// # Goroutines
//
// None. A server is an Actor; for one whose methods block or compute for long,
// start it with Options.Place = node.Detached().
//
// # Differences from gen_server
//
//   - Hibernate does nothing.
//   - A request that no method handles is answered with an error, and a message
//     with a malformed From is an ordinary one; in Erlang both crash the server.
//   - sys:replace_state works with exported functions and Go functions: a fun of
//     another node cannot run here.
//   - The state is changed in place, not returned: what a method did before it
//     panicked is seen by Terminate.
//   - See package sys for the debug commands that are refused.
package genserver
