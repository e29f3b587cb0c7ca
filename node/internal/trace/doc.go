// Package trace shows what some processes do and what is done to them.
//
//   - An [Event] is one thing that a process has done, of a [Kind].
//   - A [Trace] wants the events of some kinds of some processes. Its [Feed] takes them.
//   - A [Registry] says which processes are traced by which traces. What it says is a [View], which whatever
//     happens on a node is shown to. To add a process, and to take one out, costs the same however many are traced.
//   - A [Token] is a sequential trace token, of OTP's seq_trace: see there.
//
// A process is known by its PID alone. Package node/trace is what programs use.
//
// Invariants of a Registry:
//
//  1. Its View is nil exactly if no process is traced and there is no [Guard]; it is the same from when somebody is traced until
//     nobody is, or a Guard comes, and says at any time who is traced then.
//  2. Whoever takes a process out because of its exit is told so, alone: of several calls
//     of Gone for the same process the first counts.
//  3. Its lock is taken with no lock of a node held. Of what is called with it held a feed may
//     lock what belongs to one trace, and nothing else.
//
// While nobody is traced a message costs one load of a pointer; while others are, a look at a
// mask besides.
//
// The package has no goroutine.
package trace
