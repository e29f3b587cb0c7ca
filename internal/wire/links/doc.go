// Package links has the common code of this module's protocols besides package dist: optional interfaces of links, the
// steps of a handshake, cookie changes, and the memory that the links to one peer share.
//
// # Optional interfaces
//
// Links of this module's protocols implement these interfaces in addition to those of package dist, so that a node writes
// and reads faster and can observe more. A link without them works, too. A node checks for each once, when the connection
// is made.
//
//   - [MessageWriter], [TryFlusher]: faster ways to write.
//   - [LookAhead], [BatchReader], [BusyReader]: faster ways to read.
//   - [LongLimiter]: whether a long message would be accepted.
//   - [Requester]: calls in fewer frames.
//   - [Checker]: whether a message can be sent, before sending it.
//   - [Counter], [Progress]: the state of a link.
//   - [Tails]: the unacknowledged data of sessions, for a budget.
//   - [Hosted]: received values may refer to the node.
//   - [Unreadable]: a received term that cannot be read.
//   - [Explainer], [ErrResumed]: the reason for closing a link, and its resumption.
//   - [Chooser]: a transport that dials by protocol.
//
// In addition, [Codec] gives package node access to the native protocol's codec for Go values.
//
// Each method says which goroutine may call it.
//
// # Handshakes
//
// A [Handshake] runs the steps of a handshake: each has its own time limit, the whole handshake ends with its context, and
// errors of the connection become errors of the handshake.
//
// # Two cookies
//
// While a cluster changes its cookie, some of its nodes already have the new one, others still have the old one.
//
//   - The accepting side accepts a proof with either cookie, and answers with the same one: [ProvedCookie].
//   - The dialing side proves first, and does not know which cookie the peer has. It tries the new one, and then, over a
//     new connection, an old one: [DialCookies].
//
// So only one of two nodes needs the old cookie in addition to its own: both directions work, whichever node changes first.
//
// # Memory
//
// An [Account] counts the memory that a link has taken of the budget shared by all links to a peer.
//
// The package starts no goroutine.
package links
