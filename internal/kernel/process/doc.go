// Package process implements the processes of a node, to which PIDs refer, their operations on each other, and calls between
// them. It is independent of behaviours, of the wire and of the node above; it accesses those by a [Host] and by [Remote]s.
//
// Nouns:
//
//   - A [Process] has a mailbox, links, monitors, a name, aliases, timers. What few processes have is in
//     [Cold].
//   - A [Runner] runs the code of a process; a [Blocker] is one whose code waits. Package runner implements them.
//   - An [Acting] identifies who acts: the process whose code runs, on which worker. Functions that send, link,
//     exit or wait take it; for the node itself it is System.Plain.
//   - The [System] is what the processes of a node share.
//   - A [Target] is a resolved destination: a local process, a remote one, or none.
//   - A [Death] is a process that is dead and has not notified any others yet.
//   - A [Call] is a call in progress, and a [Ticket] one use of it.
//
// The invariants are documented with the types. Locks: that of a process (Mu) is taken after those of the names and before
// those of a peer; see lockPair for two processes. The package starts no goroutine.
//
// # Exit signals
//
// The rules of exit signals define the effect on the process that receives one. They are Erlang's, see "Processes" in its
// Reference Manual.
//
// Nouns:
//
//   - An exit signal has a reason. It comes over a link, when the process at its other end exits, or
//     from [Exit], which is exit/2.
//   - A process that traps exits receives a message instead of most of them.
//
// This part has no state, no clock and no goroutine. The caller that carries out an [Effect] holds the lock of the process.
//
// # Timers
//
// A timer is a message that is sent to a process later, once or periodically.
//
// Nouns:
//
//   - A [Timer] is one such message.
//   - A [Timers] is the set of timers of one process, and ends with it; those whose destination is looked up when they are due
//     are in a set of the node.
//   - A [CountTimers] counts the timers of a node.
//   - A [TimerOwner] is the mailbox of the process, as seen by its set.
//
// Invariants:
//
//  1. A timer that has ended is in no set, and refers neither to its process nor to its message.
//  2. A timer ends once: it has sent its message, Cancel has returned true, or End has ended it.
//  3. Timers of different processes share no lock, and while a set holds its own it calls
//     nothing but [TimerOwner.Waits] and [TimerOwner.TryPush].
//
// While a mailbox that makes its senders wait has no space, a one-shot timer retries, first after a millisecond, then after
// twice as long each time, up to 100 ms.
//
// A timer runs on a goroutine of package time, only to send: that never blocks. A set is safe for concurrent use.
//
// # Processes that have moved
//
// A [Moved] is the record of a process that has come from another node, or has gone to one.
//
// Invariants:
//
//  1. A link or a monitor that a process had before it came is a real one of its holder, a forwarder on a node
//     where the process was. Here it is only an entry of the record, and a link also an entry in the set of links.
//  2. What has been removed has no effect any more: a later signal of the holder finds no entry.
//
// # Receipts
//
// [ReceiptOf] and [ReceiptError] convert the outcome of a message whose sender waits for a receipt, to the wire and to an
// error.
//
// # Services
//
// A [Keeper] keeps the services of a node up: processes that are restarted whenever they have ended. A plan (restart.go)
// decides when, and when a service is given up.
//
// Nouns
//
//   - A [Service] is a process that is kept up.
//   - A [Keeper] keeps the services of one node up.
//   - A [KeeperHost] is the node, as seen by a keeper.
//
// Invariants
//
//  1. Each service of a keeper has one goroutine, until the service has been given up or the
//     keeper is stopped.
//  2. The PID of a service is that of the process that its goroutine waits for, or zero if none
//     runs.
//
// Goroutines
//
//	goroutine   started by     ended by                waited for by
//	keep        Keeper.Keep    Stop, or giving up      Stop
package process
