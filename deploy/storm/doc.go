// Package storm tests package global against real OTP nodes, in a cluster that is partitioned, healed, killed and restarted
// at random.
//
// # Nouns
//
//   - A plan is what happens to 3 to 7 nodes, of which one to three are ours. It follows from its seed alone. A step of it
//     registers, registers again or unregisters a name; ends a process; locks or unlocks; cuts, stalls or mends the network
//     between two nodes; disconnects; kills or starts a node; or waits until the cluster is at rest.
//   - A sequence is a plan that is carried out.
//   - An agent is a node of either kind. OTP's agents run testdata/storm.erl. The first of ours is in the test's process;
//     the others are child processes of the test's program, so that kill -9 can end them.
//   - A client is a process that has requested a name or a lock. Some unlock, some die, some do neither.
//   - The network is between the nodes. Each node has its own port mapper, which answers with ports of relays. The relays
//     cut, stall and count.
//
// Relays need neither root nor Linux, are transparent to OTP nodes, and end a connection like a cut network: both sides
// lose data in flight, and one of them may notice later. Cookies and net_kernel:allow refuse only new connections. A node
// stopped by SIGSTOP, or packets dropped by iptables, are noticed only after net_ticktime, a minute.
//
// # Two kinds of plans
//
// In a settled plan the cluster comes to rest before and after each fault. In the others faults overlap. A request is
// disturbed if something breaks, or is healed, between the last rest before it and the first rest after it, or if
// partitions overlap at that rest: a node knows another that knows a third, which the first does not know. The protocol
// guarantees nothing about a name with a disturbed request.
//
// # Invariants
//
// At the end everything is healed, and each killed node is started. Then
//
//  1. the nodes converge: each is connected to all others, knows them, and has nothing in progress;
//  2. each request is answered, except those whose process or node has ended;
//  3. no lock is left whose process is dead or has unlocked; and none at all after the living processes unlock;
//  4. all nodes have the same names;
//  5. the process of a name is alive, and its registration was answered with yes;
//  6. a living process that got a name still has it, unless it was notified of a conflict, or a request may have taken it;
//  7. after all processes are killed, no name is left.
//
// And at each rest no two processes hold the same lock if their nodes knew each other before both requested it.
//
// # What is accepted
//
// OTP nodes alone show these, too: with -storm.ours=0 the same plans run on OTP nodes only. The log of the test counts what
// was accepted.
//
//   - A pair of OTP nodes hangs: they are connected, do not share names, and neither reacts. This has two causes. Node A
//     may be told to drop B while it connects to B: the request to disconnect, remove_connection, is then not sent, or
//     arrives when B does not know A yet and ignores it. From then on B shares names with A, but A does not share names
//     with B. Or the locker of B waits for an answer of A, which has given up the handshake, and keeps B locked: then B
//     joins no other node. The test ends the connection of a pair that hangs for half a minute. A node of ours stays in
//     such a pair no longer than it guarantees, four minutes.
//   - Invariant 4 does not hold for names with a disturbed request. A registration locks the nodes that its node knows, and
//     overwrites names which some of these know from nodes that its node has lost.
//   - Nor does invariant 6. And a process is not notified of the loss of a name if the other process is on a node from
//     which its own node is cut off: a third node has joined their partitions, and the deciding node cannot reach it.
//
// # Meshes
//
// [TestMesh] reports how long a mesh takes to form, and to recover after each node in turn was cut off from all others at
// once; and how many frames and bytes that takes, for our nodes and OTP's. It does not judge the time.
//
// # Flags
//
//	-storm.sequences=N  how many sequences
//	-storm.seed=S       the seed of the first one; the next ones have S+1, S+2 ...
//	-storm.ours=N       how many nodes are ours: 0 for a storm of OTP nodes only
//	-storm.parallel=N   how many sequences at a time: most of each is waiting
//	-storm.mesh         meshes of 50 and 12 nodes
//
// # Limits
//
// A seed repeats the actions, not their timing: nodes choose their own pauses. A network is cut or stalled; it does not
// lose single packets. All nodes are on one machine, and all OTP nodes are of one release.
package storm
