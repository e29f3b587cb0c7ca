// Package epmdserver is a port mapper. It behaves like OTP's epmd, except for the differences documented in package
// epmdclient. A Keeper of package epmdclient runs one.
//
// # Nouns
//
//   - A [Server] serves listeners once, with a [Config].
//   - The registry is its pure half: requests in, answers out.
//   - [Stats] are its counters.
//
// # Invariants
//
//  1. The live names of a server are distinct. Each is held by one open connection, and ends with it.
//  2. A server gives no creation twice, and never 0.
//  3. No exchange lasts longer than Config.IdleTimeout.
//
// # Goroutines
//
//	name    started by  stopped by                         owns
//	accept  Serve       the server's end; Serve waits      a listener
//	serve   accept      deadline, peer, or the server's    a connection's bytes
//	                    end; Serve waits
package epmdserver
