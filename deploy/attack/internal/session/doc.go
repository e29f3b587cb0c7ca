// Package session is a model-based fuzzer that plays sessions of peers with a node. It contains only tests.
//
// # Nouns
//
//   - An episode is one node with the demo, in a bubble of testing/synctest and on an in-memory network, and up to eight
//     peers played by the fuzzer, with both protocols. Half of the peers are Go nodes, with calls in one frame and Go
//     values. A seed and a number determine an episode.
//   - A step is an action of one peer: a step of a handshake, a valid signal, an invalid frame, cutting its connection,
//     resuming its session. Each step has its own random source, so that others can be left out.
//   - A model knows what is linked, monitored, started and named, and so the expected answers of the node: wants. When
//     everything in the bubble is blocked, nothing else can come.
//
// # What is checked
//
// After every few steps, when everything is blocked: the expected signals have come, the messages of one process in order,
// and nothing else; only the peer that sent an invalid frame has been disconnected; the connected nodes are those of the
// model. At the end of an episode all peers leave, the processes that they left behind are killed, and the node has as many
// processes, names, peers and goroutines as before, and its limits are unused. The end of the bubble proves that no
// goroutine is left.
//
// # Use
//
//	go test ./deploy/attack/internal/session                           5,000 steps of a seed by chance; 50,000 in make merge
//	go test ./deploy/attack/internal/session -steps=1000000 -seed=7    make night PARTS=sessions
//	go test ./deploy/attack/internal/session -run TestDaemon -daemon-steps=1000
//	go test ./deploy/attack/internal/session -seed=7 -episode=12 -v    one again
//
// Episodes run in a separate process, so that a panic anywhere in the node is a finding, too. A failing episode is reduced
// to the steps that it needs, which are printed.
package session
