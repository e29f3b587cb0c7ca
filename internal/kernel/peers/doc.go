// Package peers makes, chooses, keeps and ends the connections of a node to others, and holds
// what hangs on each: links, monitors and requests between processes here and there.
//
// A [Peer] is another node, from the first wish to reach it until its connection is lost and
// everything that hung on that is done. It does all that processes here do to processes there, and
// the reverse: messages (send.go), calls and spawns (request.go, reply.go), links, monitors and exit
// signals (links.go); handle.go is the way in, rights.go says what the peer may do. Its [Tables] say
// what hangs on it; what goes to it waits in its outbox, also while it is being connected. A
// [Cluster] is all peers of a node, its listeners and its dials. What only package node can say,
// which has the types that programs see, the cluster asks its [Node].
//
// One event has one name everywhere, that of the operation of the protocol: Link, Unlink, Exit,
// Signal, Monitor, Demonitor, Down for what happens here and is told to the peer; Handle before it
// for what has come from there.
//
// Decisions are pure and stand alone: [Tables], which know a process here as a number, a monitor as
// a [Monitor] and a call that waits as a [Request]; the contest of two connections that are made at
// the same time and the rest of package limits.
//
// # Invariants
//
//  1. A frame that says what a table says is put into the outbox with the lock of the peer
//     held: the other node learns of changes in the order in which they were made. That of a
//     request is put without: see [Request].
//  2. Once a peer is over, its tables are empty, and stay so: a caller that would add to them
//     is told that it is over.
//  3. A process here has another there among its links exactly if there is an active one in
//     the tables, unless the peer is over or the process is dead; the same holds for monitors.
//     The lock of the process is held while the one and the other are changed.
//  4. Locks are taken in this order: process, Peer, outbox; and Cluster, Peer. Node.Up is
//     called with the Peer's lock held.
//  5. What a peer may not have here, by its limits or because a process is protected, is
//     answered or logged, never dropped in silence.
//  6. Of each name there is one peer at most in the cluster's map, and a new one only when all
//     that the old one stood for is done.
//
// # Goroutines
//
//	ticks      started by Start, ended by Stop: signs of life, and who exceeds a limit
//	accept     one for each listener, started by Start, ended by Stop
//	incoming   one for each connection that comes in, ended by its handshake's timeout
//	dialer     started by the first use of a node, ended when no peer is left to dial
//	attempt    one for each attempt of a dialer: ends it when the peer connects by itself
//	write      one for each peer that is connected: package flow
//	read, release  one each for each peer that is connected
//	end        tells a peer that exceeds a limit why it is ended, ended by itself
//
// Stop waits for all of them.
//
// # Reading
//
// What another node sends is read by one goroutine, and handed on.
//
// A [Reader] is the goroutine that reads from one connection. It gives each frame to its
// [ReaderNode], but for messages to one actor that come together: those it puts into the actor's
// mailbox several at a time (batch.go). What a message sets off that has come alone the reader
// does itself, in the place of a worker, and sends what comes of it. It also does what a batch
// sets off, or frames for several processes that have come together (round.go), if that takes
// little beside reading them ([share]). If a handler keeps its goroutine, another goroutine is
// the reader from then on, and this one ends with the handler. When nothing more has come the
// reader may look for the next message busily ([Spin]).
//
// Invariants
//
//  1. There is one reader of a connection at a time, so nothing may hold it up: ReaderNode.Handle
//     never waits, and whoever takes the stage from a handler has another reader go on.
//  2. Frames are handed on in the order in which they have come. A batch is delivered before
//     anything else is done, and is kept only while more has come in already.
//  3. What answers frames that have come together is sent together: with mostDeferred of them,
//     when nothing more has come, or before a handler that may take long.
//
// Goroutines
//
//	reader   Run, on the goroutine that calls it; it ends with the connection. It calls
//	         ReaderNode.Leave once, on the goroutine that is the reader then.
//
// # All nodes of a list
//
// A node can stay connected to all nodes of a list, instead of only to those that somebody has used: a [Mesher]
// decides whom to connect to and when, and [RunMesh] is its driver.
//
// Of two nodes the one with the smaller name connects, the other only if that has not
// happened within MeshConfig.Yield: each pair connects once. All attempts are spread by chance,
// over 5 ms for each node of the list, so that a node that is new to a thousand others is not
// connected to by all of them at once. After a failure the next attempt waits, up to MeshConfig.Backoff, and also where
// several connections in a row have not lasted that long: two nodes of one name would else take turns many times a second.
//
// The Mesher has no clock, socket, goroutine or lock: lists, times, chance and results go in,
// names come out. What it does with the same input is the same in each run. RunMesh is one
// goroutine, started by whoever calls it, and it ends with its context; each attempt that it
// begins is one more, which ends when the attempt does, and is waited for by nobody in here.
//
// Of a node that is listed a Mesher keeps less than 200 bytes.
//
// # Who is told of connections
//
// [Watchers] are the processes of a node that are told of its connections.
//
// A watcher has asked for it, by node.MonitorNodes. The name server
// of a published node, see package global, is told of visible nodes only, and of the end of connections, too.
//
// Invariants: a watcher is told of a connection before anything that the other node sends; processes that have exited
// are forgotten, see tables.Group.
//
// It has no goroutines; its methods may be called from any.
//
// # How much of a processor there is
//
// [QuotaOfCPU] reads what the control groups of Linux grant this program. On other systems, and where nothing is
// mounted, there is no group and no limit.
//
// It reads three kinds of files, all relative to the root of a file system, which a test
// makes up:
//
//	proc/self/cgroup                              the groups of this process, one a line
//	sys/fs/cgroup/GROUP/cpu.max                   version 2: "QUOTA PERIOD", QUOTA may be max
//	sys/fs/cgroup/cpu/GROUP/cpu.cfs_quota_us      version 1: the quota; -1: none
//
// A limit of a group is one of all groups in it, so those above are looked at, too. In a
// container the group's name may be that of the host, under which nothing is mounted; what
// is mounted at the top is the container's own then. The package starts no goroutine and
// remembers nothing.
package peers
