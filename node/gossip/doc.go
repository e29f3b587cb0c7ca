// Package gossip finds nodes by gossip: each node knows one or two others to begin
// with, and soon all of them, and notices who dies. It is for clusters too large, or
// too much in motion, for lists and port mappers.
//
// # Nouns
//
//   - A [Finder] is a node.Finder, node.Lister and node.Watcher: it is
//     Distribution.Finder of one node, or one of its node.Chain. It gossips from the
//     node's start to its stop.
//   - A member is one life of a node, as others know it: name, creation, endpoints.
//   - A seed is where a member is said to be, to join by.
//
// See the example. The protocol is SWIM with the extensions of Lifeguard, as
// github.com/hashicorp/memberlist has it (version 2, encryption 1).
//
// # What gossip decides, and what it does not
//
// It says where nodes are; with node.Mesh it says whom to connect to. It ends no
// connection. A member that is suspected (a probe was not answered, and neither were
// those of others on its behalf) counts as alive until it is dead or refutes that. A
// dead one is no longer found or listed, but a link to it that works goes on: gossip
// goes over UDP and through third parties, a link over its own connection with ticks
// of its own, and only the link knows whether it works. That a link has failed is
// nothing to gossip either.
//
// No member is special, nothing is voted on, there is no quorum, and no node founds a
// cluster alone: who reaches no seed runs, says so in its log, and goes on trying.
// After a cut both halves go on, each with its own members; when it is healed they
// find each other by the seeds, which are tried for ever, and by the addresses of
// those they lost, which are tried for an hour. What must exist once in a cluster
// needs a decision above this package.
//
// A node that is back after a crash has a new creation and so is a new member: it is
// found where it listens now even while the old life still counts as alive. Of two
// lives the one born later is tried first, by the clocks of their hosts.
//
// # Secrets
//
// All that is sent is encrypted and authenticated with AES-256-GCM by the key
//
//	HKDF-SHA-256(secret: Cookie, salt: none, info: "actornode gossip 1", 32 bytes)
//
// so that the distribution's handshake and this use the cookie in ways of their own.
// Without it nobody joins, reads or forges; both sides log why. Who records a
// datagram can try cookies against it: the cookie must be long. Datagrams can be
// replayed by who records them; what is old is told from what is new by memberlist's
// incarnation numbers, so a replay makes at most a node that has left be tried again.
// A member that has the key can say anything: all members are trusted.
//
// # Invariants
//
//  1. By default a member binds to the host of its node's name, never to all
//     addresses.
//  2. Who has the key but says nothing that this version reads is no member.
//  3. Attempts to join end with stop only. Each differs from others in its log once.
//  4. What is read before a key has been tried is bounded: see Config.MaxStreams. Memory
//     for strangers is 59 MiB at most where 40 of them send as much as they can.
//
// # Goroutines
//
//	name           started by  stopped by  owns
//	join           Announce    stop        the attempts to join
//	accept         Announce    stop        the TCP listener
//	receive        Announce    stop        the UDP socket's reads
//	some eight of  Announce    stop        probes, queues
//	memberlist
//	one for each   accept      its end     a stream of another
//	stream
//
// Streams end with stop, and Config.StreamTimeout after their beginning. stop waits up to
// LeaveTimeout for the farewell to be sent, and for an attempt to join that is under way,
// StreamTimeout at most.
//
// # What can be lost
//
// News is late: within a second or two in a local network. A farewell may get lost;
// then the member is noticed missing as one that died: in some 5 s (lan) if there are
// few, up to a minute among a thousand. memberlist does not tell a farewell from a death, so who has left
// is tried for an hour too, four addresses a round.
//
// # Limits and costs
//
// 16 endpoints and 512 bytes for what a member says of itself; 1,024 lost nodes. Streams
// are bounded by Config.MaxStreams, MaxStreamsPerSource, MaxStreamBytes and StreamTimeout;
// what is refused or cut is in [Stats], and in the log once a second. Datagrams wait in the
// kernel, in 2 MiB at most, and cost as much memory as they are long. A
// node that listens nowhere (Distribution.Listen "-") is not announced and so does not
// gossip. A member with two endpoints costs some 400 bytes here, and what memberlist
// keeps of it, on every node; a list of 1,000 is one allocation of 16 KB. In a lan
// pace each member sends a probe a second and up to 15 datagrams a second while there
// is news, and exchanges all it knows with one other at most twice a minute.
//
// # Bytes
//
// A member's name for memberlist is NAME#CREATION, with the creation in 8 small
// hexadecimal digits. What it says of itself is text with single spaces between:
//
//	actornode/1 BORN ENDPOINT…
//
// BORN is the time of Announce in milliseconds of Unix, ENDPOINT as node.ParseEndpoint
// has it; without a host it is that of the name.
package gossip
