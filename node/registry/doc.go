// Package registry finds processes of a node by keys, several by one key if need be, each with a value of its own: Elixir's
// Registry. For a name that other nodes and the operator's tools see use [node.Node.Register]; package pg has groups over
// nodes, and package global names of a cluster.
//
//	rooms := registry.New[string, Member](registry.Options{})
//	supervisor.Child{ID: "rooms", Start: rooms.Start}           its process, below a supervisor
//
//	err := rooms.Register(c, "lobby", Member{Nick: "ann"})      by the process itself, for example in its Init
//	for pid, m := range rooms.Lookup("lobby") { … }             by any goroutine
//	_, err := rooms.Dispatch(c, "lobby", Said{"hello"})         to all of a key
//
// # Nouns
//
//   - A [Registry] is a table from keys to entries. It is a Go value that the program shares.
//   - An entry is a process with a value, below a key. A process has at most one entry below a key.
//   - A [Change] is a message to those who [Registry.Watch]: an entry was added, changed or removed.
//   - The process of a Registry removes the entries of processes that have ended, and sends the changes.
//
// # Invariants
//
//  1. Lookup, Keys and All never show a process that has ended.
//  2. If the Registry is unique, there is at most one entry below a key whose process is alive.
//  3. The changes of one key come in the order in which they were made. Each removal has its addition before it, from the
//     time of Watch on.
//  4. The entries survive a restart of the Registry's process: they are in the value. Those of processes that have ended
//     meanwhile are removed when it starts.
//
// # Goroutines
//
// None but its process. All methods are safe for concurrent use. None waits, except Dispatch where a mailbox makes senders
// wait.
//
// # What can be lost, limits
//
// Options.Max bounds the entries. While the process of a Registry does not run, entries of ended processes count, and changes
// wait; of more than 65,536 waiting changes the oldest are dropped, which is logged.
package registry
