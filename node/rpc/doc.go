// Package rpc calls functions and starts processes by name, on other nodes and on this one, and
// offers what other nodes may call and start here.
//
// # Nouns
//
//   - A name is a module, a function and an arity: a [wire.Export].
//   - A [Function] is Go code that is called by name, a [Behaviour] makes the actor of a process
//     that is started by name. Only what a node exports can be run there: [Export],
//     [ExportBehaviour].
//   - An [Error] is an exception that a function raised.
//
// OTP nodes are called in the same way: every function that is loaded there can be called. They
// call our functions by erpc and rpc, and start our behaviours by spawn. All arguments are terms:
// see package wire.
//
//	err := rpc.Export(n, wire.Export{Module: "math", Function: "double", Arity: 1}, double)
//	twice, err := rpc.Call[int](ctx, n, "go@host", "math", "double", 21)
//	reversed, err := rpc.Call[any](ctx, n, "erl@host", "lists", "reverse", wire.List{1, 2, 3})
//
// # Semantics
//
// Those of OTP's module erpc. A function that is called from elsewhere runs in its own
// process, so it may panic, exit and be ended from outside. Its context belongs to this process:
// [node.Calling] finds it. Only [Apply] runs the function in the calling process.
//
// Allow of [node.Distribution] decides what a peer may run by name, whichever way it
// asks; anything else is undef for the peer. A node that drains, or is short of memory, refuses
// requests to run something with system_limit.
//
// # What can be lost, reordered, duplicated
//
// Nothing is called twice. A call that has failed with [node.ErrNoConnection] may have been carried
// out. Two calls of one process may be carried out in any order, and at the same time.
//
// The package has no state and starts no goroutine: package node does the work.
package rpc
