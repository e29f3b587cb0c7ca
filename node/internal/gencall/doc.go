// Package gencall reads and makes the messages by which OTP's gen behaviours talk (gen.erl in
// stdlib): calls, casts and replies, as functions of terms.
//
// Nouns:
//
//   - A request is {'$gen_call', From, Body}, or another label in place of '$gen_call'.
//   - From is {Pid, Tag}: which process calls, and what its reply begins with.
//   - A tag is a reference, [alias|Ref] or [[alias|Ref]|_]. With alias the reply goes to the
//     alias Ref, which is inactive once the caller no longer waits; else it goes to Pid.
//   - A reply is {Tag, Value}. An error that a Go server answers with is {error, Reason} there.
//   - A cast is {'$gen_cast', Body}.
//
// Invariants:
//
//  1. What this package makes it reads, and gets the same parts.
//  2. No term that it reads makes it panic; one that is no such message is not read at all.
//
// The package has no state, no clock and no goroutine.
package gencall
