// Package isolation isolates processes that share memory: it copies the messages that they send each other, or
// finds messages that are changed after they were sent.
//
//   - [Copy] copies a value with everything mutable that it refers to. [Config].Copy does that for all
//     messages of a node, node.Options.CopyMessages for all that one process gets, node.SendOptions.Copy
//     for one message.
//   - [Config].Check is for development and tests: it reports a [Change] of a message after it was sent.
//   - A [Shared] is a value that many read and nobody changes; an [Editor] changes a copy.
//
// On one node a message is the Go value that was given to Send, not a copy, as with Go's channels. After sending a
// pointer, a slice or a map, the sender must not use it. Go does not enforce that: this package does, or makes
// it unnecessary. Other nodes always get copies. `actornode vet` finds some misuse without running the program.
//
// # What is copied, shared and refused
//
// Copied: what pointers, slices, maps and interfaces refer to, in unexported fields, too. References to one thing in
// the original become references to one thing in the copy, cycles included; a pointer into something else that is
// copied, such as to one of its fields, gets a copy of its own.
//
// Shared: strings, PIDs, references, time.Time; channels; errors, as programs compare them; contexts,
// *os.File, *slog.Logger, regular expressions; pointers to something that holds a lock or an
// atomic, which is made to be shared, such as a *lifetime.Owner, and weak pointers to such things; values of types that
// say so, see [Immutable]; and fields of a struct with the tag `isolation:"share"`.
//
// Refused, with an [Error] that says where it is: functions, which may have captured anything; locks and atomics
// in a message itself; unsafe pointers; structs of the standard library that hide references, such as
// connections, except plain data such as big.Int and bytes.Buffer; and weak pointers to what is copied, as nothing would
// hold the copy. A refused message is not sent. The tag overrides that,
// if you know better. A value with references more than 100,000 deep is refused, too.
//
// Messages that a process sends to itself, also by timers, are not copied: nobody else has them. Supervisors,
// applications, servers and state machines depend on such messages.
//
// A copy does not have the original's cleanup (runtime.AddCleanup), which runs when nobody can reach the original, even if
// the copy is in use. Make such a type shared.
//
// # What Check finds
//
// Check compares messages with what they were when sent: messages of Send, SendAfter, Deliver and SendOpt, requests and
// their replies, casts, and calls of active objects. It does so when a message is received, when the process exits without
// having received it, when the node stops, and for one waiting message with each message that is sent. The first
// difference is a Change. Check cannot see who made it: it was the sender, or another process that has had the
// same message; Change.Also lists the processes that received it before. A
// received message belongs to the receiver: Check cannot tell later changes by the sender from changes by the
// receiver.
//
// Not compared: what Copy would share; what is beyond Config.MaxBytes of a message; messages while 10,000 compared ones
// wait; messages to a process with Options.Bounds or Options.Mailbox, or with an owner (package lifetime),
// and those of a process to itself; what SendInterval sends again, between two
// messages; values of futures, which many may read; behaviours that are spawned, and exit reasons. If the variable of an
// interface or a string was overwritten, the Change says only that.
//
// Check may read memory while somebody writes it. With -race, the race detector tells where;
// a map that is written while it is read ends the program, as always in Go.
//
// # A Context in the wrong hands
//
// A node.Context is for the goroutine that runs the handler, until the handler returns. Other uses panic, on the goroutine
// that makes them, with a message that says what to do instead, in these cases:
//
//   - After the handler has returned: each method of the Context except Node, and Call, SendRequest, Deliver and AwaitExit,
//     as long as the worker that ran the handler runs no other, and always for an Actor that is detached or has
//     a scheduler of its own. This needs no Check, and costs Send nothing.
//   - With Check, also while a handler runs, that one or another of the same worker: each method except Node and Self, and
//     each of those functions, unless nothing is sent or changed on this node: a message to another node, or to a name
//     that nobody has. Check identifies goroutines by the text of their tracebacks, some microseconds each time; it takes
//     methods of active objects for the handler. Builds with the tag actornode_portable do not do this.
//
// Without Check, a goroutine that uses the Context while a handler runs is a data race, which -race finds. A node.Process is
// not checked: a handle may go from one goroutine to another.
//
// # Invariants
//
//  1. With neither Check nor Copy, messages take the same path as without this package.
//  2. What Copy returns shares no mutable memory with the original, except for what is listed above.
//  3. Many goroutines may use a Shared at once; an Editor belongs to one.
//
// The package has no goroutine.
package isolation
