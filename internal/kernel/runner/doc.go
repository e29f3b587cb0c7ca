// Package runner runs the code of processes: on the stages of the scheduler, on goroutines of their own, on
// schedulers of their users.
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
package runner
