// Package erlflags has the capabilities that two nodes tell each other in the handshake of the
// Erlang distribution protocol: the flags of OTP's dist.hrl, which of them this node announces,
// and which it must find in a peer.
//
//   - [Flags] is a set of them; what both nodes have holds.
//   - [Announced], [Needed] and [Announce] are what this node does with them.
//
// It has no state and starts no goroutine.
package erlflags
