package node

import (
	"github.com/actornode/actornode/node/deadletter"
)

// DeadLetters opens a stream of the dead letters to come, which holds up to
// buffer of them (at least 1) for its reader; what does not fit is counted.
func (n *Node) DeadLetters(buffer int) *deadletter.Stream { return n.sys.Dead.Open(buffer) }
