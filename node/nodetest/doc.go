// Package nodetest tests programs of actors. It never sleeps: it waits until something is so.
//
//	n := nodetest.Start(t, node.Config{})                  a node for one test
//	c := nodetest.NewCluster(t, "a", "b")                  two connected nodes, without sockets
//	c.Cut(c.Node("a"), c.Node("b"))                        what the network between them does
//	p := nodetest.NewProbe(t, n)                           a process of the test: it says what must come
//	r := nodetest.Record(t, n, pid)                        what other processes do, and how they end
//	log := new(nodetest.Log)                               what the node logs
//	nodetest.CheckLeaks(t)                                 nothing is left when the test ends
//
// See the examples. All of it works in a bubble of [testing/synctest], where time passes at once while everything is blocked,
// and without one.
//
// # Nouns
//
//   - A [Probe] is a process whose code is the test. Others send to it, call it and link to it.
//   - A [Cluster] is a number of nodes which find each other only. Between them is a network within the program. In each of its
//     directions, from one node to another, it can hold what is sent, delay it, or break connections.
//   - A [Recording] has the events of processes: see package node/trace.
//   - A [Log] has the lines that a node logs, as records.
//
// # Invariants
//
//  1. A wait of a Probe ends with what it waits for, or fails the test after its Timeout with what is in the mailbox.
//  2. A message that a test has not asked for stays in the Probe's mailbox, in its order.
//  3. Bytes from one node to another arrive in the order sent, also if the delay changes. Those on their way while the
//     direction is cut arrive after it is healed, unless the connection has ended; so does the end of a connection.
//  4. When the test ends, its nodes are stopped, in the reverse order of their start.
//
// # Goroutines
//
// None. A Probe belongs to the goroutine of its test.
package nodetest
