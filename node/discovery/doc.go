// Package discovery finds the nodes of a cluster: where a node is, which nodes there are, and how a node makes itself
// known. Distribution.Finder of package node takes a [Finder].
//
//   - A [Finder] returns the ways to reach a node by its name, each an [Endpoint]. An [Announcement] tells it of this
//     node.
//   - A [Lister] also knows which nodes there are, and a [Watcher] when that changes. A node with a [Mesh] connects to
//     all of them.
//   - [EPMD] asks Erlang's port mapper on the host in the node's name, and is the default. [Static] is a list, or one
//     port for all hosts. [Chain] combines several finders. Packages dns and gossip have others.
//
// A finder of your own has two methods:
//
//	func (f *registry) Find(ctx context.Context, name wire.Atom) ([]discovery.Endpoint, error)
//	func (f *registry) Announce(ctx context.Context, me discovery.Announcement) (stop func(), err error)
//
// # Invariants
//
//  1. A finder is safe for concurrent use, and must not be changed while a node uses it.
//  2. What a finder returns is a hint: a node has proved its name only once its handshake has succeeded. A node that is
//     not listed need not be down.
//  3. Find and List end with their context.
//
// # Goroutines
//
// [EPMD] has one while a node is announced, which registers the node again when the port mapper has been restarted;
// stop ends it and waits for it. The others have none.
//
// # Limits
//
// EPMD.List asks at most 32 port mappers at a time.
package discovery
