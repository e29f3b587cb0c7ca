package admin

import "github.com/actornode/actornode/node"

// Forest is what a node's supervisors run: applications first, then supervisors
// that are in none.
type Forest struct {
	Trees   []Branch `json:"trees"`
	Cut     int      `json:"cut"`     // branches that are left out: there are too many
	Loose   int      `json:"loose"`   // processes that are in no tree, about, if there are cut ones
	Missing int      `json:"missing"` // supervisors that have not answered in time
}

// Branch is an application, a supervisor or a worker.
type Branch struct {
	ID        string    `json:"id"`                                 // of the child, or the application's name
	Kind      node.Atom `json:"kind"`                               // application, supervisor, worker
	PID       node.PID  `json:"pid,omitzero" etf:",omitzero"`       // zero: not running
	Name      node.Atom `json:"name,omitzero" etf:",omitzero"`      // registered
	Behaviour string    `json:"behaviour,omitzero" etf:",omitzero"` //
	State     node.Atom `json:"state"`                              // as Process.State; stopped, restarting
	Mailbox   int       `json:"mailbox"`                            //
	Children  []Branch  `json:"children,omitempty" etf:",omitzero"` //
	Count     int       `json:"count,omitzero" etf:",omitzero"`     // of children, where they are left out
	Version   string    `json:"version,omitzero" etf:",omitzero"`   // of an application
	Note      string    `json:"note,omitzero" etf:",omitzero"`      // why there is nothing below
}
