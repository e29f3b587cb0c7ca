// Package erpc has the data and the rules of calls of functions on other nodes, as OTP's module
// erpc makes and answers them: erpc:call is a spawn of erpc:execute_call with a monitor, whose
// exit reason is the result; erpc:cast is a spawn of erpc:execute_cast.
//
// Nouns:
//
//   - A [Function] and a [Behaviour] are destinations of calls: what is to be called, or started,
//     on which node. Packages node and node/rpc know them, programs do not.
//   - A [Request] is what the spawn of a peer asks for.
//   - An [Outcome] is what has come of a function: a value, or an exception of class error, exit or
//     throw.
//
// How an outcome is told, Ref being the first argument of execute_call:
//
//	class     exit reason of execute_call         of execute_cast                         answer of rex
//	return    {Ref, return, Value}                normal                                  Value
//	throw     {Ref, throw, Value}                 {{nocatch, Value}, Stack}               Value
//	exit      {Ref, exit, Reason}                 Reason                                  {badrpc, {'EXIT', Reason}}
//	error     {Ref, error, Reason, Stack}         {{exception, {Reason, Stack}}, Stack}   {badrpc, {'EXIT', {Reason, Stack}}}
//
// Invariants:
//
//  1. Read finds in an exit reason of execute_call what Called has put into it.
//  2. No term that a peer sends makes a function of this package panic.
//
// The package has no state but the two constructors of errors, no clock and no goroutine.
package erpc
