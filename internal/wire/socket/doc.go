// Package socket reads and writes connections in the ways that package net does not: a
// write that never waits, a read that polls the socket before it sleeps, and writes in
// parts whose progress others can see.
//
// # Nouns
//
//   - A [Writer] writes to a connection what the kernel takes at once.
//   - A [Reader] reads from a connection; its Await polls for a while before it sleeps.
//   - [Send] and [SendAll] write all, in parts, and count what has gone.
//
// # Invariants
//
//  1. A Writer never waits. What it has begun to send and the kernel has not taken stays
//     in Rest, and goes before anything else.
//  2. Whatever a poll of a Reader finds, data or an error, the next Read returns.
//  3. Before a Reader sleeps, the kernel reports each byte again (SO_RCVLOWAT is 1).
//
// # Goroutines
//
// None. The holder of a Writer's lock writes; one goroutine at a time reads.
//
// # Systems
//
// A Reader polls on linux/amd64 only. Elsewhere, and with the build tag actornode_portable
// or actornode_no_spin, it reads as the connection does, and [Spins] is false. A
// Writer works where connections have descriptors, on Unix.
package socket
