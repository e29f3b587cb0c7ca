// Package actornode is an actor node in Go with Erlang's semantics: lightweight
// processes with mailboxes, links, monitors and exit signals.
//
// The package itself holds nothing. Import
// github.com/actornode/actornode/node to run actors; the README shows how. The
// rooms and the floors they are on, an import running downward only:
//
//	5  cmd/actornode           the daemon, and the command line that talks to nodes
//	   bench                   the benchmark programs and their peers
//	4  supervisor              supervision trees
//	   supervisor/application  applications: named trees with dependencies
//	   supervisor/tree         trees described in files
//	3  node                    actors, processes, links, monitors, calls, other nodes
//	   node/genserver          servers: Erlang's gen_server
//	   node/statem             state machines: gen_statem
//	   node/event              event managers: gen_event
//	   node/sys                system messages, by which all these are looked into
//	   node/pg                 process groups: OTP's pg
//	   node/admin              the operator's service: what the command line asks of a node
//	   node/dns, node/gossip   finding nodes, beside EPMD and lists
//	   node/metrics            counters for Prometheus
//	   node/port               programs in any language as actors: Erlang's ports
//	   node/otp                what OTP's own tools call: observer, process_info, io
//	2  wire/erldist            the Erlang distribution protocol
//	   wire/native             the protocol between nodes of this kind
//	1  mailbox                 bounds of mailboxes, and mailboxes of a user's own
//	   sched                   schedulers of a user's own
//	   wire                    the vocabulary of terms; the seam to protocols
//	   wire/etf, wire/epmd     codecs: terms as bytes, the port mapper
//	   wire/pack               terms as msgpack
//	   wire/tlsdist            TLS below a protocol
//
// All else is under internal/, and changes when it must.
package actornode
