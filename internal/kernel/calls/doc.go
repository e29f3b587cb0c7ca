// Package calls has the data and the rules of calls: what a call is settled with, who waits for whom, the messages that
// OTP's behaviours exchange, and how an error becomes an exit reason. Processes are a type parameter or a number here;
// package process has the calls themselves.
//
// # Promises
//
// A Promise holds what a call is settled with: once, by whoever comes first.
//
// Nouns:
//
//   - A [Promise] has a value and an error, or has none yet. It can serve one call after the
//     other, so that a process needs one for all the calls that it waits for.
//   - A [Ticket] is one use of a promise. What is said of a ticket that has been used before
//     concerns nobody: a late reply finds a newer ticket, and does nothing.
//   - [Watches] are what is told when a future is settled: those who wait for a channel to be
//     closed, and functions.
//
// The states of a promise, in this order for each ticket:
//
//	waiting    armed; anybody may settle it
//	settling   one has begun to, and writes the value; all others have come too late
//	done       the value can be read; the owner may arm it for the next ticket
//
// A timeout, a cancellation, the exit of the called process and the death of the caller are
// attempts to settle it with an error. None of them has a rule of its own: the first one wins.
//
// Invariants:
//
//  1. The state only goes forward; from done to waiting of the next ticket by its owner alone.
//  2. [Promise.Begin] returns true once for each ticket. Who gets it calls [Promise.Finish],
//     and does before that what must be over when the caller goes on.
//  3. The value is written between Begin and Finish, and read after Finish.
//  4. A ticket has one [Watch] at most, over the process that its request has been forwarded to. When the ticket is settled
//     the watch is forgotten, whoever comes first: see [Promise.Forward].
//
// It has no clock and no goroutine; who waits, and in which way, is its user's.
//
// # Who waits for whom
//
// What processes wait for.
//
// Nouns:
//
//   - A [WaitKind] is what a process can wait for: a reply, space in a mailbox, …
//   - A [WaitRecord] is what a blocking process waits for in its calls, one after the other. The process
//     writes it with each call, at the cost of some stores; others read it now and then.
//   - A [WaitGraph] has which process waits for which, and finds the wait that would close a cycle.
//
// Invariants, beside those of a WaitGraph:
//
//  1. Only the process writes its WaitRecord, and the use last. A promise that waits for the use that a
//     reader has found, after it has read the rest, has not been armed for the next: so the rest
//     belongs to that use.
//
// It has no clock and no goroutine.
//
// # The messages of gen behaviours
//
// Functions of terms read and make the messages by which OTP's gen behaviours talk (gen.erl in stdlib): calls, casts
// and replies.
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
//  1. What is made is read, and gets the same parts.
//  2. No term that it reads makes it panic; one that is no such message is not read at all.
//
// It has no state, no clock and no goroutine.
//
// # Exit reasons
//
// These are the rules by which an error of Go becomes an exit reason, an exception or a term of Erlang, and how these
// are written for people.
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
//  3. A text has at most [MaxReasonText] bytes of what comes from outside: that may be as long as a
//     message may be.
//
// It has no state, no clock and no goroutine.
//
// # Futures of other nodes
//
// Nodes tell each other of futures: which of one node others know, and the messages by which they ask what such a
// future has been completed with.
//
// Nouns:
//
//   - [LentFutures] are the futures of a node that others know, by references.
//   - An ask is the body of a call of net_kernel, {'$future', Ref}: what is the future completed with? The node
//     of the future answers when it is.
//   - An answer is {ok, Value}, or {exit, Reason} for a future that has failed with the exit of a process: that of
//     the call would be net_kernel's. Another error is that of the call.
//
// Invariants:
//
//  1. A future that is over is kept for [KeepFutures], and at most so many of them: a message that it is in can
//     wait as long in a mailbox.
//  2. As long as one that is over is kept, and Stop has not been called, there is a timer that will drop it.
//
// The timer is the only goroutine; Stop ends it.
package calls
