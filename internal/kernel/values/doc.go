// Package values says what Go values, errors, crashes and exit reasons of a node become on their way to other nodes, and
// what those of other nodes become here.
//
// # The codec
//
// A Codec does it for all that has no form of its own.
//
// Nouns:
//
//   - A [Codec] does both ways for the nodes that have registered the same types and errors. It is what their links
//     ask: what [Codec.Foreign] makes goes to Go nodes, what [Codec.Term] makes to nodes of OTP.
//   - [Public] are the types of package node that programs see.
//   - A mark is an atom by which a term is known that stands for a Go value: it comes back from a node of OTP as
//     the value ([Codec.Unmark]).
//   - A reference is a value that stands for something on one node: a caller that waits, or a future
//     ([References]).
//
// What becomes of a value:
//
//	                        to a Go node                   to a node of OTP
//	a registered type       itself                         a map with its name under '$type'
//	an error                *Error                 {'$error', Text, Parts}, or its text
//	a crash                 *Crash                 {Reason, Stacktrace}
//	an error as a reply     *Reply                 {error, Reason}
//	a caller                itself                         {Pid, Tag}
//	a future                itself                         a map with its type and reference
//
// Invariants:
//
//  1. What has a mark and does not fit stays the term that it is.
//  2. A method of a user's type that panics while a value is read costs that value only.
//  3. What is read to a depth is read to so much of it: terms to 64, reasons as package values says.
//
// It has no state, no clock and no goroutine.
//
// # Errors and panics
//
// Errors and panics cross to other nodes: as values of Go between nodes of this kind, and as terms where a node of OTP
// is at the other end, or in between.
//
// Nouns:
//
//   - An [Error] is an error of another node: its text, and its parts.
//   - A part is something that the error is, or wraps, and that the other node can know: the
//     name of a sentinel error, a value of a registered type, or an Error again.
//   - A [Panic] is the value of a panic on another node, if it is neither an error nor of a
//     basic type.
//   - A [Crash] is the exit reason of a process that panicked or returned an error; an [Exit] the error
//     that says how a process has exited.
//   - A [Reply] is an error in the place of a reply.
//   - [Known] is what a node has registered.
//
// The terms:
//
//	{'$error', Text, Parts}         an error; Text is a binary, a part an atom, a term or an error again
//	{'$panic', Type, Text}          the value of a panic; in place of Text an error, if that has parts
//	{Reason, Stacktrace}            a crash: one of the two above, and a stack trace as Erlang has it
//	{error, {'$error', …}}          an error in the place of a reply
//
// An error without a part that another node can know is its text alone, as a binary.
//
// Invariants:
//
//  1. What is made, and what is read, is bounded: [MaxText], [MaxParts], [MaxDepth],
//     [MaxStack], [MaxFrames]. What is beyond that is left out, and a text says so.
//  2. A term that has not exactly one of these forms is no error, and stays as it is.
//  3. A method of a user's error that panics costs its text, and nothing else.
//
// It has no clock and no goroutine. Its state is [Default], which is set once.
//
// # Registered types
//
// A [Registry] knows which Go types, and which errors, travel to other nodes as themselves, and by which names.
//
// Nouns:
//
//   - A [Registry] is what is registered.
//   - [Makers] have, for types and those composed of them, what node makes of a type.
//
// Invariants:
//
//  1. What has been registered stays, under the same name.
//  2. A name is that of one error, and an error has one name. Names of types are looked after by the
//     codec.
//
// Both may be used from anywhere, and are read without a lock. It has no clock and no goroutine.
//
// # Structs that stand for tuples
//
// Terms are read as the structs that stand for them: one with the tag `etf:"add,tuple"` is the tuple {add, …}, and a
// tuple of that first atom and that many elements may be read as it.
//
//	k, ok := TaggedOf(reflect.TypeFor[Add]())     the kind of Add; false: it has no such tag
//	k.Read(n, term, &add)                          false: the term is no Add
//
// A [TaggedKind] is one struct. It never changes. It has no goroutine.
package values
