package process

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/kernel/calls"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Why a message was not put into the mailbox, on the wire. The list may only be extended.
const (
	full        wire.Atom = "full"    // there is no space: the sender may try again
	refused     wire.Atom = "refused" // there is no space, and the mailbox refuses messages then
	dropped     wire.Atom = "dropped" // there is no space, and the mailbox drops messages then
	noProc      wire.Atom = "noproc"  // there is no process
	noNameThere wire.Atom = "noname"  // there is no process with that name
)

// ReceiptError returns the error of a receipt.
func ReceiptError(v any) error {
	switch v {
	case dist.Delivered:
		return nil
	case full:
		return ErrNoRoom
	case refused:
		return ErrMailboxFull
	case dropped:
		return ErrDropped
	case noProc:
		return ErrNoProcess
	case noNameThere:
		return ErrNoName
	}
	if text, ok := v.(string); ok { // from peers.unread
		return errors.New(text)
	}
	return fmt.Errorf("node: the message was not delivered: %s", calls.ReasonWords(v))
}

// ReceiptOf is the inverse of ReceiptError.
func ReceiptOf(err error) wire.Atom {
	switch {
	case err == nil:
		return dist.Delivered
	case errors.Is(err, ErrDropped):
		return dropped
	case err == ErrNoRoom:
		return full
	case errors.Is(err, ErrMailboxFull):
		return refused
	case errors.Is(err, ErrNoName):
		return noNameThere
	}
	return noProc
}
