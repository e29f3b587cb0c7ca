// Package cluster runs the compose file and the images of package deploy in real containers, and injects faults. It
// contains only tests.
//
//	ACTORNODE_TESTS=merge go test ./deploy/cluster    the short part: a cluster of all kinds of nodes, every command,
//	                                                  Prometheus, some faults
//	make night PARTS=cluster                          all of it, and the table of what came out in deploy/RESULTS.md
//
// Flags: -cluster.all runs all faults and writes the table, -cluster.seed=N repeats the faults of packets,
// -cluster.old=REVISION selects the old version of this repository that runs together with this one, -run
// 'TestCluster/faults/kill' runs some.
//
// # Nouns
//
//   - An engine is Docker with Compose: a running one, or else a dockerd started and stopped by the tests.
//   - A stack is started by docker compose from deploy/docker/compose.yaml. Only the names of images, ports of this host
//     and times of Prometheus are changed: no image is downloaded, all are built from software installed on this host.
//   - The load is the program in directory load, in a container of the same network.
//   - A row is a fault, with its guarantees and observations. Its victim is one of the nodes. It may have its own nodes and
//     load.
//
// # Invariants
//
// After each row:
//
//  1. No message has arrived twice, out of order, or corrupted.
//  2. No message is missing unless the connection that carried it has ended.
//  3. No call has failed on every node tried by its client.
//  4. Nodes not targeted by the fault have kept their connections, and failed no call.
//  5. All nodes answer again, with about as many goroutines and as much memory as before.
//
// # What is needed
//
// Linux, root, Docker and Compose, iptables, ip and nsenter; Debian's packages of Erlang, Elixir and Prometheus for the
// parts that use them. .ci/tools installs them. Parts that lack a tool are reported and skipped.
//
// # Goroutines
//
// Only those of tests.
//
// # Limits
//
// The wall clock of a container is that of its host, and Go reads it without libc. To make it jump, the tests replace the
// clock function of the vdso in the memory of the process, on amd64 only. The first stage of the Dockerfile, which
// compiles, needs a Go image: the tests compile on this host instead.
package cluster
