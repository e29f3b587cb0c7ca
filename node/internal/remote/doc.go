// Package remote is another node as links, monitors and exit signals know it: what processes here tell
// processes there, and the reverse.
//
// Nouns:
//
//   - A [Peer] is that node. It is what package process calls a Remote.
//   - A frame is a signal on its way: what has come is carried out here, what is to go is put into the
//     outbox of the peer. Which links and monitors hang on the connection is known to package peers.
//
// Invariants:
//
//  1. A link or a monitor between the nodes is in the tables of the peer and with the process here, or in
//     neither once both locks are free; the process is locked first.
//  2. What a peer may not have here, by its limits or because a process is protected, is answered or
//     logged, never dropped in silence.
//
// The package has no goroutine and no clock. It knows nothing of messages, calls and spawns.
package remote
