// Package isolation keeps processes apart that are in one memory: it copies what they send each other.
//
//   - [Copy] copies a value with all that it leads to and that could be changed.
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
// atomic, which is made to be shared; values of types that say so, see [Immutable]; and fields of a struct with the tag
// `isolation:"share"`.
//
// Refused, with an [Error] that says where it is, are: functions, which may have captured anything; locks and atomics
// that are in a message itself; unsafe pointers; and structs of the standard library that hide references, such as
// connections, but for plain data such as big.Int and bytes.Buffer. The
// tag is for who knows better. A value with references more than 100,000 deep is refused, too.
//
// # Invariants
//
//  1. What Copy returns shares no memory that can be changed with the original, but for what is listed above.
//  2. Many goroutines may use a Shared at once; an Editor belongs to one.
//
// The package has no goroutine.
package isolation
