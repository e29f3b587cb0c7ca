// Channels is the baseline for every actor runtime in Go: the benches written with goroutines and bounded channels, without
// actors. Nothing here has a name, a link, a monitor, a mailbox for any message, or an address that can be sent over the
// network, so the difference to an actor system is the cost of these.
//
//	run build                   compile
//	run list                    the benches, one a line
//	run BENCH [key=value ...]   one bench, one JSON line
//
// Each bench is a file: its entry in the table of main.go, its body, and the
// goroutines of the body.
//
//  1. Every channel is bounded, and the comment above its make says why no operation on it blocks forever.
//  2. Every goroutine has ended when its bench returns.
//  3. Messages are small structs sent by value: a channel has one type, so nothing is boxed. An actor's mailbox cannot do
//     this.
package main
