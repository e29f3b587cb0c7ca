package admin

import (
	"time"

	"github.com/actornode/actornode/node"
)

// Query chooses processes. The zero value asks for the first of all by PID.
type Query struct {
	// Sort is what they are sorted by, the greatest first: mailbox (messages that wait), handled (messages since the
	// start), rate (messages in Window), memory, age, links (with monitors), wait (how long, for more than a message); or the
	// smallest first: pid, name. Default: pid.
	Sort    node.Atom `etf:",omitzero"`
	Reverse bool      `etf:",omitzero"` // reverse the order
	Limit   int       `etf:",omitzero"` // default 1000; what the service allows at most
	// what rates are measured over: the answer takes as long. Default: no rates; by rate 1 s. At most 10 s
	Window time.Duration `etf:",ms,omitzero"`

	Text       string    `etf:",omitzero"` // in the name, label, behaviour, code or PID; letter case does not matter
	State      node.Atom `etf:",omitzero"` // idle, scheduled, running, waiting
	Mailbox    int       `etf:",omitzero"` // at least as many messages wait
	Registered bool      `etf:",omitzero"` // only processes with a registered name
}

// Process is a line about a process.
type Process struct {
	PID       node.PID      `json:"pid"`
	Name      node.Atom     `json:"name,omitzero" etf:",omitzero"`
	Label     string        `json:"label,omitzero" etf:",omitzero"`
	Behaviour string        `json:"behaviour"` // Go type
	State     node.Atom     `json:"state"`     // idle, scheduled, running, waiting, exiting
	Mailbox   int           `json:"mailbox"`   // messages that wait, the one being handled included
	Handled   uint64        `json:"handled"`   // messages
	Rate      float64       `json:"rate,omitzero" etf:",omitzero"`
	Memory    int           `json:"memory"`                            // bytes, estimated: Go does not say whose memory is whose
	Stage     int           `json:"stage"`                             // -1: not run by a stage
	Links     int           `json:"links"`                             // how many
	Monitors  int           `json:"monitors,omitzero" etf:",omitzero"` // by it, and of it; an older node does not say
	Age       time.Duration `json:"age" etf:",ms"`
	Wait      Wait          `json:"wait,omitzero" etf:",omitzero"`
}

// Wait is what a process waits for, and on whom: a process, by PID or by name and node, or a node. An older
// node does not say.
type Wait struct {
	For  node.Atom     `json:"for"`                           // message, reply, future, exit, start, receipt, space
	PID  node.PID      `json:"pid,omitzero" etf:",omitzero"`  //
	Name node.Atom     `json:"name,omitzero" etf:",omitzero"` //
	Node node.Atom     `json:"node,omitzero" etf:",omitzero"` // of Name; without one, the node as such
	Time time.Duration `json:"time" etf:",ms"`                // for how long
}

// Activations is how many activations of active objects wait, and for what.
type Activations struct {
	Future    int           `json:"future"`
	Condition int           `json:"condition"`
	Turn      int           `json:"turn"`
	Time      time.Duration `json:"time" etf:",ms"` // for how long the one has waited that has waited for longest
}

// Unhandled is messages that an Actor leaves in its mailbox.
type Unhandled struct {
	Count  int           `json:"count"`
	Oldest string        `json:"oldest"`         // Go type
	Time   time.Duration `json:"time" etf:",ms"` // for how long the oldest has been left
}

// Listing is an answer to a Query.
type Listing struct {
	Processes []Process `json:"processes"`
	Matched   int       `json:"matched"` // processes that the query chooses
	Total     int       `json:"total"`   // on the node
}

// Detail is all that is known about a process. Lists of processes are cut to
// Config.Limit; how many there are is said beside.
type Detail struct {
	Process
	Code      string `json:"code"`       // package of the behaviour, or name of the function
	Initial   string `json:"initial"`    // Module:Function/Arity in OTP's words
	Current   string `json:"current"`    //
	Kind      string `json:"kind"`       // gen_server, supervisor, …; "": none of OTP's behaviours
	TrapExit  bool   `json:"trap_exit"`  //
	Monitored int    `json:"monitored"`  // by how many
	Watching  int    `json:"monitoring"` // how many

	Linked   []node.PID `json:"linked"`
	Watchers []node.PID `json:"watchers"` // the processes that monitor it
	Watches  []node.PID `json:"watches"`  // the processes that it monitors
	Named    []string   `json:"named"`    // {Name, Node}: those that it monitors by name
	Messages []any      `json:"-"`        // the first that wait, cut as those of a trace; terms are no JSON
	Parent   node.PID   `json:"parent,omitzero" etf:",omitzero"`
	Leader   node.PID   `json:"leader,omitzero" etf:",omitzero"` // group leader
	Ancestry []any      `json:"-"`                               // names or PIDs: the parent, its parent, …

	Activations Activations `json:"activations,omitzero" etf:",omitzero"` // of active objects
	Unhandled   Unhandled   `json:"unhandled,omitzero" etf:",omitzero"`
	Started     Time        `json:"started"`
	Traced      bool        `json:"traced"`
	Owned       bool        `json:"owned,omitzero" etf:",omitzero"` // ends when nobody can reach it any more
}
