// Protoactor runs the benches with Proto.Actor for Go (github.com/asynkron/protoactor-go), another library of actors. Its
// version is v0.0.0-20240822202345-3c0e61ca19c9 of August 2024, the newest that the Go module proxy has.
//
//	run build                   compile; the Go command fetches the modules
//	run list                    the benches, one a line
//	run BENCH [key=value ...]   one bench, one JSON line
//
// The peer is a module of its own, so that this repository does not depend on Proto.Actor. Its workload is that of the
// bench of the same name in the parent module: the same parameters, the same messages in the same order, and the same check
// of the result.
//
// # Options
//
//  1. Mailbox and dispatcher are the defaults: an unbounded ring under a lock, and a goroutine that handles an actor's
//     messages until it has none, yielding after 300. Supervision is the default, too, except in restart, whose strategy
//     allows all its restarts.
//
//  2. The logger discards everything, as in the nodes of the other benches. Metrics are off, as by default: with a
//     provider each message would be timed.
//
//  3. Messages are pointers to newly allocated structs. Where the bench has a PID in its message it is sent with Send, as
//     in Proto.Actor's examples/actor-inprocess-benchmark. In spawn, fib, gencall and supertree, Request and Respond pass
//     the sender.
//
//  4. Actors of a kind share their Props, where a message can tell each what it needs. Actors of fib and mixed that end by
//     themselves get it in one more message, and are spawned by the root, as in Proto.Actor's
//     examples/actor-spawn-benchmark: as children they would have ever longer names, and report their ends to their
//     parents.
//
//  5. RequestFuture gets a negative timeout, with which it starts no timer. The calls of the other systems have no
//     deadline either. The caller waits for the result in its handler: its goroutine may block.
//
//  6. The body of a bench, which is no actor, receives results through channels with room for all of them, and waits for
//     actors that get ready with a WaitGroup.
//
//  7. It is compiled with the profile of this repository's benches, like the peer channels. That has samples of Go's
//     runtime in it, and none of Proto.Actor.
//
// # Left out
//
//	match, selective    there is no receive that selects
//	coop, await, until, join  these measure methods that wait in the middle; Proto.Actor has ReenterAfter,
//	                    which makes another program of them
//	collect             an actor that is not reachable is not collected: the registry holds it
//	copy, etf_*         messages are not copied, and there is no codec for Erlang's terms
//	remote_*            its remoting is gRPC with protocol buffers, as the peer grpc; not written yet
package main
