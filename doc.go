// Package actornode is an actor node in Go with Erlang's semantics: lightweight
// processes with mailboxes, links, monitors and exit signals.
//
// The package itself holds nothing. Import
// github.com/actornode/actornode/node to run actors; the README shows how. The
// rooms and the floors they are on, an import running downward only:
//
//	4  bench          the benchmark programs and their peers
//	3  node           actors, processes, names, links, monitors, calls, timers
//	2  sched          stages that run actors
//	1  mailbox, wire  the queue; the vocabulary of terms
package actornode
