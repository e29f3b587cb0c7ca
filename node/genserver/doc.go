// Package genserver is Erlang's gen_server: a process that keeps a state and
// answers calls, handles casts and other messages, one at a time.
//
// # Nouns
//
//   - A server's state is any Go value; its methods handle what it is sent.
//   - A [Kind] says which method handles which type, once for all servers of the
//     kind. [Define] makes it.
//   - A request type that embeds [Returns] fixes the type of its reply. The compiler
//     then checks both the caller and the method.
//   - An [Addr] is the typed address of a server. [CallTo], [AsyncTo] and [CastTo] take it, and only
//     requests that embed [To], which says which servers they are for.
//   - A [Context] is a method's access to its process: all of node.Context, plus From,
//     Stop, Continue and Timeout.
//
// See the example for a whole server. The return values of gen_server's callbacks
// correspond to:
//
//	{reply, R, S}                return R, nil
//	{reply, {error, E}, S}       return R, err
//	{noreply, S} of a call       keep Context.From, return R, ErrReplyLater
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
// The server chooses the handler by the Go type of the body (or of the message, if it
// has none): first the handler for exactly that type, then the first handler for an
// interface that the type implements, then the handler for any. Terms arrive with the
// Go types that package wire lists: OnAnyCall for wire.Atom handles
// gen_server:call(S, stop). A call without a handler is answered with an
// [UnhandledError]. Any other message without a handler is logged, and so is a message
// that only resembles those above.
//
// An Erlang caller gets {error, Reason} for an error that a method returns: the reason of
// [node.ExitWith], what the error's method Term() any returns, else its text as a binary.
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
//	another exit signal           as for any process: kills it, or, if trapped, arrives as a node.Exited
//
// The parent is the process that started the server with Options.Link. In all cases
// but the last, the server calls Terminate if the state has it. A panic in Terminate
// replaces the exit reason. All reasons but normal, shutdown and {shutdown, _} are
// logged, with the last message and the state.
//
// # Invariants
//
//  1. One method runs at a time. A continuation runs before any other message is handled;
//     that of Init runs after the starter has its answer.
//  2. A call gets one answer: what its method returned, a later reply through its From,
//     an [UnhandledError], or the notice that the server exited.
//  3. While suspended (package sys) a server handles only system messages and its
//     parent's exit. All other messages wait, in order, and no Timeout runs.
//  4. Only three things end a server: what its methods do, the system message
//     terminate, and an exit signal.
//  5. After a kill no further method of the server is called, not even Terminate.
//     Go cannot stop a method that is running.
//
// # Goroutines
//
// None: a server is an Actor. If its methods block or compute for long, start it with
// Options.Place = node.Detached().
//
// # Differences from gen_server
//
//   - There is no hibernate: a server that waits has no stack to give back.
//   - A request that no method handles is answered with an error, and a message
//     with a malformed From is treated as an ordinary message. In Erlang both crash
//     the server.
//   - sys:replace_state works with exported functions and Go functions: a fun from
//     another node cannot run here.
//   - Methods change the state in place. Terminate therefore sees what a method
//     changed before it panicked.
//   - See package sys for the debug commands that are refused.
package genserver
