// Package reason has the rules by which an error of Go becomes an exit reason, an exception or
// a term of Erlang, and how these are written for people.
//
// Nouns:
//
//   - An exit reason is any term or Go value: why a process has ended.
//   - A chosen exit is the error by which a behaviour says its exit reason ([Exit]). Any other
//     error is a crash.
//   - An exception is what a called function raises: of class throw ([Throw]), of class exit
//     (a chosen exit) or of class error ([Raise], and any other error).
//   - The term of an error is what other nodes see of it.
//
// Invariants:
//
//  1. Each function depends on its arguments alone.
//  2. What an error wraps counts as the error itself. Of several the order is: a chosen exit,
//     an error that has a term of its own, the text.
//  3. A text has at most [MaxText] bytes of what comes from outside: that may be as long as a
//     message may be.
//
// The package has no state, no clock and no goroutine.
package reason
