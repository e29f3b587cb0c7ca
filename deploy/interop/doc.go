// Package interop is the interop suite: a real OTP node checks what a node that speaks the Erlang distribution protocol
// must do.
//
// # Nouns
//
//   - A check tests one fact, such as "unlink: nothing comes". Related checks form a group: ping, terms, links, rpc and so
//     on; see suite/interop.erl. Two groups are for a published node: visible tests the requests to a node in nodes(),
//     global tests OTP's module of that name.
//   - The driver is an OTP node that runs the checks: suite/*.erl.
//   - The target is the node under test; it runs the demo (package internal/daemon/demo).
//   - The oracle is an OTP node in place of the target: oracle/demo.erl. A check that the oracle does not pass is wrong.
//   - A mixed cluster has one or three targets, and three or more OTP nodes that alternate between all releases; its driver
//     is a hidden node: suite/interop_mixed.erl. All nodes must agree.
//   - A release is an OTP installation: the installed one, or one in a chroot directory, made by ./releases.
//   - A foreign node is a C or Java program that uses OTP's ei or JInterface; see foreign/. It tests a target, like
//     erl_call, or is called, monitored and linked by a node of this project.
//
// The suite needs only OTP, so that any node can be tested by hand:
//
//	erlc -o EBIN suite/*.erl
//	erl -name me@127.0.0.1 -setcookie COOKIE -pa EBIN -run interop main go@127.0.0.1 [GROUP ...]
//
// ACTORNODE_TESTS=merge go test ./deploy/interop runs it with the installed release, against the oracle and against our
// daemon, built from this source; make night PARTS=interop runs it with OTP 25, 27 and 29, and prints a table. The Elixir
// part (suite/elixir.exs) runs if the release has elixir. Elixir libraries are not installed: the checks send the messages
// of Task.Supervisor, libcluster, Phoenix.PubSub and Horde.
//
// Foreign nodes use only the installed release: Debian has ei, erl_call and JInterface in erlang-dev, erlang-base and
// erlang-jinterface.
//
// OTP 23 has no module peer, so it drives no checks. It takes part in a mixed cluster with OTP 25: OTP 26 and newer refuse
// it. It uses version 5 of global's protocol, in which clusters may overlap.
//
// # Invariants
//
//  1. Each target and its driver have their own port mapper: nodes of different runs do not meet, and no name is taken.
//  2. A check cleans up everything it starts, and leaves the demo and the connection as they were. So checks can run in any
//     order, or alone.
//  3. Against the oracle every check passes. Against our daemon exactly those in testdata/known.txt fail. A listed check
//     that passes fails the test, too: remove its entry.
//
// # Limits
//
// A check has half a minute. A target has one driver at a time, since checks suspend and crash parts of the demo. All nodes
// are on one machine, and their connections are loopback TCP: a connection is lost only because one side ends it.
package interop
