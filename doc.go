// Package actornode is an actor node in Go with Erlang's semantics: lightweight
// processes with mailboxes, links, monitors and exit signals.
//
// The package itself has [Main], which makes a daemon of a program: see [Program]. Import
// github.com/actornode/actornode/node to run actors; README.md shows how.
//
//	node                    actors, processes, links, monitors, calls, other nodes
//	node/genserver          servers: Erlang's gen_server
//	node/statem             state machines: gen_statem
//	node/event              event managers: gen_event
//	node/active             active objects, whose methods can wait in the middle
//	node/futures            many calls at a time: joins, and what follows when they are done
//	node/match              messages by cases, as receive has them in Erlang
//	node/stream             messages as iterators and channels
//	node/channel            typed channels to a process
//	node/stage              where actors run: stages of a program's own, places
//	node/forward            calls that are handed on to another process
//	node/isolation          messages that are copied, so that nobody shares memory
//	node/lifetime           processes that end when nobody can reach them any more
//	node/migrate            processes that move to other nodes
//	node/rpc                functions that other nodes may call
//	node/rights             what other nodes may do, as rules
//	node/pg                 process groups: OTP's pg
//	node/global             names and locks of a whole cluster: OTP's global
//	node/port               programs in any language as processes: Erlang's ports
//	node/sys                system messages, by which all these are looked into
//	node/otp                what OTP's own tools call: observer, process_info, io
//	node/admin              the operator's service: what the command line asks of a node
//	node/metrics            counters for Prometheus
//	node/observe            what a node tells about itself
//	node/trace              what some processes do, as events
//	node/deadletter         messages that reached nobody
//	node/discovery          finding nodes: EPMD, static lists, several ways at once
//	node/dns, node/gossip   the same by DNS and by gossip
//	supervisor              supervisors
//	supervisor/application  applications: named trees with dependencies
//	supervisor/tree         trees and applications described in YAML
//	wire                    terms: PIDs, references, atoms, tuples, lists, as text too
//	wire/dist               the seam to protocols and transports, for those who add one
//	wire/linktest           the conformance tests of a protocol
//	wire/native             the protocol between nodes of this project
//	wire/erldist            the Erlang distribution protocol
//	wire/tlsdist            TLS below a protocol
//	wire/etf                terms as bytes: Erlang's external term format
//	wire/pickle             terms of Go values by functions, without reflection
//	wire/epmd               how port mappers are asked
//	mailbox, sched          for mailboxes and schedulers of your own
//	cmd/actornode           the daemon, and the command line that talks to nodes
//
// docs/architecture.md has the map of all packages and their layers.
package actornode
