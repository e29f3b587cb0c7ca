package admin

import (
	"time"

	"github.com/actornode/actornode/node"
)

// Query selects processes. The zero value selects the first ones by PID.
type Query struct {
	// Sort is the sort key. Largest first: mailbox (waiting messages), handled (messages since the start), rate (messages
	// in Window), memory, age, links (with monitors), monitors, wait (duration, for something other than a message); smallest
	// first: pid, name. Default: pid. Of groups: count, growth (in Window), mailbox, handled, rate, memory, links, monitors,
	// name. Default: count.
	Sort    node.Atom `etf:",omitzero"`
	Reverse bool      `etf:",omitzero"` // reverse the order
	Limit   int       `etf:",omitzero"` // default and maximum: the service's limit, 1000 unless configured
	// Window is how long rates are measured, which delays the answer. Default: no rates, or 1 s if sorted by rate. At most
	// 10 s.
	Window time.Duration `etf:",ms,omitzero"`

	// By groups the processes: by behaviour, code or parent. Then Sort and Limit are for groups. Older nodes ignore it, and list
	// processes.
	By node.Atom `etf:",omitzero"`

	Text       string    `etf:",omitzero"` // in the name, label, behaviour, code or PID; case-insensitive
	State      node.Atom `etf:",omitzero"` // idle, scheduled, running, waiting
	Mailbox    int       `etf:",omitzero"` // minimum of waiting messages
	Registered bool      `etf:",omitzero"` // only processes with a registered name
}

// Process is a line of a Listing.
type Process struct {
	PID       node.PID      `json:"pid"`
	Name      node.Atom     `json:"name,omitzero" etf:",omitzero"`
	Label     string        `json:"label,omitzero" etf:",omitzero"`
	Behaviour string        `json:"behaviour"` // Go type
	State     node.Atom     `json:"state"`     // idle, scheduled, running, waiting, exiting
	Mailbox   int           `json:"mailbox"`   // waiting messages, including the one being handled
	Handled   uint64        `json:"handled"`   // messages
	Rate      float64       `json:"rate,omitzero" etf:",omitzero"`
	Memory    int           `json:"memory"`                            // bytes, estimated: Go does not report memory by owner
	Stage     int           `json:"stage"`                             // -1 if not run by a stage
	Links     int           `json:"links"`                             // how many
	Monitors  int           `json:"monitors,omitzero" etf:",omitzero"` // by it and of it; not reported by older nodes
	Age       time.Duration `json:"age" etf:",ms"`
	Wait      Wait          `json:"wait,omitzero" etf:",omitzero"`
}

// Wait describes what a process waits for, and the process (by PID or by name and node) or node that it waits on. Older
// nodes do not report it.
type Wait struct {
	For  node.Atom     `json:"for"`                           // message, reply, future, exit, start, receipt, space
	PID  node.PID      `json:"pid,omitzero" etf:",omitzero"`  //
	Name node.Atom     `json:"name,omitzero" etf:",omitzero"` //
	Node node.Atom     `json:"node,omitzero" etf:",omitzero"` // of Name; without a Name, the node waited on
	Time time.Duration `json:"time" etf:",ms"`                // for how long
}

// Activations counts the waiting activations of active objects, by what they wait for.
type Activations struct {
	Future    int           `json:"future"`
	Condition int           `json:"condition"`
	Turn      int           `json:"turn"`
	Asleep    int           `json:"asleep,omitzero" etf:",omitzero"`
	Time      time.Duration `json:"time" etf:",ms"` // the longest wait
}

// Callers are the processes of the same node that wait for a reply of a process, such as of a port whose program hangs.
type Callers struct {
	Count  int           `json:"count"`
	Oldest node.PID      `json:"oldest"`         // that waits for longest
	Time   time.Duration `json:"time" etf:",ms"` // for how long
}

// Bound is what a bounded mailbox takes.
type Bound struct {
	Messages int    `json:"messages,omitzero" etf:",omitzero"` // 0: no limit
	Bytes    int    `json:"bytes,omitzero" etf:",omitzero"`    // 0: no limit
	Policy   string `json:"policy"`                            // for what does not fit: refuse, block, drop newest, drop oldest
	Lost     uint64 `json:"lost"`                              // messages refused or dropped so far
}

// Unhandled describes the messages that an Actor leaves in its mailbox.
type Unhandled struct {
	Count  int           `json:"count"`
	Oldest string        `json:"oldest"`         // Go type
	Time   time.Duration `json:"time" etf:",ms"` // since the oldest was left
}

// Listing is the answer to a Query.
type Listing struct {
	Processes []Process `json:"processes"`
	Matched   int       `json:"matched"` // processes selected by the query
	Total     int       `json:"total"`   // on the node

	By     node.Atom `json:"by,omitzero" etf:",omitzero"`      // as in the query; then there are no Processes
	Groups []Group   `json:"groups,omitempty" etf:",omitzero"` //
	Others Group     `json:"others,omitzero" etf:",omitzero"`  // all groups beyond the limit
}

// Detail holds everything known about a process. Lists of processes are cut to Config.Limit; separate fields have their
// full lengths.
type Detail struct {
	Process
	Code      string `json:"code"`       // package of the behaviour, or name of the function
	Initial   string `json:"initial"`    // Module:Function/Arity in OTP's terms
	Current   string `json:"current"`    //
	Kind      string `json:"kind"`       // gen_server, supervisor, …, or "" if not an OTP behaviour
	TrapExit  bool   `json:"trap_exit"`  //
	Monitored int    `json:"monitored"`  // by how many
	Watching  int    `json:"monitoring"` // how many

	Linked   []node.PID `json:"linked"`
	Watchers []node.PID `json:"watchers"` // the processes that monitor it
	Watches  []node.PID `json:"watches"`  // the processes that it monitors
	Named    []string   `json:"named"`    // {Name, Node}: those that it monitors by name
	Messages []any      `json:"-"`        // the first ones, cut as in a trace; terms have no JSON form
	Parent   node.PID   `json:"parent,omitzero" etf:",omitzero"`
	Leader   node.PID   `json:"leader,omitzero" etf:",omitzero"` // group leader
	Ancestry []any      `json:"-"`                               // names or PIDs: the parent, its parent, …

	Activations Activations `json:"activations,omitzero" etf:",omitzero"` // of active objects
	Unhandled   Unhandled   `json:"unhandled,omitzero" etf:",omitzero"`
	Callers     Callers     `json:"callers,omitzero" etf:",omitzero"`
	Bound       Bound       `json:"bound,omitzero" etf:",omitzero"`    // zero if the mailbox has none
	Restarts    int         `json:"restarts,omitzero" etf:",omitzero"` // by its supervisor, since the child was added
	Started     Time        `json:"started"`
	Traced      bool        `json:"traced"`
	Owned       bool        `json:"owned,omitzero" etf:",omitzero"` // ends when nothing can reach it any more
}
