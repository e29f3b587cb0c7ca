// Package storm has real OTP nodes judge package global of a cluster that is cut, healed, killed and started again at
// random.
//
// # Nouns
//
//   - A plan is what happens to 3 to 7 nodes, of which one to three are ours. It follows from its seed alone. A step of it
//     registers, registers again or unregisters a name; ends a process; locks or unlocks; cuts, stalls or mends the network
//     between two nodes; disconnects; kills or starts a node; or waits until the cluster is at rest.
//   - A sequence is a plan that is carried out.
//   - An agent is a node, whoever's. OTP's run testdata/storm.erl. Of ours the first is in the test's process, and the
//     others are this test's program, started again, so that kill -9 ends them.
//   - A client is a process that has asked for a name or a lock. Some unlock, some die, some do neither.
//   - The network is what lies between the nodes. Each has a port mapper of its own, which answers with ports of relays.
//     The relays cut, stall and count.
//
// Relays need neither root nor Linux, OTP nodes know nothing of them, and a connection ends as one does whose network is
// cut: both sides lose what was on its way, and one of them may hear of it later. Cookies and net_kernel:allow refuse new
// connections only. A node that SIGSTOP holds, or packets that iptables drops, are noticed after net_ticktime, a minute.
//
// # Two kinds of plans
//
// In a settled one the cluster comes to rest before and after whatever breaks. In the others everything overlaps. A request
// is disturbed if something breaks, or is mended, between the last rest before it and the first rest after it, or if
// partitions overlap at that rest: a node knows another that knows a third, which the first does not know. The protocol
// promises nothing about a name of which a request is disturbed.
//
// # Invariants
//
// At the end all is mended, and each node that was killed is started. Then
//
//  1. the nodes come together: each is connected to all others, knows them, and has nothing under way;
//  2. each request is answered, but those whose process or node has ended;
//  3. no lock is left whose process is dead or has unlocked; and none at all when those that live unlock;
//  4. all nodes have the same names;
//  5. the process of a name lives, and its registration was answered with yes;
//  6. a process that got a name and lives has it, unless it was told of a clash, or a request may have taken it;
//  7. when all processes are killed, no name is left.
//
// And at each rest no two processes have a lock, whose nodes have known each other since before both asked for it.
//
// # What is accepted
//
// OTP nodes alone do these, too: with -storm.ours=0 the same plans are for OTP nodes only. What was accepted is counted in
// the log of the test.
//
//   - A pair of OTP nodes hangs: they are connected, do not share names, and neither does anything about it. Either node A
//     is told to drop B while it connects to B. The request to disconnect, remove_connection, is then not sent, or comes
//     when B does not know A yet and ignores it. B shares names with A from then on, and A with B not. Or the locker of B
//     waits for an answer of A, which has given the handshake up, and keeps B locked: then B does not come together with
//     anybody. The connection of a pair that hangs for half a minute is ended. A node of ours is in no such pair for longer
//     than it promises, four minutes.
//   - Invariant 4 does not hold for names of which a request is disturbed. A registration locks the nodes that its node
//     knows, and writes over what others of these know of nodes that it has lost.
//   - Nor does invariant 6. And a process is not told that it has lost a name if the other process is on a node that its
//     own node is cut off from: the partitions of both have become one by way of a third node, and who decides cannot reach
//     it.
//
// # Meshes
//
// [TestMesh] says how long a mesh takes to form, and to come back after each node in turn was cut off from all others at
// the same time; and how many frames and bytes that are, of ours and OTP's. Of the time it judges nothing.
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
// A seed repeats what is done, not when: nodes draw their own pauses. A network is cut or stalled; it does not lose single
// packets. Nodes are on one machine, and all of OTP's are of one release.
package storm
