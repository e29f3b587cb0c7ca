// Package discovery finds the nodes of a cluster: where one is, which there are, and how a
// node makes itself known. Distribution.Finder of package node takes a [Finder].
//
//   - A [Finder] returns the ways to reach a node by its name, each an [Endpoint], and is told
//     of this node by an [Announcement].
//   - A [Lister] knows which nodes there are, too, and a [Watcher] when that changes. A node
//     with a [Mesh] connects to all of them.
//   - [EPMD] asks Erlang's port mapper on the host of the node's name, and is what a node does
//     by default. [Static] is a list, or one port for all hosts. [Chain] is several finders.
//     Packages dns and gossip have others.
//
// A program writes a finder of its own with two methods:
//
//	func (f *registry) Find(ctx context.Context, name wire.Atom) ([]discovery.Endpoint, error)
//	func (f *registry) Announce(ctx context.Context, me discovery.Announcement) (stop func(), err error)
//
// # Invariants
//
//  1. A finder is safe for concurrent use, and it is not changed while a node has it.
//  2. What a finder returns is a hint: a node has proved its name only once its handshake has
//     succeeded. That a node is not listed does not mean that it is down.
//  3. Find and List end with their context.
//
// # Goroutines
//
// [EPMD] has one while it is announced, which registers the node again when the port mapper
// has been restarted; stop ends it and waits for it. The others have none.
//
// # Limits
//
// EPMD.List asks at most 32 port mappers at a time.
package discovery
