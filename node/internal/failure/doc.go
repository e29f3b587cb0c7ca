// Package failure has the forms in which errors and panics cross to other nodes: as values of
// Go between nodes of this kind, and as terms where a node of OTP is at the other end, or in
// between.
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
// The package has no clock and no goroutine. Its state is [Default], which is set once.
package failure
