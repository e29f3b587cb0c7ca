// Package kernel reads and makes the messages of the processes net_kernel and rex, which other nodes
// expect on each node, as functions of terms.
//
// Nouns:
//
//   - A [Request] is a message to rex other than a gen_server call.
//   - A [Call] is a function that is to be called for a peer.
//
// What they are asked:
//
//	process      message                                      from               answer
//	net_kernel   call {is_auth, Node}                         net_adm:ping       yes
//	net_kernel   call nodename, call longnames            tools              Node, true | false
//	net_kernel   {io_request, From, As, Request}              where is no user   {io_reply, As, {error, enotsup}}
//	rex          call {call | block_call, M, F, Args, Leader} rpc before OTP 23  the value, or {badrpc, Why}
//	rex          {From, {call, M, F, Args, Leader}}           C nodes            {rex, Value}
//	rex          {From, features_request}                     rpc                {features_reply, Node, [erpc]}
//	rex          {From, {sbcast, Name, Msg}}                  rpc:sbcast         {rex, Node, Node | {nonexisting_name, Name}}
//	rex          {From, {send, Name, Msg}}                    C nodes            the same where nobody has the name
//	rex          {'$gen_cast', {cast, M, F, Args, Leader}}    rpc:cast           none
//
// Invariants:
//
//  1. No term that a peer sends makes a function of this package panic.
//
// The package has no state, no clock and no goroutine.
package kernel
