package admin

import (
	"github.com/actornode/actornode/node"
)

// TraceQuery says which processes a trace is about and what it shows. The zero values of all
// but Targets are the defaults.
type TraceQuery struct {
	Targets []any `etf:""` // at least one, each a node.PID, a node.Atom or a string; see Info
	// Events are what it shows; default: all. receive: a message is put into its mailbox; send: it sends a message;
	// signal: links, monitors, exit signals, both ways; exit: it exits, and there are no more events; spawn: it starts a
	// process; name: it is registered, or no longer.
	Events   []node.Atom `etf:",omitzero"`
	Children bool        `etf:",omitzero"` // those that they spawn from now on, too
	Size     int         `etf:",omitzero"` // what is kept of a message: about as many bytes; default 1024
	StreamOptions
}

// LetterQuery says which dead letters a stream brings.
type LetterQuery struct {
	Causes []node.Atom `etf:",omitzero"` // no_process, mailbox_full, …; default: all
	Size   int         `etf:",omitzero"` // what is kept of a message; default 1024
	StreamOptions
}

// StreamOptions bound a stream; see "Streams" in the package's documentation.
type StreamOptions struct {
	Window int      `etf:",omitzero"` // events under way at most; default 1000
	Buffer int      `etf:",omitzero"` // events that wait at most; default 1000
	Max    int      `etf:",omitzero"` // events after which it ends; default: no end
	To     node.PID `etf:",omitzero"` // the process that gets them; set by the client functions
}

// Event is what a traced process has done, or what was done to it.
type Event struct {
	At      Time     `json:"at"`
	Process node.PID `json:"process"` // the one that is traced
	// receive, send, link, unlink, linked, unlinked, monitor, demonitor, signal, exit, spawn, register, unregister
	Type    node.Atom `json:"type"`
	Other   node.PID  `json:"other,omitzero" etf:",omitzero"` // sender, receiver, the other end; zero: not known
	Name    node.Atom `json:"name,omitzero" etf:",omitzero"`  // of the receiver, where it was sent to a name; the name registered
	Node    node.Atom `json:"node,omitzero" etf:",omitzero"`  // of the Name, if not this one
	Message any       `json:"-"`                              // message or reason, cut
}

// Letter is a dead letter.
type Letter struct {
	At      Time      `json:"at"`
	Cause   node.Atom `json:"cause"`
	To      node.PID  `json:"to,omitzero" etf:",omitzero"`    // of To, Name, Alias one says what it was for
	Name    node.Atom `json:"name,omitzero" etf:",omitzero"`  //
	Alias   node.Ref  `json:"alias,omitzero" etf:",omitzero"` //
	Message any       `json:"-"`                              // cut
}
