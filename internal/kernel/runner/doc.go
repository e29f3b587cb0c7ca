// Package runner runs the code of processes: on the stages of the scheduler, on goroutines of their own, on schedulers of
// their users; says on which stage a process runs; and tells what can be seen of it.
//
// # Who runs code
//
// Each kind of process has its runner.
//
// Nouns:
//
//   - [Actor] and [External] are Actors on a stage and elsewhere: all of their process.Runner but the turn that
//     calls the behaviour, whose type package node has.
//   - [Blocking] is a process with code that waits: its receives, its waits for replies. It runs on a goroutine
//     of its own, or as a [Coroutine] on a stage, or it is a handle, whose goroutine is somebody else's.
//
// Goroutines: one for each Blocking that is neither a coroutine nor a handle, started by Start, ended by the
// return of its function or by the death of the process; one for each detached Actor, ended by its exit. Both
// are counted by System.Functions, and Node.Stop waits for them.
//
// # Places
//
// A process runs on the stage that its spawn asked for, and can be moved.
//
// Nouns:
//
//   - A [Place] is what a spawn asks for: a stage by number or by value, that of another process, one that a
//     function chooses, none at all.
//   - An [Order] is the one queue of an ordered stage: the messages of all its actors in the order
//     in which they were sent. Each actor has a [mailbox.Box] of it in place of a mailbox.
//
// Invariants:
//
//  1. What is on a stage that has been made, and not only counted, is pinned there: it moves when it is moved,
//     and not to balance the load.
//  2. A box of an Order gives its actor a message only while that is the oldest of all.
//  3. The actor whose message is the oldest is awake, or is being woken.
//
// What can be lost: nothing. A move takes the mailbox along, and whoever sends meanwhile finds the process on the
// old stage or on the new one.
//
// Evict has no goroutine of its own. An Order starts one for a moment when it has to wake an actor of another
// stage, or at an exit; it ends by itself.
//
// # What others see
//
// Functions tell what others see of a process: what Info and the tools show.
//
// It takes nothing from whoever runs the process, [Messages] excepted: each answer is true by itself, and
// what the process was or did a moment ago. It has no state and no goroutine.
package runner
