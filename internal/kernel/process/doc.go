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
//   - A [Death] is a process that is dead and has not told anybody yet.
//   - A [Call] is a call in flight, and a [Ticket] one use of it.
//
// The invariants stand with the types. Locks: that of a process (Mu) is locked below those of the names and
// above those of a peer; see lockPair for two processes. The package starts no goroutine.
package process
