// Package observe has what a node tells about itself: its processes, its connections, its
// counters, and the use of its limits. The methods Info, Infos, Peers, Stats and Limits of a
// node return it.
//
// # Nouns
//
//   - [Process] describes a process, and [State] says what it is doing.
//   - [Peer] describes a connection to another node.
//   - [Stats] are the counters of a node.
//   - [Limit] is how much of a limit is used.
//
// # Invariants
//
//   - All are values: a node fills them in, and never changes them afterwards.
//   - To observe a process does not interrupt it.
//
// # Goroutines
//
// The package starts none and locks nothing.
package observe
