// Package values says what Go values, errors, crashes and exit reasons of a node become on their way to other
// nodes, and what those of other nodes become here.
//
// Nouns:
//
//   - A [Codec] does both for the nodes that have registered the same types and errors. It is what their links
//     ask: what [Codec.Foreign] makes goes to Go nodes, what [Codec.Term] makes to nodes of OTP.
//   - [Public] are the types of package node that programs see, which this package knows by their forms in
//     package failure.
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
//  3. What is read to a depth is read to so much of it: terms to 64, reasons as package failure says.
//
// The package has no state, no clock and no goroutine.
package values
