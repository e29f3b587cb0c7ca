// Package erlflags has the capabilities that two nodes exchange in the handshake of the Erlang distribution protocol: the
// flags of OTP's dist.hrl, those that this node announces, and those that it requires from a peer.
//
//   - [Flags] is a set of them; a connection uses those that both nodes have.
//   - [Announced], [Needed] and [Announce] determine how this node uses them.
//
// It has no state and starts no goroutine.
package erlflags
