// Package sysmsg answers system messages for the behaviours of this module: servers, state
// machines, event managers, supervisors, ports. Package sys has the protocol, and the
// functions that send such messages.
//
// # Nouns
//
//   - A [Server] is a behaviour that answers system messages: what it must be able
//     to say and do.
//   - A [System] is what such a behaviour keeps for it and hands each [Request] to.
//   - A [Command] is a system message on its way from Go; package sys sends one.
//   - [Brief], [Words] and [Term] say how values are shown in logs and to other nodes.
//
// # Invariants
//
//  1. A suspended behaviour handles system messages and its parent's exit; all
//     other messages wait in the mailbox, in order.
//  2. No answer to a system message but terminate ends the process, whatever the
//     behaviour's own code does, short of runtime.Goexit.
//  3. A log of events is a ring: at most as many as were asked for, 100,000 at
//     most.
//
// # Goroutines
//
// One for an answer that depends on the release of a caller which is not known yet. It ends
// when that node has said its release, or after 5 s.
package sysmsg
