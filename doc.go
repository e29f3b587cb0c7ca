// Package actornode is an actor node in Go with Erlang's semantics: lightweight
// processes with mailboxes, links, monitors and exit signals.
//
// The package itself provides [Main], which turns a program into a daemon: see [Program]. Import
// github.com/actornode/actornode/node to run actors; README.md shows how.
//
//	node                    actors, processes, links, monitors, calls, other nodes
//	node/genserver          servers: Erlang's gen_server
//	node/statem             state machines: gen_statem
//	node/event              event managers: gen_event
//	node/active             active objects, whose methods can suspend
//	node/futures            many concurrent calls: joins and continuations
//	node/tasks              functions with results, under a supervisor; bounded maps
//	node/match              matching messages by cases, like Erlang's receive
//	node/channel            messages as iterators and channels; typed channels
//	node/keyed              processes on demand, found by key, ended when idle
//	node/stage              where actors run: stages and places
//	node/isolation          copying messages, so that processes share no memory
//	node/lifetime           processes that end when nothing can reach them any more
//	node/migrate            processes that move to other nodes
//	node/rpc                functions that other nodes may call
//	node/rights             rules for what other nodes may do
//	node/registry           processes of a node by keys, with values
//	node/pg                 process groups: OTP's pg
//	node/pool               workers that share the messages of one process
//	node/global             names and locks of a whole cluster: OTP's global
//	node/port               programs in any language as processes: Erlang's ports
//	node/sys                system messages: inspecting processes
//	node/otp                services for OTP's tools: observer, process_info, io
//	node/admin              the operator's service, used by the command line
//	node/metrics            counters for Prometheus
//	node/observe            a node's state and counters
//	node/trace              events of traced processes
//	node/otel               spans of OpenTelemetry, across nodes and languages
//	node/seqtrace           labels that follow messages: OTP's seq_trace
//	node/nodetest           tests of processes: probes, clusters in memory, network faults, leaks
//	node/deadletter         messages that could not be delivered
//	node/discovery          finding nodes: EPMD, static lists, several ways at once
//	node/dns, node/gossip   the same by DNS and by gossip
//	supervisor              supervisors
//	supervisor/application  applications: named trees with dependencies
//	supervisor/tree         trees and applications described in YAML
//	wire                    terms: PIDs, references, atoms, tuples, lists, and their text form
//	wire/dist               the interface for protocols and transports
//	wire/linktest           the conformance tests of a protocol
//	wire/native             the protocol between nodes of this project
//	wire/erldist            the Erlang distribution protocol
//	wire/tlsdist            TLS below a protocol
//	wire/etf                terms as bytes: Erlang's external term format
//	wire/pickle             encoding Go values as terms by functions, without reflection
//	wire/epmd               a client for port mappers
//	mailbox, sched          for custom mailboxes and schedulers
//	cmd/actornode           the daemon, and the command line for nodes
//
// docs/architecture.md has the map of all packages and their layers.
package actornode
