// Package receipt says what becomes of a message whose sender waits for that, as an error and on the wire. It has no
// state and no goroutine.
package receipt

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/node/internal/process"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Why a message is not in the mailbox, on the wire. The list is only added to.
const (
	full    wire.Atom = "full"    // there is no space: the sender may try again
	refused wire.Atom = "refused" // there is no space, and the mailbox refuses what it has no space for
	dropped wire.Atom = "dropped" // there is no space, and the mailbox drops what it has no space for
	noProc  wire.Atom = "noproc"  // there is no process
	noName  wire.Atom = "noname"  // there is no process of that name
)

// Error reads a receipt.
func Error(v any) error {
	switch v {
	case dist.Delivered:
		return nil
	case full:
		return process.ErrNoRoom
	case refused:
		return process.ErrMailboxFull
	case dropped:
		return process.ErrDropped
	case noProc:
		return process.ErrNoProcess
	case noName:
		return process.ErrNoName
	}
	if text, ok := v.(string); ok { // of unread
		return errors.New(text)
	}
	return fmt.Errorf("node: the message was not delivered: %s", calls.ReasonWords(v))
}

// Of is the reverse.
func Of(err error) wire.Atom {
	switch {
	case err == nil:
		return dist.Delivered
	case errors.Is(err, process.ErrDropped):
		return dropped
	case err == process.ErrNoRoom:
		return full
	case errors.Is(err, process.ErrMailboxFull):
		return refused
	case errors.Is(err, process.ErrNoName):
		return noName
	}
	return noProc
}
