// Package values converts Go values, errors, crashes and exit reasons for other nodes, and those of other nodes for this one.
//
// # The codec
//
// A Codec converts everything that has no form of its own.
//
// Nouns:
//
//   - A [Codec] converts both ways for the nodes that have registered the same types and errors. Their links
//     use it: the result of [Codec.Foreign] goes to Go nodes, that of [Codec.Term] to nodes of OTP.
//   - [Public] has what package node defines about the types that programs see.
//   - A mark is an atom that identifies a term as the representation of a Go value: it comes back from a node
//     of OTP as the value ([Codec.Unmark]).
//   - A reference is a value that represents something on one node: a waiting caller, or a future
//     ([References]).
//
// The representations of a value:
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
//  1. A term with a mark that is otherwise invalid stays a term.
//  2. If a method of a user's type panics while a value is read, only that value is lost.
//  3. Depth limits apply when values are read: terms to 64, reasons to [MaxDepth].
//
// It has no state, no clock and no goroutine.
//
// # Errors and panics
//
// Errors and panics are sent to other nodes: as values of Go between Go nodes, and as terms if a node of OTP is at the other
// end, or in between.
//
// Nouns:
//
//   - An [Error] is an error of another node: its text, and its parts.
//   - A part is something that the error is, or wraps, and that the other node can know: the
//     name of a sentinel error, a value of a registered type, or an Error again.
//   - A [Panic] is the value of a panic on another node, if it is neither an error nor of a
//     basic type.
//   - A [Crash] is the exit reason of a process that panicked or returned an error; an [Exit] the error
//     for the exit of a process.
//   - A [Reply] is an error instead of a reply.
//   - [Known] is what a node has registered.
//
// The terms:
//
//	{'$error', Text, Parts}         an error; Text is a binary, a part an atom, a term or an error again
//	{'$panic', Type, Text}          the value of a panic; instead of Text an error, if that has parts
//	{Reason, Stacktrace}            a crash: one of the two above, and a stack trace like Erlang's
//	{error, {'$error', …}}          an error instead of a reply
//
// An error without a part that another node can know is represented by its text, as a binary.
//
// Invariants:
//
//  1. What is made, and what is read, is bounded: [MaxText], [MaxParts], [MaxDepth],
//     [MaxStack], [MaxFrames]. What exceeds these is left out, and a text indicates that.
//  2. A term that does not have exactly one of these forms is no error, and stays unchanged.
//  3. A method of a user's error that panics costs its text, and nothing else.
//
// It has no clock and no goroutine. Its state is [Default], which is set once.
//
// # Registered types
//
// A [Registry] knows which Go types, and which errors, are sent to other nodes as themselves, and by which names.
//
// Nouns:
//
//   - A [Registry] is the set of registered types and errors.
//   - [Makers] have, for types and those composed of them, what node derives from a type.
//
// Invariants:
//
//  1. What has been registered stays, under the same name.
//  2. A name identifies one error, and an error has one name. The codec ensures that for the names of
//     types.
//
// Both may be used concurrently, and are read without a lock. It has no clock and no goroutine.
//
// # Structs that represent tuples
//
// Terms are read as the structs that represent them: one with the tag `etf:"add,tuple"` is the tuple {add, …}, and a tuple
// with that first atom and number of elements may be read as the struct.
//
//	k, ok := TaggedOf(reflect.TypeFor[Add]())     the kind of Add; false if it has no such tag
//	k.Read(n, term, &add)                          false if the term is no Add
//
// A [TaggedKind] is one struct. It is immutable. It has no goroutine.
package values
