// Package fiber implements symmetric coroutines: a goroutine transfers control directly to another one, without Go's
// scheduler.
//
// # Two implementations
//
// The direct one (fiber.go) is for linux/amd64, and for the Go releases that it was tested with. A coroutine of the Go
// runtime, which implements [iter.Pull], is a slot: one goroutine waits there, and another one that arrives takes its place
// and resumes it. According to the documentation of iter it is always the same two goroutines, one in next and one in yield,
// but the runtime does not require that. So any goroutine can resume any other that waits in a slot, with one switch: it then
// waits where the other did. This relies on the behaviour of Go's runtime, not on its guarantees.
//
//	worker -> a      worker waits where a did
//	a -> b           a waits where b did
//	b -> worker      b waits where the worker did: where a began
//
// The portable one (fiber_portable.go) is an ordinary goroutine for each fiber, which waits at a channel. A switch takes
// twice as long. It is used on other platforms, with newer Go releases, and with the build tags actornode_portable and
// actornode_no_fiber.
//
// The race detector needs no help with the direct one: next and yield of a coroutine establish that everything before a
// switch happens before what the resumed goroutine does, for any callers.
//
// [Traceback] and [GoroutineID] parse tracebacks, for the logs of handlers that block (traceback.go); so do [Runs] and
// [Marked], to find out whose code a goroutine is running when that is ended. With the tag actornode_portable they find
// nothing.
//
// # Invariants of the direct one
//
//  1. One goroutine waits in each slot. There are as many slots as fibers of pools; for each running fiber a worker waits
//     instead.
//  2. Only one goroutine at a time, its master, may resume a waiting one, and owns the fields of that Fiber and of its
//     slot. The package does not define which goroutine that is: in package node it is the one that holds the stage.
//  3. A goroutine ends in the slot where it started, and the goroutine that waits there is resumed. So an unneeded fiber
//     ends at once only if it waits in that slot itself, or if another unneeded one waits there. Otherwise it is dying, and
//     ends when the goroutine in that slot is next resumed by its master.
//  4. Two dying fibers never wait in each other's slots. So there are never more dying fibers than other waiting ones, and
//     none when no other is left.
//
// For the portable one only the second holds.
//
// # Goroutines
//
//	name   started by  ends with                                     owns
//	fiber  Pool.Take   Put, if there are enough without it; reap;   itself, while it runs
//	                   Stop, or the Put after it
//
// A job may call runtime.Goexit: its goroutine then runs no other job. A job that panics ends the program. With the
// direct implementation a goroutine that is locked to its thread (runtime.LockOSThread) must not resume another one: Go's
// runtime would end the program. A [Thread] reports whether it is locked; every Fiber of a pool has one for its job.
package fiber
