package admin

import "github.com/actornode/actornode/node"

// Forest is the supervision trees of a node: applications first, then supervisors outside of them.
type Forest struct {
	Trees   []Branch `json:"trees"`
	Cut     int      `json:"cut"`     // branches left out because there are too many
	Loose   int      `json:"loose"`   // processes outside of all trees; approximate if branches were cut
	Missing int      `json:"missing"` // supervisors that did not answer in time
}

// Branch is an application, a supervisor or a worker.
type Branch struct {
	ID        string    `json:"id"`                                 // child ID, or name of the application
	Kind      node.Atom `json:"kind"`                               // application, supervisor, worker
	PID       node.PID  `json:"pid,omitzero" etf:",omitzero"`       // zero if not running
	Name      node.Atom `json:"name,omitzero" etf:",omitzero"`      // registered
	Behaviour string    `json:"behaviour,omitzero" etf:",omitzero"` //
	State     node.Atom `json:"state"`                              // as Process.State, or stopped, restarting
	Mailbox   int       `json:"mailbox"`                            //
	Restarts  int       `json:"restarts,omitzero" etf:",omitzero"`  // of a child, since it was added
	Children  []Branch  `json:"children,omitempty" etf:",omitzero"` //
	Count     int       `json:"count,omitzero" etf:",omitzero"`     // of children, if they are left out
	Version   string    `json:"version,omitzero" etf:",omitzero"`   // of an application
	Note      string    `json:"note,omitzero" etf:",omitzero"`      // why there are no children
}
