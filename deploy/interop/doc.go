// Package interop is the interop suite: what a node that speaks the Erlang
// distribution protocol must do, asked of it by a real OTP node.
//
// # Nouns
//
//   - A check is one fact, such as "unlink: nothing comes". Checks of a kind are
//     a group: ping, terms, links, rpc and so on; see suite/interop.erl. Two are
//     for a published node: visible has what other nodes ask of one in nodes(),
//     global is OTP's module of that name.
//   - The driver is an OTP node that runs the checks: suite/*.erl.
//   - The target is the node that is judged; it runs the demo (package
//     internal/daemon/demo).
//   - The oracle is an OTP node in the target's place: oracle/demo.erl. A check
//     that the oracle does not pass is wrong.
//   - A mixed cluster has one target, or three, and three OTP nodes or more, of
//     all releases by turns; its driver is a hidden node: suite/interop_mixed.erl.
//     All nodes must see the same.
//   - A release is an OTP: the installed one, or one in a folder that chroot can
//     enter; ./releases makes those.
//   - A foreign node is a C or Java program, by OTP's ei and JInterface; see foreign/. One judges a target, as erl_call does,
//     or is called, monitored and linked by a node of this project.
//
// The suite needs only OTP, so that any node can be judged by hand:
//
//	erlc -o EBIN suite/*.erl
//	erl -name me@127.0.0.1 -setcookie COOKIE -pa EBIN -run interop main go@127.0.0.1 [GROUP ...]
//
// ACTORNODE_TESTS=merge go test ./deploy/interop runs it with the installed release,
// against the oracle and against our daemon, built from this source; make night
// PARTS=interop with OTP 25, 27 and 29, and prints a table. Elixir's part (suite/elixir.exs) runs where the
// release has elixir. Libraries of Elixir are not installed: the checks send what
// Task.Supervisor, libcluster, Phoenix.PubSub and Horde send.
//
// Foreign nodes judge with the installed release alone: Debian has ei, erl_call and JInterface in erlang-dev, erlang-base and
// erlang-jinterface.
//
// OTP 23, which has no module peer, drives no checks. It takes part in a mixed
// cluster with OTP 25: OTP 26 and newer refuse it. It speaks version 5 of global's
// protocol, where clusters overlap.
//
// # Invariants
//
//  1. Each target, with its driver, has a port mapper of its own: nodes of
//     several runs do not meet, and no name is taken.
//  2. What a check starts is gone after it; the demo and the connection are as
//     they were. So checks run in any order, and each alone.
//  3. Against the oracle every check is ok. Against our daemon those of
//     testdata/known.txt are not, and all others are. An entry that is ok fails
//     the test too: it is to be taken out.
//
// # Limits
//
// A check has half a minute. A target is judged by one driver at a time, for
// checks suspend and crash parts of the demo. Nodes are on one machine, and their
// connections are loopback TCP: a connection is lost because one side ends it.
package interop
