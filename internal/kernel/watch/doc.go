// Package watch is what a node shows of what happens on it: traces, crash reports, dead letters, and which message was
// changed after it was sent. What is watched never waits for those who watch. It has no goroutine.
//
// # Feeds
//
// A [Feed] holds so many events for its reader, drops those that do not fit, and counts them. A [Hub] is several feeds
// of the same events. A [Throttle] decides which of them are logged.
//
// Invariants:
//
//  1. A feed's channel is closed once, by Close, and nothing is sent on it afterwards.
//  2. The events of one feed are stamped and sent in the same order.
//  3. A Feed's lock is the innermost: nothing is locked while it is held. A Hub's is just
//     above it.
//
// # Traces
//
// A trace shows what some processes do and what is done to them.
//
//   - A [TraceEvent] is one thing that a process has done, of a [TraceKind].
//   - A [Trace] wants the events of some kinds of some processes. Its [TraceFeed] takes them.
//   - A [Traces] says which processes are traced by which traces. What it says is a [TraceView], which whatever
//     happens on a node is shown to. To add a process, and to take one out, costs the same however many are traced.
//   - A [TraceToken] is a sequential trace token, of OTP's seq_trace: see there.
//
// A process is known by its PID alone. Package node/trace is what programs use.
//
// Invariants of Traces:
//
//  1. Their View is nil exactly if no process is traced and there is no [Guard]; it is the same from when somebody is traced
//     until nobody is, or a Guard comes, and says at any time who is traced then.
//  2. Whoever takes a process out because of its exit is told so, alone: of several calls
//     of Gone for the same process the first counts.
//  3. Their lock is taken with no lock of a node held. Of what is called with it held a feed may
//     lock what belongs to one trace, and nothing else.
//
// While nobody is traced a message costs one load of a pointer; while others are, a look at a
// mask besides.
//
// It has no goroutine.
//
// # Reports
//
// [Reports] logs what an operator should see of processes that do what they should not, or are to be done what must
// not be: a [Blocked] handler, a signal that was [Refused], a request that a peer has [NoRight] to, messages that are
// [Left]. Each of these is logged once a second at most, however often it happens. A [Crash] is always logged.
// [CodeOf] says where the code of a behaviour is.
//
// It has no goroutine. What it logs may come from any.
//
// # Dead letters
//
// [DeadLetters] is what a node does with messages that it cannot deliver: it counts them by cause, logs some, and
// gives them to those who have opened a stream.
//
// Invariants:
//
//  1. Every letter is counted once. It is logged at most once, and sent to each stream that was
//     open when it came.
//  2. The logger is called with nothing locked: a log handler may send messages, too.
//
// It has no goroutine.
//
// # Isolation
//
// An [Isolation] does with the messages of a node what its isolation.Config says: it copies them, or notes what they
// are and reports what has changed.
//
//   - It is what a node has. It stands behind the question whether anybody is traced, which every message
//     asks, so that a node without it pays nothing: see Guard.
//   - A [record] is a message that has been sent and not been received.
//
// Invariants:
//
//  1. A record is compared while nobody has received the message: whoever receives it takes the lock of the record
//     first, and it is over then.
//  2. There are no more records than mostRecords; messages beyond are not compared.
//
// Locks: that of a record may be held when that of the guard is taken, not the other way round. Report is called with
// none.
//
// It has no goroutine.
//
// # Outlines
//
// [Outline] says in a few words what a message or a state is, for logs. Nobody has asked the value to be shown: it may
// hold passwords, and maps that other goroutines write. So a line has its type and its size, and more only of what
// offers it.
//
// Invariants
//
//  1. Of a Go value nothing is read but what the interface holds: no field, no map, no pointer is followed.
//  2. No method of a user's is called but LogValue and Error, and neither by [Type].
//
// # Goroutines
//
// None.
package watch
