// Package process is what PIDs stand for: processes of a node, what they do to each other, and calls
// between them. It knows nothing of behaviours, of the wire and of the node above; what it needs of these
// it gets as a [Host] and as [Remote]s.
//
// Nouns:
//
//   - A [Process] has a mailbox, links, monitors, a name, aliases, timers. What few processes have is in
//     [Cold].
//   - A [Runner] runs the code of a process; a [Blocker] is one whose code waits. Package runner has them.
//   - An [Acting] says who acts: the process whose code runs, on which worker. Functions that send, link,
//     exit or wait take it; where the node itself acts, it is System.Plain.
//   - The [System] is what the processes of a node share.
//   - A [Target] is what a destination stands for at one moment: a process here, one elsewhere, or nobody.
//   - A [Death] is a process that is dead and has not told anybody yet.
//   - A [Call] is a call in flight, and a [Ticket] one use of it.
//
// The invariants stand with the types. Locks: that of a process (Mu) is locked below those of the names and
// above those of a peer; see lockPair for two processes. The package starts no goroutine.
//
// # Exit signals
//
// The rules of exit signals say what one does to the process that gets it. They are Erlang's, see "Processes" in its
// Reference Manual.
//
// Nouns:
//
//   - An exit signal has a reason. It comes over a link, when the process at its other end exits, or
//     from [Exit], which is exit/2.
//   - A process that traps exits gets a message in place of most of them.
//
// It has no state, no clock and no goroutine. What carries out an [Effect] holds the lock of
// the process.
//
// # Timers
//
// A timer is a message that is sent to a process later, once or again and again.
//
// Nouns:
//
//   - A [Timer] is one such message.
//   - A [Timers] is the timers of one process, and ends with it; those whose destination is looked up when they are due are in
//     a set of the node.
//   - A [CountTimers] is how many timers a node has.
//   - An [TimerOwner] is the process as its set knows it: its mailbox.
//
// Invariants:
//
//  1. A timer that is over is in no set, and refers neither to its process nor to its message.
//  2. A timer is over once: it has sent its message, Cancel has answered true, or End has ended it.
//  3. Timers of different processes share no lock, and while a set holds its own it calls
//     nothing but [TimerOwner.Waits] and [TimerOwner.TryPush].
//
// While a mailbox that makes its senders wait has no space, a timer that sends once tries again,
// first after a millisecond, then after twice as long each time, up to 100 ms.
//
// A timer runs on a goroutine of package time, for the moment of a send: nothing holds that up.
// A set is safe for concurrent use.
//
// # Processes that have moved
//
// A [Moved] is what a process keeps that has come from another node, or has gone to one.
//
// Invariants:
//
//  1. A link or a monitor that a process had before it came is a real one of its holder, a forwarder on a node
//     where the process was. Here it is an entry of the record alone, a link also one of the set of links.
//  2. What has been taken away has no effect any more: a signal of the holder that comes later finds no entry.
//
// # Receipts
//
// [ReceiptOf] and [ReceiptError] say what becomes of a message whose sender waits for that, on the wire and as an
// error.
//
// # Services
//
// A [Keeper] keeps the services of a node up: processes that are started again when they have ended, in whatever way.
// A plan (restart.go) says when, and when a service is given up.
//
// Nouns
//
//   - A [Service] is a process that is kept up.
//   - A [Keeper] keeps the services of one node up.
//   - A [KeeperHost] is the node, as far as a keeper knows it.
//
// Invariants
//
//  1. Each service of a keeper has one goroutine, until the service has been given up or the
//     keeper is stopped.
//  2. The PID of a service is that of the process that its goroutine waits for, or zero: none
//     runs.
//
// Goroutines
//
//	goroutine   started by     ended by                waited for by
//	keep        Keeper.Keep    Stop, or giving up      Stop
package process
