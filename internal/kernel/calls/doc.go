// Package calls has the data and the rules of calls: the result of a call, who waits for whom, the messages of OTP's
// behaviours, and how an error becomes an exit reason. Processes are a type parameter or a number here; package process
// implements the calls themselves.
//
// # Promises
//
// A Promise holds the result of a call: it is settled once, by the first call.
//
// Nouns:
//
//   - A [Promise] has a value and an error, or none yet. It can serve one call after the
//     other, so that a process needs one for all the calls that it waits for.
//   - A [Ticket] is one use of a promise. Operations on a ticket of an earlier use have no
//     effect: a late reply finds a newer ticket, and does nothing.
//   - [Watches] are notified when a future is settled: waiters for a channel to be closed,
//     and functions.
//
// The states of a promise, in this order for each ticket:
//
//	waiting    armed; anyone may settle it
//	settling   a settler has begun, and writes the value; all others are too late
//	done       the value can be read; the owner may arm it for the next ticket
//
// A timeout, a cancellation, the exit of the called process and the death of the caller are attempts to settle it with an
// error. None of them has a rule of its own: the first one wins.
//
// Invariants:
//
//  1. The state only advances; from done to waiting of the next ticket only by its owner.
//  2. [Promise.Begin] returns true once for each ticket. That caller must call [Promise.Finish],
//     and do before that whatever must be finished when the waiter continues.
//  3. The value is written between Begin and Finish, and read after Finish.
//  4. A ticket has at most one [Watch] of the process that its request was forwarded to, and any number of those of
//     [Promise.Observe]. When the ticket is settled their Forget is called, in either order: see [Promise.Forward].
//
// It has no clock and no goroutine; its user decides who waits, and how.
//
// # Who waits for whom
//
// Records of what processes wait for.
//
// Nouns:
//
//   - A [WaitKind] is what a process can wait for: a reply, space in a mailbox, …
//   - A [WaitRecord] is what a blocking process waits for in its successive calls. The process
//     writes it with each call, at the cost of some stores; others read it occasionally.
//   - A [WaitGraph] records which process waits for which, and finds the wait that would close a cycle.
//
// Invariants, in addition to those of a WaitGraph:
//
//  1. Only the process writes its WaitRecord, and the field use last. If a promise still waits for the use that a
//     reader has found, after the reader has read the rest, it has not been armed again: so the rest
//     belongs to that use.
//
// It has no clock and no goroutine.
//
// # The messages of gen behaviours
//
// Functions to parse and make the terms of the messages of OTP's gen behaviours (gen.erl in stdlib): calls, casts and
// replies.
//
// Nouns:
//
//   - A request is {'$gen_call', From, Body}, or another label instead of '$gen_call'.
//   - From is {Pid, Tag}: the calling process, and the first element of the reply.
//   - A tag is a reference, [alias|Ref] or [[alias|Ref]|_]. With alias the reply goes to the
//     alias Ref, which is inactive once the caller no longer waits; otherwise it goes to Pid.
//   - A reply is {Tag, Value}. An error returned by a Go server is {error, Reason} there.
//   - A cast is {'$gen_cast', Body}.
//
// Invariants:
//
//  1. Parsing what was made returns the same parts.
//  2. Parsing never panics, whatever the term; a term that is no such message is rejected as a whole.
//
// It has no state, no clock and no goroutine.
//
// # Exit reasons
//
// These are the rules by which an error of Go becomes an exit reason, an exception or a term of Erlang, and how these are
// formatted for people.
//
// Nouns:
//
//   - An exit reason is any term or Go value: why a process has ended.
//   - A chosen exit is the error by which a behaviour specifies its exit reason ([Exit]). Any other
//     error is a crash.
//   - An exception is what a called function raises: of class throw ([Throw]), of class exit
//     (a chosen exit) or of class error ([Raise], and any other error).
//   - The term of an error is what other nodes see of it.
//
// Invariants:
//
//  1. Each function depends on its arguments only.
//  2. A wrapped error counts as the error itself. Of several the order is: a chosen exit,
//     an error that has a term of its own, the text.
//  3. A text contains at most [MaxReasonText] bytes of external input, which may be as long as a
//     message may be.
//
// It has no state, no clock and no goroutine.
//
// # Futures of other nodes
//
// The table of a node's futures that other nodes know, and the messages by which they request the result of such a future.
//
// Nouns:
//
//   - [LentFutures] are the futures of a node that others know, by references.
//   - An ask is the body of a call of net_kernel, {'$future', Ref}, which requests the result of a future. The node
//     of the future answers when it is completed.
//   - An answer is {ok, Value}, or {exit, Reason} for a future that has failed with the exit of a process: the exit
//     of the call would be net_kernel's. Another error is that of the call.
//
// Invariants:
//
//  1. A completed future is kept for [KeepFutures], and a bounded number of them: a message that contains it can
//     wait as long in a mailbox.
//  2. While a completed one is kept, and Stop has not been called, there is a timer that will drop it.
//
// The timer is the only goroutine; Stop ends it.
package calls
