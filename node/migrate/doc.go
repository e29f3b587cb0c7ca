// Package migrate moves a process to another Go node: its state, its waiting messages, its name, its groups, its
// links and monitors.
//
// A [Kind] names processes that may move; call [Start] with the same kinds on each node; [To]
// moves a process. A process can move if it is a [Mover]: an Actor that can hand out its state and take it in. Servers of
// package genserver are Movers: their state is a value of a registered type, or, if it has State and SetState of package
// sys, that term.
//
//	migrate.Start(ctx, n, migrate.Kind{Name: "shop.Cart", New: func() node.Actor { return cart.New(nil) }})
//	...
//	pid, err := migrate.To(ctx, n, pid, "b@host")
//
// # What stays and what goes
//
// A forwarder keeps the old PID: the same process with another behaviour, which Info shows as "forwarder to"
// the new PID. It forwards messages, calls (their replies go to the caller) and exit signals. It has no queue of its
// own: if the other node is slow, it waits as any sender does. It exits with the reason of the process, or with
// noconnection if the connection to where it forwards is lost; killing it kills the process.
//
//	links, monitors by others    stay with the forwarder: they see the old PID, and at the end the process's reason
//	links, monitors by the       stay there, too, and their signals are relayed. Unlink and Demonitor of the process
//	process                      work as before; another Link is a second link, by the new PID
//	groups (package pg)          have the old PID as a member
//	name                         the forwarder keeps it on its node; the process gets it on the new node
//	requests under way           their results come through the forwarder
//	trap_exit, label, Parent     go with the process
//
// A process that returns to a node takes the place of its forwarder there, and has the old PID again. So a process has
// at most one forwarder on a node, and 64 in all.
//
// # What cannot move
//
// To returns [ErrFixed], before anything moves, for a process that
//
//   - is not an Actor on a stage: a coroutine, a Process, or one on a scheduler of its own
//   - has a bounded or custom mailbox
//   - has an owner (package lifetime): an Owner is a pointer and cannot follow
//   - is protected, or gets each message as a PeerMessage
//   - is suspended, or has pushed behaviours
//   - has aliases, timers (including a Timeout of a server), a monitor of a node, or links by names on other nodes
//   - has a type without a Kind here. [Start] refuses these as Kinds, as of now: active objects, functions, supervisors,
//     state machines and event managers
//   - is already on the node that it should move to
//
// To returns other errors, and also changes nothing, if the other node lacks the Kind or does not Allow it, if the
// state or a waiting message cannot be sent or read there, or if the name is taken there. A subscription to node.NodeUp
// stays with the forwarder, which forwards what it gets. The group leader is the new node's.
//
// # Invariants
//
//  1. The process runs on one node. It runs on none only if somebody has ended it, or its node has stopped.
//  2. Until the source has heard that the process has started, it leaves all messages in its mailbox. If the move
//     fails, it handles them in order; otherwise the arrival has got the first ones, and the forwarder sends on the rest.
//  3. One process decides once whether an arrival starts: the arrival itself, or the forwarder that becomes
//     the process again. It starts at most once, and never after a node has said that it did not.
//  4. Before a forwarder becomes the process, a mark has followed everything that it has forwarded. Messages before the
//     mark in the source's mailbox come before those that the forwarder has held back.
//  5. The messages of one sender to one of the PIDs arrive once and in order, as long as no connection is lost.
//  6. A node can name as a source, an arrival, or the process after a move only a process of its own. It can relay signals for
//     a process, and drop its links and monitors, only if the process has been there, which the Identity of the process proves.
//  7. The links and monitors of a process that moves are on the nodes of its forwarders, or on that of the source.
//
// # Steps
//
//	source (the process)               other node
//	gets its state out  -- prepare -->  service: kind, Allow, name; starts an arrival, which takes the state in
//	                    <- prepared --  (a forwarder that returns: it holds its messages back, and sends the mark)
//	sends what waits    -- messages ->  arrival keeps them
//	                    -- commit --->  arrival starts: the moment at which the process is there
//	becomes a forwarder <- started ---
//	arrival or connection lost before commit: the process goes on at the source, and the arrival ends by its monitor over it
//	arrival or connection lost after commit: in doubt, the source asks the service for the outcome each second until it knows
//	source killed: the arrival, or the process that it has become, ends, too, if the connection holds
//
// # When the other node does not answer
//
// Before the commit nothing is in doubt. To fails at once, and the process goes on.
//
// After the commit only the other node knows whether the process has started. The source waits for its answer, without a
// time limit: it must not go on beside a process that runs behind a broken connection, and must not end if there is none.
// This also holds for a commit that is sent before the source has heard that the connection is lost. While the source waits:
//
//	To       fails with ErrUnknown after three unanswered questions, each of which may take Distribution.Timing.ConnectTimeout,
//	         or earlier with the error of its ctx
//	Info     shows the behaviour "migrate.mover to b@host: in doubt whether it has started"
//	log      has one warning, with the process and the node
//	senders  go on: their messages wait in the mailbox, without a limit
//
// The wait ends in one of these ways:
//
//	the node is reached again    it answers. The process is there, or goes on here and never starts there.
//	a new node has its name,     it has nothing of the old node; if the process was there, it has ended. The
//	and has called Start         process goes on here with the state and the messages that it had at the commit. If it
//	                             had started there, its work there is lost, and it handles those messages again.
//	the source is killed         it ends. If the process has started there, it goes on there, under its new PID.
//	the node of the source stops as for a kill
//
// If the other node says that the arrival has ended, as it does in an orderly stop, and then does not answer,
// the process goes on here at once. A node that stops after the start ends the process like any other of its processes.
//
// # How long a move takes
//
// A move sends a fixed number of messages, plus those that wait at the commit; later messages are forwarded. So it
// ends, whatever others send. It takes two round trips. If the process comes back, it also waits for a mark, behind
// everything that forwarders have forwarded. Each message waits for what is ahead of it on the connection:
// Distribution.Limits.Queue, the socket buffers, and up to ClusterLimits.Answers answers; with more, the connection is
// ended. Six processes that linked and unlinked without a pause, over the connection that the move needed, kept these
// full: a move took one or two seconds instead of a millisecond, and ten at most.
//
// # What a node can cause
//
// A node that may move processes to this one names the forwarders of each process, at most 64, on nodes of its choice: nothing
// proves that the process has been there. This node watches them when the process has started. So it connects to those nodes,
// within the limits on dialling (ClusterLimits.Dials), and their services get messages that only a forwarder of this process
// takes.
//
// # What can be seen
//
// If the connection between the process and a node where it was before is lost, its links and monitors there
// fire with noconnection, on both sides; the process goes on, with its new PID. The exit of a process that was on
// three nodes goes from forwarder to forwarder: it may overtake a reply that the process sent right before. A
// message that cannot be sent to another node, because its type is not registered, fails its call with
// *wire.EncodeError, or is logged. The service, registered as migrate, is restarted if it crashes; processes that came
// before then lose their relays.
//
// # Goroutines
//
// None.
package migrate
