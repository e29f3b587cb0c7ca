package limits

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/wire"
)

// ErrTooMany says that there are as many processes, or names, as there may be: of the node, or of
// one peer.
var ErrTooMany = errors.New("node: the process limit has been reached")

// SystemLimit is OTP's word for the same.
const SystemLimit wire.Atom = "system_limit"

// Unknown stands for the sender of a request of which the node is not known: one that has
// come as a term, through another process of this node. All of these share what one
// peer may make this node hold.
const Unknown wire.Atom = "unknown"

// TooMany says that a peer makes this node hold as much of something as it may. It is an
// [ErrTooMany].
type TooMany struct {
	Peer wire.Atom // [Unknown]: nobody knows which
	Kind HeldKind  // HeldSpawned or HeldNames
	Most int64     // 0: all peers together hold as much as they may, and this one has had its share
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

// Term is system_limit.
func (e *TooMany) Term() any { return SystemLimit }
