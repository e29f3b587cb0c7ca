// Package socket reads and writes connections in ways that package net does not support: writes that never block, reads
// that poll the socket before they sleep, and writes in parts with observable progress.
//
// # Nouns
//
//   - A [Writer] writes as much as the kernel accepts at once.
//   - A [Reader] reads from a connection; its Await polls for a while before it sleeps.
//   - [Send] and [SendAll] write everything, in parts, and count the sent bytes.
//
// # Invariants
//
//  1. A Writer never blocks. Data that it has started to send and the kernel has not accepted stays in Rest, and must be
//     sent first.
//  2. The next Read returns the data or error that a poll of a Reader has found.
//  3. Before a Reader sleeps, the kernel reports each byte again (SO_RCVLOWAT is 1).
//
// # Goroutines
//
// None. The holder of a Writer's lock writes; one goroutine at a time reads.
//
// # Systems
//
// A Reader polls on linux/amd64 only. Elsewhere, and with the build tags actornode_portable and actornode_no_spin, it only
// reads from the connection, and [Spins] is false. A Writer works where connections have descriptors, on Unix.
package socket
