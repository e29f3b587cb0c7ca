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
//	node/pg                 process groups: OTP's pg
//	node/port               programs in any language as processes: Erlang's ports
//	node/sys                system messages, by which all these are looked into
//	node/otp                what OTP's own tools call: observer, process_info, io
//	node/admin              the operator's service: what the command line asks of a node
//	node/metrics            counters for Prometheus
//	node/dns, node/gossip   finding nodes, beside EPMD and static lists
//	supervisor              supervisors
//	supervisor/application  applications: named trees with dependencies
//	supervisor/tree         trees and applications described in YAML
//	wire                    terms; the seam to protocols and transports
//	wire/native             the protocol between nodes of this project
//	wire/erldist            the Erlang distribution protocol
//	wire/tlsdist            TLS below a protocol
//	wire/etf                terms as bytes: Erlang's external term format
//	wire/epmd               how port mappers are asked
//	mailbox, sched          for mailboxes and schedulers of your own
//	cmd/actornode           the daemon, and the command line that talks to nodes
//
// docs/architecture.md has the map of all packages and their layers.
package actornode
