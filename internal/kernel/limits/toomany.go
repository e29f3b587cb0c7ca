package limits

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/wire"
)

// ErrTooMany reports that the maximum number of processes, or names, has been reached: of the node, or of one peer.
var ErrTooMany = errors.New("node: the process limit has been reached")

// SystemLimit is OTP's atom for the same.
const SystemLimit wire.Atom = "system_limit"

// Unknown represents senders of requests whose node is unknown: those that came as a term, through another process of this
// node. All of these share what one peer may make this node hold.
const Unknown wire.Atom = "unknown"

// TooMany reports that a peer has reached its limit of something. It is an [ErrTooMany].
type TooMany struct {
	Peer wire.Atom // [Unknown] if unknown
	Kind HeldKind  // HeldSpawned or HeldNames
	Most int64     // 0 if all peers together have reached their limit, and this one its share
}

func (e *TooMany) Error() string {
	who := string(e.Peer)
	if e.Peer == Unknown {
		who = "an unknown peer"
	}
	if e.Most == 0 {
		return fmt.Sprintf("node: %s holds its share of what all peers may make this node hold (limits.held)", who)
	}
	if e.Kind == HeldNames {
		return fmt.Sprintf("node: %s has registered its limit of %d names here (limits.names)", who, e.Most)
	}
	return fmt.Sprintf("node: %s has started its limit of %d processes here (limits.spawned)", who, e.Most)
}

// Is makes it an [ErrTooMany].
func (e *TooMany) Is(target error) bool { return target == ErrTooMany }

// Term returns system_limit.
func (e *TooMany) Term() any { return SystemLimit }
