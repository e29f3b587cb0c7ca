// Package fiber hands a core from one goroutine to another directly, and not by way of the
// one that decides who goes on: coroutines, but symmetric ones.
//
// # Two implementations
//
// The direct one (fiber.go) is for linux/amd64. A coroutine of the Go runtime, of which
// [iter.Pull] is made, is a place: one goroutine waits there, and another that comes takes
// its place and lets it go on. The documentation of iter has the same two do that all the
// time, one by next and one by yield; the runtime does not ask for it. So whoever waits
// anywhere can be let go on by anybody, with one switch: the one then waits where the other
// did. This rests on what Go's runtime does, and not on what it promises.
//
//	worker -> a      worker waits where a did
//	a -> b           a waits where b did
//	b -> worker      b waits where the worker did: where a began
//
// The portable one (fiber_portable.go) uses iter.Pull as its documentation allows: a worker
// calls next, the fiber calls yield, and from one fiber to another it is two switches, by
// way of the worker. Other systems and processors get it, programs built with -race, and
// those built with the tag actornode_portable or actornode_no_fiber.
//
// [Traceback] and [GoroutineID] read the text of tracebacks, for the logs of handlers that
// block (traceback.go). With the tag actornode_portable they find nothing.
//
// # Invariants of the direct one
//
//  1. In each place waits one goroutine. There are as many places as there are fibers of
//     pools; for each of these that runs somebody else waits, a worker.
//  2. Who waits may be let go on by one party at a time, its master: the fields of its Fiber
//     and of the place are the master's. The package does not say who that is: package node
//     has it be whoever holds the stage.
//  3. A goroutine ends in the place where it began, and who waits there goes on. So a fiber
//     that is of no use any more ends at once only if it waits there itself, or one that is
//     of no use either. Otherwise it is dying, and ends when the master of who waits there
//     wants that one to go on.
//  4. No two that are dying wait the one where the other began. So there are never more of
//     them than of others that wait, and none when nobody else is left.
//
// Of the portable one only the second holds, and a fiber waits in its own coroutine.
//
// # Goroutines
//
//	name   started by  ends with                                     owns
//	fiber  Pool.Take   Put, if there are enough without it; claim;   itself, while it runs
//	                   Stop, or the Put after it
//
// A job may call runtime.Goexit: its goroutine then does no other job. One that panics ends
// the program. A goroutine must not let another go on while it is locked to its thread
// (runtime.LockOSThread): Go's runtime ends the program then. A [Thread] tells whether it
// is, and every Fiber of a pool has one for its job to look at.
package fiber
