// Package rpc calls functions and starts processes by name, on other nodes and on this one, and
// offers what other nodes may call and start here.
//
// # Nouns
//
//   - A name is a module, a function and an arity: a [wire.Export].
//   - A [Function] is Go code that is called by name, a [Behaviour] makes the actor of a process
//     that is started by name. Only what a node exports can be run there: [Export],
//     [ExportBehaviour].
//   - An [Error] is the exception that a function has raised.
//
// A node of OTP is called in the same way: there every function that is loaded can be called. It
// calls ours by erpc and rpc, and starts our behaviours by spawn. Its arguments and ours are terms:
// see package wire.
//
//	err := rpc.Export(n, wire.Export{Module: "math", Function: "double", Arity: 1}, double)
//	twice, err := rpc.Call[int](ctx, n, "go@host", "math", "double", 21)
//	reversed, err := rpc.Call[any](ctx, n, "erl@host", "lists", "reverse", wire.List{1, 2, 3})
//
// # Semantics
//
// Those of OTP's module erpc. A function that is called from elsewhere runs in a process of its
// own, so it may panic, exit and be ended from outside. Its context is that of this process:
// [node.Calling] finds it. [Apply] alone calls in the calling process.
//
// Whether a peer may run something by name is decided by Allow of [node.Distribution], whichever way it
// asks; what it may not run is undef for it. A node that drains, or is short of memory, refuses
// what others want to run with system_limit.
//
// # What can be lost, reordered, duplicated
//
// Nothing is called twice. A call that has failed with [node.ErrNoConnection] may have been carried
// out. Two calls of one process may be carried out in any order, and at the same time.
//
// The package has no state and starts no goroutine: package node does the work.
package rpc
