// Channels is the floor under every actor runtime in Go: the benches written
// with goroutines and bounded channels, and no actor anywhere. Nothing here has
// a name, a link, a monitor, a mailbox that takes what comes, or an address
// that can be sent around the network, so what an actor system adds to these
// figures is the price of those.
//
//	run build                   compile
//	run list                    the benches, one a line
//	run BENCH [key=value ...]   one bench, one JSON line
//
// Each bench is a file: its entry in the table of main.go, its body, and the
// goroutines of the body.
//
//  1. Every channel is bounded, and the comment above its make says why nobody
//     waits for ever on it.
//  2. Every goroutine has ended when its bench returns.
//  3. Messages are small structs sent by value: a channel has one type, so
//     nothing is boxed. This is what an actor's mailbox cannot do.
package main
