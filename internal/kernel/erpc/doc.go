// Package erpc has the data and the rules of what other nodes run here by name, and this node there: OTP's erpc, its older
// rpc, and the requests to net_kernel and rex.
//
// # Calls of functions
//
// Calls of functions on other nodes are made and answered like in OTP's module erpc: erpc:call is a spawn of
// erpc:execute_call with a monitor, whose exit reason is the result; erpc:cast is a spawn of erpc:execute_cast.
//
// Nouns:
//
//   - A [Function] and a [Behaviour] are destinations of calls: what is to be called, or started,
//     on which node. Packages node and node/rpc know them, programs do not.
//   - A [Request] is the content of a peer's spawn.
//   - An [Outcome] is the result of a function: a value, or an exception of class error, exit or
//     throw.
//
// How an outcome is reported, where Ref is the first argument of execute_call:
//
//	class     exit reason of execute_call         of execute_cast                         answer of rex
//	return    {Ref, return, Value}                normal                                  Value
//	throw     {Ref, throw, Value}                 {{nocatch, Value}, Stack}               Value
//	exit      {Ref, exit, Reason}                 Reason                                  {badrpc, {'EXIT', Reason}}
//	error     {Ref, error, Reason, Stack}         {{exception, {Reason, Stack}}, Stack}   {badrpc, {'EXIT', {Reason, Stack}}}
//
// Invariants:
//
//  1. ReadOutcome returns from an exit reason of execute_call what Called has put into it.
//  2. No function panics, whatever term a peer sends.
//
// It has no state except the two constructors of errors, no clock and no goroutine.
//
// # Exports
//
// [Exports] is what a node exports by module, function and arity, and interprets requests by name. Nothing that is not in the
// [Exports] can be run by name.
//
// # The processes net_kernel and rex
//
// Functions to parse and make the messages of the processes net_kernel and rex, which other nodes expect on each node.
//
// Nouns:
//
//   - A [RexRequest] is a message to rex other than a gen_server call.
//   - A [RexCall] is a function that is to be called for a peer.
//
// Their requests:
//
//	process      message                                      from               answer
//	net_kernel   call {is_auth, Node}                         net_adm:ping       yes
//	net_kernel   call nodename, call longnames            tools              Node, true | false
//	net_kernel   {io_request, From, As, Request}              where is no user   {io_reply, As, {error, enotsup}}
//	rex          call {call | block_call, M, F, Args, Leader} rpc before OTP 23  the value, or {badrpc, Why}
//	rex          {From, {call, M, F, Args, Leader}}           C nodes            {rex, Value}
//	rex          {From, features_request}                     rpc                {features_reply, Node, [erpc]}
//	rex          {From, {sbcast, Name, Msg}}                  rpc:sbcast         {rex, Node, Node | {nonexisting_name, Name}}
//	rex          {From, {send, Name, Msg}}                    C nodes            the same if no process has the name
//	rex          {'$gen_cast', {cast, M, F, Args, Leader}}    rpc:cast           none
//
// Invariants:
//
//  1. No function panics, whatever term a peer sends.
//
// It has no state, no clock and no goroutine.
package erpc
