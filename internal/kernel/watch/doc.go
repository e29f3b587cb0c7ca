// Package watch reports what happens on a node: traces, crash reports, dead letters, and messages that were changed after
// they were sent. What is watched never waits for watchers. It has no goroutine.
//
// # Feeds
//
// A [Feed] buffers a limited number of events for its reader, drops those that do not fit, and counts them. A [Hub] is
// several feeds of the same events. A [Throttle] decides, by a [Pace], which of them are logged.
//
// Invariants:
//
//  1. A feed's channel is closed once, by Close, and nothing is sent on it afterwards.
//  2. The events of one feed are stamped and sent in the same order.
//  3. A Feed's lock is the innermost: nothing is locked while it is held. A Hub's is just
//     outside it.
//
// # Traces
//
// A trace shows what some processes do and what is done to them.
//
//   - A [TraceEvent] is one thing that a process has done, of a [TraceKind].
//   - A [Trace] wants the events of some kinds of some processes. Its [TraceFeed] receives them.
//   - A [Traces] records which processes are traced by which traces. Its state is a [TraceView], to which all
//     events of a node are shown. Adding or removing a process costs the same however many are traced.
//   - A [TraceToken] is a sequential trace token, of OTP's seq_trace: see there.
//
// A process is identified by its PID alone. Programs use package node/trace.
//
// Invariants of Traces:
//
//  1. Their View is nil exactly if no process is traced and there is no [Guard]; it is the same from when a process is traced
//     until none is, or a Guard is added, and reports at any time what is traced then.
//  2. Only the caller that removes a process because of its exit is told so: of several calls
//     of Gone for the same process the first counts.
//  3. Their lock is taken with no lock of a node held. Of what is called with it held a feed may
//     lock what belongs to one trace, and nothing else.
//
// While no process is traced a message costs one load of a pointer; while others are, in addition a check of a mask.
//
// It has no goroutine.
//
// # Reports
//
// [Reports] logs what an operator should know of processes that misbehave, or of forbidden operations on them: a [Blocked]
// handler, a signal that was [Refused], a request to which a peer has [NoRight], messages that are [Left]. Each of these is
// logged at most once a second, however often it happens. A [Crash] is always logged. [CodeOf] returns where the code of a
// behaviour is.
//
// It has no goroutine. It may be used concurrently.
//
// # Dead letters
//
// [DeadLetters] handles messages that a node cannot deliver: it counts them by cause, logs some, and sends them to all open
// streams.
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
// An [Isolation] treats the messages of a node as configured by its isolation.Config: it copies them, or takes snapshots and
// reports changes.
//
//   - It belongs to a node. It is consulted only after the check whether anything is traced, which every message
//     makes, so that a node without it pays nothing: see Guard.
//   - A [record] is a message that has been sent and not been received.
//
// Invariants:
//
//  1. A record is compared while the message has not been received: the receiver takes the lock of the record
//     first, and then it is over.
//  2. There are at most mostRecords records; messages beyond are not compared.
//
// Locks: that of a record may be held when that of the guard is taken, not the other way round. Report is called with none.
//
// It has no goroutine.
//
// # Outlines
//
// [Outline] describes a message or a state in a few words, for logs. The value was not meant to be shown: it may hold
// passwords, and maps that other goroutines write. So a line has its type and its size, and more only if the value offers it.
//
// Invariants
//
//  1. Of a Go value only what the interface holds is read: no field, no map, no pointer is followed.
//  2. No method of a user's is called except LogValue and Error, and neither by [Type].
//
// # Goroutines
//
// None.
package watch
