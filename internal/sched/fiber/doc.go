// Package fiber implements symmetric coroutines: a goroutine transfers control straight to
// another one, and Go's scheduler does not decide which runs next.
//
// # Two implementations
//
// The direct one (fiber.go) is for linux/amd64. A coroutine of the Go runtime, of which
// [iter.Pull] is made, is a slot: one goroutine waits there, and another that comes takes
// its slot and resumes it. By the documentation of iter the same two goroutines do that all the
// time, one by next and one by yield, but the runtime does not demand it. So any goroutine can
// resume any other that waits in a slot, with one switch: it then waits where the other did.
// This rests on what Go's runtime does, and not on what it promises.
//
//	worker -> a      worker waits where a did
//	a -> b           a waits where b did
//	b -> worker      b waits where the worker did: where a began
//
// The portable one (fiber_portable.go) uses iter.Pull as its documentation allows: a worker
// calls next, the fiber calls yield, and from one fiber to another it is two switches, by
// way of the worker. Other systems and processors get it, and programs built with the tag
// actornode_portable or actornode_no_fiber.
//
// The race detector needs no help with the direct one: next and yield of one coroutine tell it that
// what was done before a switch comes before what the resumed goroutine does, whoever calls them.
//
// [Traceback] and [GoroutineID] read the text of tracebacks, for the logs of handlers that
// block (traceback.go); [Runs] and [Marked] do, to know whose code a goroutine runs when that is
// ended. With the tag actornode_portable they find nothing.
//
// # Invariants of the direct one
//
//  1. In each slot one goroutine waits. There are as many slots as there are fibers of
//     pools; for each fiber that runs a worker waits instead.
//  2. One goroutine at a time may resume a waiting one; it is its master, and owns the fields of
//     that Fiber and of its slot. The package does not say which goroutine that is: in package
//     node it is the one that holds the stage.
//  3. A goroutine ends in the slot where it began, and the goroutine that waits there is
//     resumed. So a fiber that is no longer needed ends at once only if it waits in that slot
//     itself, or if another one waits there that is not needed either. Otherwise it is dying,
//     and ends when the goroutine in that slot is next resumed by its master.
//  4. Two dying fibers never wait in each other's slots. So there are never more dying fibers
//     than others that wait, and none when no other is left.
//
// Of the portable one only the second holds, and a fiber waits in its own coroutine.
//
// # Goroutines
//
//	name   started by  ends with                                     owns
//	fiber  Pool.Take   Put, if there are enough without it; reap;   itself, while it runs
//	                   Stop, or the Put after it
//
// A job may call runtime.Goexit: its goroutine then does no other job. One that panics ends
// the program. A goroutine must not let another go on while it is locked to its thread
// (runtime.LockOSThread): Go's runtime ends the program then. A [Thread] tells whether it
// is, and every Fiber of a pool has one for its job to look at.
package fiber
