package admin

import (
	"github.com/actornode/actornode/node"
)

// TraceQuery selects the processes and events of a trace. Zero values mean the defaults, except for Targets.
type TraceQuery struct {
	Targets []any `etf:""` // at least one, each a node.PID, a node.Atom or a string; see Info
	// Events selects the kinds of events; default: all. receive: a message enters the mailbox; send: the process sends a
	// message; signal: links, monitors, exit signals, in both directions; exit: the process exits, its last event; spawn:
	// it starts a process; name: it is registered or unregistered.
	Events   []node.Atom `etf:",omitzero"`
	Children bool        `etf:",omitzero"` // also trace the processes that they spawn from now on
	Size     int         `etf:",omitzero"` // bytes of a message that are kept, about; default 1024
	StreamOptions
}

// LetterQuery selects the dead letters of a stream.
type LetterQuery struct {
	Causes []node.Atom `etf:",omitzero"` // no_process, mailbox_full, …; default: all
	Size   int         `etf:",omitzero"` // bytes of a message that are kept, about; default 1024
	StreamOptions
}

// StreamOptions bound a stream; see "Streams" in the package's documentation.
type StreamOptions struct {
	Window int      `etf:",omitzero"` // maximum of events in flight; default 1000
	Buffer int      `etf:",omitzero"` // maximum of events that wait; default 1000
	Max    int      `etf:",omitzero"` // events after which it ends; default: no end
	To     node.PID `etf:",omitzero"` // the receiving process; set by the client functions
}

// Event is an event of a traced process.
type Event struct {
	At      Time     `json:"at"`
	Process node.PID `json:"process"` // the traced process
	// receive, send, link, unlink, linked, unlinked, monitor, demonitor, signal, exit, spawn, register, unregister
	Type    node.Atom `json:"type"`
	Other   node.PID  `json:"other,omitzero" etf:",omitzero"` // sender, receiver, the other end; zero if unknown
	Name    node.Atom `json:"name,omitzero" etf:",omitzero"`  // the receiver's if sent to a name; the registered name
	Node    node.Atom `json:"node,omitzero" etf:",omitzero"`  // of Name, if not this one
	Message any       `json:"-"`                              // message or reason, cut
}

// Letter is a dead letter.
type Letter struct {
	At      Time      `json:"at"`
	Cause   node.Atom `json:"cause"`
	To      node.PID  `json:"to,omitzero" etf:",omitzero"`    // one of To, Name, Alias is the receiver
	Name    node.Atom `json:"name,omitzero" etf:",omitzero"`  //
	Alias   node.Ref  `json:"alias,omitzero" etf:",omitzero"` //
	Message any       `json:"-"`                              // cut
}
