// Package dist is the interface between a node and its distribution protocols: it defines what a [Protocol] gets, what a
// [Link] does, which signals a [Frame] can carry, and what a [Transport] below a protocol does. Packages erldist and native
// are two protocols, [TCP] and package tlsdist two transports; a program may add others. Package linktest has the tests
// that a protocol must pass.
//
// # Nouns
//
//   - A [Transport] makes connections, a [Protocol] turns a connection into a [Link] by a [Handshake], and a Link carries
//     frames in both directions.
//   - A [Frame] is one signal; its [Op] is the kind.
//   - A [Peer] is the node at the other end, with its capabilities.
//   - A [Verdict] is this node's answer to an incoming connection.
//
// # Goroutines
//
// None. Each method says which goroutines may call it.
package dist
