// Package cluster runs the compose file and the images of package deploy in real containers, and breaks them. It is
// tests only.
//
//	ACTORNODE_TESTS=merge go test ./deploy/cluster    the short part: a cluster of all kinds of nodes, every command,
//	                                                  Prometheus, some faults
//	make night PARTS=cluster                          all of it, and the table of what came out in deploy/RESULTS.md
//
// Flags: -cluster.all runs all faults and writes the table, -cluster.seed=N repeats what happens to packets,
// -cluster.old=REVISION says which old version of this repository runs beside this one, -run 'TestCluster/faults/kill' runs some.
//
// # Nouns
//
//   - An engine is Docker with Compose: the one that answers, else a dockerd that the tests start and end.
//   - A stack is what docker compose has made from deploy/docker/compose.yaml. Only the names of images, ports of this host
//     and times of Prometheus are changed: no image is fetched, all are made from what is installed here.
//   - The load is the program of folder load, in a container of the same network.
//   - A row is a fault, with what is promised and what was seen. Its victim is one of the nodes. It may have nodes and a load of
//     its own.
//
// # Invariants
//
// After each row:
//
//  1. No message has come twice, in another order, or wrong.
//  2. No message is missing unless the connection has ended that it was sent by.
//  3. No call has failed on every node that its client tried.
//  4. Nodes that the fault is not for have kept their connections, and failed no call.
//  5. All nodes answer again, with about the goroutines and the memory that they had.
//
// # What is needed
//
// Linux, root, Docker and Compose, iptables, ip and nsenter; Erlang, Elixir and Prometheus of Debian's packages for the
// parts that use them. .ci/tools installs them. What is missing is said, and skipped.
//
// # Goroutines
//
// None but those of tests.
//
// # Limits
//
// The wall clock of a container is that of its host, and Go reads it past libc. To make it jump, the tests replace the clock
// of the kernel's library in the memory of the process, on amd64 only. The first stage of the Dockerfile, which compiles, needs
// an image of Go: the tests compile on this host instead.
package cluster
