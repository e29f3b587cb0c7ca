// Package links has what the protocols of this module share beside package dist: optional interfaces of their links,
// the steps of a handshake, the change of a cookie, and the memory that the links to one peer share.
//
// # Optional interfaces
//
// Links of this module's protocols have these interfaces beside those of package dist, so that a node writes and reads
// faster and sees more. A link without them works. A node asks once for each when the connection is made.
//
//   - [MessageWriter], [TryFlusher]: faster ways to write.
//   - [LookAhead], [BatchReader], [BusyReader]: faster ways to read.
//   - [LongLimiter]: whether a long message would be taken.
//   - [Requester]: calls in fewer frames.
//   - [Checker]: whether a message can be sent, before it is.
//   - [Counter], [Progress]: the state of a link.
//   - [Tails]: what sessions keep, of a budget.
//   - [Hosted]: what is read may refer to the node.
//   - [PeerValues]: the Go values that are sent to one peer, of the Erlang protocol.
//   - [Unreadable]: what has come, and cannot be taken.
//   - [Explainer], [ErrResumed]: why a link is closed, and that one goes on.
//   - [Chooser]: dialing by protocol, of a transport.
//
// Beside that, [Codec] shows package node how the native protocol codes Go values.
//
// Each method says which goroutine may call it.
//
// # Handshakes
//
// A [Handshake] runs the steps of a handshake: each has its own time limit, the whole
// ends with its context, and errors of the connection become errors of the handshake.
//
// # Two cookies
//
// While a cluster changes its cookie some of its nodes have the new
// one already, the others still the old one.
//
//   - The side that accepts takes a proof by either cookie, and answers by the same one: [ProvedCookie].
//   - The side that dials proves first, and does not know which cookie the peer has. It tries the new one, and
//     then, over a new connection, an old one: [DialCookies].
//
// So of two nodes only one needs the old cookie beside its own: each direction works, whichever node changes first.
//
// # Memory
//
// An [Account] keeps what each link has taken of the memory that the links to a peer
// share.
//
// The package starts no goroutine.
package links
