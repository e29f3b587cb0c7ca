// Package dist is the seam between a node and the protocols it speaks with other nodes:
// what a [Protocol] is given, what a [Link] does, which signals a [Frame] can hold, and
// what a [Transport] below a protocol does. Packages erldist and native are two
// protocols, [TCP] and package tlsdist two transports; a program may bring others, and
// package linktest has the tests that a protocol must pass.
//
// # Nouns
//
//   - A [Transport] makes connections, a [Protocol] makes a [Link] of a connection by a
//     [Handshake], and a Link carries frames both ways.
//   - A [Frame] is one signal; its [Op] says which.
//   - A [Peer] is the node at the other end and what it can do.
//   - A [Verdict] is this node's answer to an incoming connection.
//
// # Goroutines
//
// None. Each method says which goroutines may call it.
package dist
