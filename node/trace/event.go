package trace

import (
	"time"

	"github.com/actornode/actornode/node"
)

// Kind says what an [Event] is about. Kinds can be or-ed.
type Kind uint16

const (
	Receive    Kind = 1 << iota // a message is put into the process's mailbox, or a call of it is answered
	Send                        // the process sends a message
	Link                        // it links itself to Other
	Unlink                      // it removes a link
	Linked                      // Other links itself to it
	Unlinked                    // Other removes a link to it
	Monitor                     // it monitors Other, or Name
	Demonitor                   // it removes a monitor
	Signal                      // an exit signal comes from Other: Message is the reason
	Spawn                       // it has spawned Other
	Register                    // it gets a Name
	Unregister                  // its Name is taken away
	Exit                        // it has exited: Message is the reason. The last event of a process

	// All is every kind.
	All Kind = 1<<iota - 1
)

var kinds = [...]string{"receive", "send", "link", "unlink", "linked", "unlinked", "monitor", "demonitor", "signal",
	"spawn", "register", "unregister", "exit"}

// String returns the name of a single kind, such as receive.
func (k Kind) String() string {
	for i, s := range kinds {
		if k == 1<<i {
			return s
		}
	}
	return "invalid"
}

// Event is something that a traced process has done, or that was done to it.
type Event struct {
	Kind    Kind
	At      time.Time
	Process node.PID
	Other   node.PID  // sender, receiver, the other end; zero: not known, or no process
	Name    node.Atom // the name that a message was sent to, on Node; the registered name
	Node    node.Atom // "": this one
	Message any       // what Config.Show made of it; see there
}
