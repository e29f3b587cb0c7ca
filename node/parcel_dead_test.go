package node

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

// What is in a parcel for a process that dies meanwhile is a dead letter, message by
// message; a parcel ends with the last that is there, and is full at its size.
func TestParcelForTheDead(t *testing.T) {
	n, err := Start(Config{})
	require.NoError(t, err)
	defer n.Stop()
	pid, err := n.Spawn(ActorFunc(func(*Context, any) error { return nil }))
	require.NoError(t, err)
	p := &peer{n: n}
	letter := func(msg any) *wire.Frame { return &wire.Frame{Op: wire.OpSend, To: pid, Payload: msg} }
	assert.False(t, p.pack(letter(0), false), "one alone needs no parcel")
	for i := range 5 {
		require.True(t, p.pack(letter(i), true))
	}
	assert.False(t, p.pack(&wire.Frame{Op: wire.OpSend, To: n.origin.PID(1 << 40), Payload: 1}, true), "for another")
	assert.False(t, p.pack(&wire.Frame{Op: wire.OpLink, To: pid}, true))
	n.Exit(pid, Kill)
	dead := n.DeadLetters(64)
	p.deliverParcel()
	for i := range 5 {
		l := <-dead.C
		assert.Equal(t, DeadLetter{Cause: CauseNoProcess, To: pid, Message: i}, DeadLetter{Cause: l.Cause, To: l.To, Message: l.Message})
	}
	assert.EqualValues(t, 5, n.DeadLetterCounts()[CauseNoProcess])
	p.deliverParcel() // nothing

	pid, err = n.Spawn(ActorFunc(func(*Context, any) error { return nil }))
	require.NoError(t, err)
	for i := range parcelSize {
		require.True(t, p.pack(letter(i), true))
	}
	assert.Nil(t, p.parcel.q, "it has been delivered")
}
