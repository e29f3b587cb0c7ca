// Package sysmsg answers system messages for the behaviours of this module: servers, state
// machines, event managers, supervisors, ports. Package sys has the protocol, and the
// functions that send such messages.
//
// # Nouns
//
//   - A [Server] is the interface of a behaviour that answers system messages.
//   - A [System] is the state that such a behaviour keeps, and that handles each [Request].
//   - A [Command] is a system message from Go, sent by package sys.
//   - [Brief], [Words] and [Term] format values for logs and other nodes.
//
// # Invariants
//
//  1. A suspended behaviour handles system messages and its parent's exit; all
//     other messages wait in the mailbox, in order.
//  2. Except for terminate, answering a system message does not end the process, whatever the behaviour's own code does,
//     except runtime.Goexit.
//  3. A log of events is a ring with the requested size, at most 100,000.
//
// # Goroutines
//
// One for an answer that depends on the unknown OTP release of a caller. It ends when that node has sent its release, or
// after 5 s.
package sysmsg
