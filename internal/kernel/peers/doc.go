// Package peers establishes, arbitrates, maintains and ends the connections of a node to other nodes, and keeps the state
// that depends on each: links, monitors and requests between local and remote processes.
//
// A [Peer] is another node, from the first attempt to reach it until its connection is lost and all consequences of that are
// carried out. It carries the operations of local processes on remote ones, and the reverse: messages (send.go), calls and
// spawns (request.go, reply.go), links, monitors and exit signals (links.go); handle.go handles incoming frames, rights.go
// says what the peer may do. Its [Tables] hold the links, monitors and requests; outgoing frames wait in its outbox, also
// while it is being connected. A [Cluster] is all peers of a node, its listeners and its dials. For what depends on the types
// that programs see, the cluster calls its [Node], implemented by package node.
//
// An event has the same name everywhere, that of the operation of the protocol: Link, Unlink, Exit, Signal, Monitor,
// Demonitor, Down for local events, which are sent to the peer; with the prefix Handle for events received from it.
//
// Decisions are pure and separate: [Tables], which know a local process as a number, a monitor as a [Monitor] and a waiting
// call as a [Request]; the arbitration of two simultaneous connections and the rest of package limits.
//
// # Invariants
//
//  1. A frame that reports a change of the tables is put into the outbox with the peer's lock
//     held: the other node learns of changes in the order in which they were made. The frame of
//     a request is put without the lock: see [Request].
//  2. Once a peer's connection has ended, its tables are empty, and stay so: a caller that tries
//     to add an entry learns that it has ended.
//  3. A local process has a remote one among its links exactly if the tables have an active link
//     between them, unless the connection has ended or the process is dead; likewise for monitors.
//     The lock of the process is held while both are changed.
//  4. Locks are taken in this order: process, Peer, outbox; and Cluster, Peer. Node.Up is
//     called with the Peer's lock held.
//  5. What a peer is refused, because of its limits or because a process is protected, is
//     answered or logged, never dropped silently.
//  6. The cluster's map has at most one peer of each name, and a new one is added only after all
//     consequences of the old one's end are carried out.
//
// # Goroutines
//
//	ticks      started by Start, ended by Stop: keepalives, and peers that exceed a limit
//	accept     one per listener, started by Start, ended by Stop
//	incoming   one per incoming connection, ended by its handshake's timeout
//	dialer     started by the first use of a node, ended when no peer is left to dial
//	attempt    one per attempt of a dialer: ends it when the peer connects by itself
//	write      one per connected peer: package flow
//	read, release  one each per connected peer
//	end        tells a peer that exceeds a limit why it is ended, ended by itself
//
// Stop waits for all of them.
//
// # Reading
//
// One goroutine reads what another node sends and hands it on.
//
// A [Reader] is the goroutine that reads from one connection. It hands each frame to its [ReaderNode], except consecutive
// messages to one actor that have arrived together: it puts those into the actor's mailbox several at a time (batch.go). The
// reader itself, instead of a worker, runs the actor that a message arriving alone has woken, and sends the results. It also
// runs the actors woken by a batch, or by frames for several processes that have arrived together (round.go), if that takes
// little time compared with reading them ([share]). If a handler keeps its goroutine, another goroutine becomes the reader,
// and this one ends with the handler. When nothing more has arrived the reader may busy-wait for the next message ([Spin]).
//
// Invariants
//
//  1. There is one reader of a connection at a time, so it must never block: ReaderNode.Handle
//     never waits, and whatever takes the stage from a handler lets another reader continue.
//  2. Frames are handed on in the order of arrival. A batch is delivered before anything else
//     is done, and is kept only while more has already arrived.
//  3. Answers to frames that have arrived together are sent together: once there are
//     mostDeferred of them, when nothing more has arrived, or before a handler that may take long.
//
// Goroutines
//
//	reader   Run, on the goroutine that calls it; it ends with the connection. It calls
//	         ReaderNode.Leave once, on the goroutine that is the reader then.
//
// # All nodes of a list
//
// A node can stay connected to all nodes of a list, instead of only to those that have been used: a [Mesher] decides which
// nodes to connect to and when, and [RunMesh] is its driver.
//
// Of two nodes the one with the smaller name connects, the other only if that has not happened within MeshConfig.Yield: each
// pair connects once. Attempts are spread randomly over 5 ms per node of the list, so that a thousand nodes do not all
// connect to a new one at once. After a failure the next attempt waits, up to MeshConfig.Backoff, and also if several
// connections in a row have lasted less than that: otherwise two nodes of one name would replace each other many times a
// second.
//
// The Mesher has no clock, socket, goroutine or lock: its inputs are lists, times, random numbers and results, its outputs
// names. It is deterministic. RunMesh runs on the goroutine of its caller, and returns when its context ends; each attempt
// runs on a goroutine of its own, which ends with the attempt, and for which RunMesh does not wait.
//
// A Mesher keeps less than 200 bytes per listed node.
//
// # Notifications of connections
//
// [Watchers] are the processes of a node that are notified of its connections.
//
// A watcher has subscribed by node.MonitorNodes. The name server of a published node, see package global, is notified of
// visible nodes only, and of the end of connections, too.
//
// Invariants: a watcher is notified of a connection before anything that the other node sends; processes that have exited are
// removed, see tables.Group.
//
// It has no goroutines; its methods may be called from any.
//
// # CPU quota
//
// [QuotaOfCPU] reads the CPU quota that Linux control groups grant this program. On other systems, and where no control
// groups are mounted, there is no group and no limit.
//
// It reads three kinds of files, all relative to the root of a file system, which tests replace:
//
//	proc/self/cgroup                              the groups of this process, one per line
//	sys/fs/cgroup/GROUP/cpu.max                   version 2: "QUOTA PERIOD", QUOTA may be max
//	sys/fs/cgroup/cpu/GROUP/cpu.cfs_quota_us      version 1: the quota, or -1 for none
//
// A limit of a group applies to all groups in it, so the groups above are read, too. In a container the group's name may be
// that of the host, under which nothing is mounted; the mounted root is the container's own then. The package starts no
// goroutine and keeps no state.
package peers
