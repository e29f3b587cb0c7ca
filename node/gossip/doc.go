// Package gossip finds nodes by gossip. Each node starts with the addresses of one or two
// others, soon knows all of them, and notices when one fails. It is for clusters that
// are too large, or change too often, for lists and port mappers.
//
// # Nouns
//
//   - A [Finder] is a discovery.Finder, discovery.Lister and discovery.Watcher. Set it as the Distribution.Finder of
//     one node, or put it in that node's discovery.Chain. It gossips from the node's start to its stop.
//   - A member is one run of a node, as others see it: name, creation, endpoints.
//   - A seed is the address of a member, used to join the others.
//
// See the example. The protocol is SWIM with the extensions of Lifeguard, as implemented by
// github.com/hashicorp/memberlist (version 2, encryption 1).
//
// # What gossip decides, and what it does not
//
// Gossip finds where nodes are, and with discovery.Mesh which nodes to connect to. It ends no connection. A member is
// suspected when it answers neither this node's probe nor the probes of others. It counts as alive until it is declared
// dead or refutes the suspicion. A dead member is no longer found or listed, but a working link to it stays: gossip
// uses UDP and third parties, while a link has its own connection and ticks, and only the link can tell whether it
// works. Conversely, gossip ignores failed links.
//
// No member is special. There is no vote and no quorum, and no node founds a cluster without others: a node that
// reaches no seed runs, logs this, and keeps trying. After a network partition both halves continue, each with its own
// members. When the partition heals, they find each other through the seeds, which are tried for ever, and through the
// addresses of lost members, which are tried for an hour. Anything that must exist only once in a cluster needs a
// decision above this package.
//
// A node that restarts after a crash has a new creation and is a new member. It is found
// at its new endpoints even while its old member still counts as alive. Of two members
// with the same name, the one that started later, by the clocks of their hosts, is tried
// first.
//
// # Secrets
//
// Everything that is sent is encrypted and authenticated with AES-256-GCM. The key is
//
//	HKDF-SHA-256(secret: Cookie, salt: none, info: "actornode gossip 1", 32 bytes)
//
// so that gossip and the handshake of the distribution derive different keys from the
// cookie. Without the cookie no host can join, read or forge; both sides log the reason.
// An attacker who records a datagram can test cookies against it: use a long cookie. An
// attacker can also replay a datagram. memberlist recognizes old messages by incarnation
// numbers, so a replay can at most make a node retry a member that has left. A member
// that has the key can claim anything: all members are trusted.
//
// # Invariants
//
//  1. By default a member binds to the host of its node's name, never to all
//     addresses.
//  2. A sender that has the key but sends nothing that this version understands is not
//     a member.
//  3. Attempts to join end only with stop. Each kind of failure is logged once.
//  4. Input that is read before a key has been tried is bounded: see Config.MaxStreams. Hosts without the cookie take
//     at most 59 MiB of memory when 40 of them send as much as they can.
//
// # Goroutines
//
//	name           started by  stopped by  owns
//	join           Announce    stop        the attempts to join
//	accept         Announce    stop        the TCP listener
//	receive        Announce    stop        the UDP socket's reads
//	some eight of  Announce    stop        probes, queues
//	memberlist
//	one for each   accept      its end     a stream from another member
//	stream
//
// Streams end with stop, or Config.StreamTimeout after they begin. stop waits at most
// LeaveTimeout until the leave message is sent, and at most StreamTimeout for a join
// attempt that is in progress. Timers write the log lines that were held back; stop
// writes what is left of them.
//
// # What can be lost
//
// Changes take time to spread: a second or two in a local network. A leave message may get lost; then the member is
// detected like one that failed: within about 5 s (lan) in a small cluster, within a minute among a thousand members.
// memberlist does not distinguish a leave from a failure, so a member that has left is also retried for an hour, four
// addresses a round.
//
// # Limits and costs
//
// A member announces at most 16 endpoints in at most 512 bytes. At most 1,024 lost members are retried.
// Config.MaxStreams, MaxStreamsPerSource, MaxStreamBytes and StreamTimeout bound the streams; [Stats] counts refused
// and closed streams, and the log reports them once a second. Of the lines of memberlist one a minute of each kind is
// logged; one that was held back has the time at which it came in its attribute at. Datagrams wait in the kernel, at
// most 2 MiB of them, and use as much memory as they are long. A node that does not listen (Distribution.Listen "-")
// is not announced and does not gossip. On every node a member with two endpoints uses about 400 bytes in this
// package, besides what memberlist keeps; a list of 1,000 members is one allocation of 16 KB. With the pace lan each
// member sends one probe a second, up to 15 datagrams a second while there is news, and exchanges its whole state with
// one other member at most twice a minute.
//
// # Bytes
//
// A member's name for memberlist is NAME#CREATION, with the creation in 8 lower-case
// hexadecimal digits. Its metadata is text, separated by single spaces:
//
//	actornode/1 BORN ENDPOINT…
//
// BORN is the time of Announce in Unix milliseconds. discovery.ParseEndpoint parses ENDPOINT; if it has no host, the
// host of NAME is used.
package gossip
