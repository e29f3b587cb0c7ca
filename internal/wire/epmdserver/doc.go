// Package epmdserver is a port mapper: it answers everything as OTP's epmd does, but for
// the differences that package epmd documents. A Keeper of package epmd runs one.
//
// # Nouns
//
//   - A [Server] serves listeners once, with a [Config].
//   - The registry is its pure half: requests in, answers out.
//   - [Stats] counts what it has seen.
//
// # Invariants
//
//  1. The live names of a server differ. Each is held by one open connection, and
//     ends with it.
//  2. A server gives no creation twice, and none that is 0.
//  3. No exchange lasts longer than Config.IdleTimeout.
//
// # Goroutines
//
//	name    started by  stopped by                         owns
//	accept  Serve       the server's end; Serve waits      a listener
//	serve   accept      deadline, peer, or the server's    a connection's bytes
//	                    end; Serve waits
package epmdserver
