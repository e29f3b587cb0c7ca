// Package peers makes, chooses, keeps and ends the connections of a node to others, and holds
// what hangs on each: links, monitors and requests between processes here and there.
//
// A [Peer] is another node, from the first wish to reach it until its connection is lost and
// everything that hung on that is done. Its [Tables] say what hangs on it; what goes to it waits
// in its outbox, also while it is being connected. A [Cluster] is all peers of a node, its
// listeners and its dials. What is the node's it asks by [ClusterHost], one for the cluster, and
// [ClusterOwner], one for each peer. The package knows no process: a process here is a number, a
// monitor is a [Monitor], a call that waits is a [Request].
//
// Decisions are pure and stand alone: [Tables], the contest of two connections that are made at
// the same time and the rest of package admission, package quota.
//
// # Invariants
//
//  1. A frame that says what a table says is put into the outbox with the lock of the peer
//     held: the other node learns of changes in the order in which they were made. That of a
//     request is put without: see [Request].
//  2. Once a peer is over, its tables are empty, and stay so: a caller that would add to them
//     is told that it is over.
//  3. A process here has another there among its links exactly if there is an active one in
//     the tables, unless the peer is over or the process is dead: the node holds the lock of
//     the process while it changes the one and the other.
//  4. Locks are taken in this order: Cluster, Peer, outbox. The node may hold the lock of a
//     process when it calls; Owner.Up is called with the Peer's lock held.
//  5. Of each name there is one peer at most in the cluster's map, and a new one only when all
//     that the old one stood for is done.
//
// # Goroutines
//
//	ticks      started by Start, ended by Stop: signs of life, and who exceeds a limit
//	accept     one for each listener, started by Start, ended by Stop
//	incoming   one for each connection that comes in, ended by its handshake's timeout
//	dialer     started by the first use of a node, ended when no peer is left to dial
//	attempt    one for each attempt of a dialer: ends it when the peer connects by itself
//	write      one for each peer that is connected: package outbox
//	read, release  one each for each peer that is connected: the Owner's
//	end        tells a peer that exceeds a limit why it is ended, ended by itself
//
// Stop waits for all of them.
package peers
