// Package isolation keeps processes apart that are in one memory: it copies what they send each other, or
// finds out who changes what has been sent.
//
//   - [Copy] copies a value with all that it leads to and that could be changed. [Config].Copy does that for all
//     that is sent on a node, node.Options.CopyMessages for all that one process gets, node.SendOptions.Copy
//     for one message.
//   - [Config].Check is for development and tests: it reports a [Change] of a message after it was sent.
//   - A [Shared] is a value that many read and nobody changes; an [Editor] changes a copy.
//
// On one node a message is the Go value that was given to Send, not a copy, as with Go's channels. Who sends a
// pointer, a slice or a map must not use it afterwards. Nothing in Go demands that: this package does, or makes
// it unnecessary. To other nodes all messages are copies anyway. `actornode vet` finds some misuse without running the program.
//
// # What is copied, shared and refused
//
// Copied is what pointers, slices, maps and interfaces lead to, in unexported fields, too. What led to one thing in
// the original leads to one thing in the copy, cycles included; a pointer into something else that is copied, such as to
// one of its fields, leads to a copy of its own.
//
// Shared are: strings, PIDs, references, time.Time; channels; errors, as programs compare them; contexts,
// *os.File, *slog.Logger, regular expressions; what a pointer leads to that holds a lock or an
// atomic, which is made to be shared, such as a *lifetime.Owner, and weak pointers to such things; values of types that
// say so, see [Immutable]; and fields of a struct with the tag `isolation:"share"`.
//
// Refused, with an [Error] that says where it is, are: functions, which may have captured anything; locks and atomics
// that are in a message itself; unsafe pointers; and structs of the standard library that hide references, such as
// connections, but for plain data such as big.Int and bytes.Buffer; and weak pointers to what is copied, as nobody would
// hold the copy. A message that is refused is not sent. The
// tag is for who knows better. A value with references more than 100,000 deep is refused, too.
//
// What a process sends to itself is not copied, by timers neither: nobody else has it. Supervisors, applications, servers and
// state machines live by such messages.
//
// A copy has no cleanup (runtime.AddCleanup) that the original has: that is called when nobody can reach the original, though
// the copy is in use. Have such a type shared.
//
// # What Check finds
//
// What is sent by Send, SendAfter, Deliver and SendOpt, requests and their replies, casts, and calls of
// active objects is compared with what it was: when it is received, when the process exits without having received it, when
// the node stops, and one of those that wait with each message that is sent. The first difference is a
// Change. Who has made it cannot be seen: it was the sender, or another process that has had the
// same message; Change.Also are the processes that have received it before. Once a
// message has been received it is the receiver's: what the sender changes then, Check cannot tell from what the receiver
// does.
//
// Not compared are: what is shared when copied; what is beyond Config.MaxBytes of a message; messages while 10,000 wait that
// are compared; messages to a process with Options.Bounds or Options.Mailbox, or with an owner (package lifetime),
// and those of a process to itself; what SendInterval sends again, between two
// messages; values of futures, which many may read; behaviours that are spawned, and exit reasons. Of an interface or a string
// whose variable was overwritten only that is told.
//
// A Check reads memory that somebody perhaps writes at this moment. With -race, the race detector tells where;
// a map that is written while it is read ends the program, as Go has it.
//
// # A Context in the wrong hands
//
// A node.Context is for the goroutine that runs the handler, until that returns. What is found out of other use, each time
// by a panic of the goroutine that does so, which says what to do instead:
//
//   - When the handler has returned: each method of the Context but Node, and Call, SendRequest, Deliver and AwaitExit, as long
//     as the worker that has run the handler runs no other, and always for an Actor that is detached or has
//     a scheduler of its own. This needs no Check, and costs Send nothing.
//   - With Check, also while a handler runs, that one or another of the same worker: each method but Node and Self, and
//     each of those functions, but where nothing is sent or changed on this node: a message to another node, or to a name
//     that nobody has. Goroutines are told apart by the text of their tracebacks, some microseconds each time; methods of
//     active objects are taken for the handler's. Builds with the tag actornode_portable do without.
//
// Without Check, a goroutine that uses the Context while a handler runs is a data race, which -race finds. A node.Process is
// not looked at: a handle may go from one goroutine to another.
//
// # Invariants
//
//  1. With neither Check nor Copy, messages take the same path as without this package.
//  2. What Copy returns shares no memory that can be changed with the original, but for what is listed above.
//  3. Many goroutines may use a Shared at once; an Editor belongs to one.
//
// The package has no goroutine.
package isolation
