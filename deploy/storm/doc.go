// Package storm has real OTP nodes judge package global of a cluster that is cut, healed, killed and started again at random.
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
//   - The network is what lies between the nodes. Each has a port mapper of its own, which answers with ports of relays. The
//     relays cut, stall and count.
//
// Relays need neither root nor Linux, OTP nodes know nothing of them, and a connection ends as one does whose network is cut:
// both sides lose what was on its way, and one of them may hear of it later. Cookies and net_kernel:allow refuse new connections
// only. A node that SIGSTOP holds, or packets that iptables drops, are noticed after net_ticktime, a minute.
//
// # Two kinds of plans
//
// In a settled one the cluster comes to rest before and after whatever breaks. The protocol promises that names agree only
// then. In the others everything overlaps.
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
//  6. in a settled plan a process that got a name and lives has it, unless it was told of a clash, or the name was taken by
//     a request;
//  7. when all processes are killed, no name is left.
package storm
