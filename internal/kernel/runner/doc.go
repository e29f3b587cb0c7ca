// Package runner runs the code of processes: on the stages of the scheduler, on goroutines of their own, on schedulers of
// their users. It also places processes on stages, and describes them for tools.
//
// # Runners
//
// Each kind of process has its runner.
//
// Nouns:
//
//   - [Actor] and [External] are Actors on a stage and elsewhere: their complete process.Runner except the turn, which
//     calls the behaviour, whose type is in package node.
//   - [Blocking] is a process with code that waits: its receives, its waits for replies. It runs on a goroutine
//     of its own, or as a [Coroutine] on a stage, or it is a handle, whose goroutine is its user's.
//
// Goroutines: one for each Blocking that is neither a coroutine nor a handle, started by Start, ended by the return of its
// function or by the death of the process; one for each detached Actor, ended by its exit. Both are counted by
// System.Functions, and Node.Stop waits for them.
//
// # Places
//
// A process runs on the stage that its spawn requested, and can be moved.
//
// Nouns:
//
//   - A [Place] is what a spawn requests: a stage by number or by value, that of another process, one that a
//     function chooses, none at all.
//   - An [Order] is the single queue of an ordered stage: the messages of all its actors in the order
//     in which they were sent. Each actor has a [mailbox.Box] of it instead of a mailbox.
//
// Invariants:
//
//  1. A process on a stage that was created, not only counted, is pinned there: it is moved on request,
//     and not to balance the load.
//  2. A box of an Order gives its actor a message only while that is the oldest of all.
//  3. The actor whose message is the oldest is awake, or is being woken.
//
// Nothing can be lost: a move takes the mailbox along, and concurrent senders find the process on the old stage or on the new
// one.
//
// Evict has no goroutine of its own. An Order starts one for a moment when it has to wake an actor of another stage, or at an
// exit; it ends by itself.
//
// # Inspection
//
// Functions describe a process for Info and the tools.
//
// Except [Messages], they take nothing from the goroutine that runs the process: each result is valid by itself, and may be
// slightly outdated. They have no state and no goroutine.
package runner
