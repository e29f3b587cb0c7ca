package process_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// An error that one side sends about a message is the same error on the other side. The atoms are on the wire: they
// never change.
func TestBothWays(t *testing.T) {
	for word, err := range map[wire.Atom]error{
		dist.Delivered: nil,
		"full":         process.ErrNoRoom,
		"refused":      process.ErrMailboxFull,
		"dropped":      process.ErrDropped,
		"noproc":       process.ErrNoProcess,
		"noname":       process.ErrNoName,
	} {
		require.Equal(t, word, process.ReceiptOf(err))
		require.Equal(t, err, process.ReceiptError(word))
	}
}

// An error keeps its meaning when it is wrapped with more text. Only ErrNoRoom itself asks for another try; an error
// that wraps it says that there was no room.
func TestWrapped(t *testing.T) {
	wrap := func(err error) error { return fmt.Errorf("for Ann: %w", err) }
	for want, err := range map[wire.Atom]error{
		"refused": wrap(process.ErrNoRoom), "dropped": wrap(process.ErrDropped), "noname": wrap(process.ErrNoName),
		"noproc": errors.New("anything else"),
	} {
		require.Equal(t, want, process.ReceiptOf(err))
	}
	require.Equal(t, wire.Atom("refused"), process.ReceiptOf(wrap(process.ErrMailboxFull)))
}

// A text is the error of a message that could not be read there, and a receipt that no version here knows is reported
// as it is.
func TestOtherReceipts(t *testing.T) {
	require.EqualError(t, process.ReceiptError("cannot read it"), "cannot read it")
	require.EqualError(t, process.ReceiptError(wire.Atom("later")), "node: the message was not delivered: later")
	require.ErrorContains(t, process.ReceiptError(wire.Tuple{wire.Atom("why"), 1}), "node: the message was not delivered: ")
	require.ErrorContains(t, process.ReceiptError(nil), "node: the message was not delivered: ")
}
