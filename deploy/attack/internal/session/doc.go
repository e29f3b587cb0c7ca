// Package session plays sessions of peers with a node: a fuzzer that knows what it may
// expect. It has tests only.
//
// # Nouns
//
//   - An episode is one node with the demo on it, in a bubble of testing/synctest and on
//     a network in memory, and up to eight peers that the fuzzer plays, by both
//     protocols. Half of the peers are Go nodes, with calls in one frame, Go values and
//     shapes of types. It is all that follows from a seed and a number.
//   - A step is what one peer does: it takes a step of a handshake, sends a signal that
//     is right, or a frame that is wrong, cuts its connection, goes on with its session.
//     Each step has a source of chance of its own, so that others can be left out.
//   - A model knows what is linked, monitored, started and named, and so what the node
//     must answer: wants. When all in the bubble waits, nothing else can come.
//
// # What is checked
//
// After a few steps each, when all waits: what was wanted has come, the messages of one
// process in order, and nothing else; the peer that sent what is wrong has been cut off, and nobody
// else; the nodes that are up are those of the model. At the end of an episode all peers
// go, the processes that they left are killed, and the node has as many processes, names,
// peers and goroutines as before, and has used nothing of its limits. That the bubble
// ends says that no goroutine is left.
//
// # Use
//
//	go test ./deploy/attack/internal/session                           5,000 steps of a seed by chance; 50,000 in make merge
//	go test ./deploy/attack/internal/session -steps=1000000 -seed=7    make night PARTS=sessions
//	go test ./deploy/attack/internal/session -run TestDaemon -daemon-steps=1000
//	go test ./deploy/attack/internal/session -seed=7 -episode=12 -v    one again
//
// Episodes run in a process of their own, so that a panic anywhere in the node is a
// finding, too. Of an episode that fails the steps are left out of which it does not
// need, and the rest is printed.
package session
