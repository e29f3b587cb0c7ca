package native

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// The first message of each side is compared with the shapes of the other, with a session and without.
func TestFirstMessageIsCompared(t *testing.T) {
	for _, grace := range []time.Duration{0, time.Minute} {
		here, there := new(pack.Types), new(pack.Types)
		require.NoError(t, pack.Register[version1](here, "x.Type"))
		require.NoError(t, pack.Register[version2](there, "x.Type"))
		cookies := func(wire.Atom) (in, out string) { return "secret", "secret" }
		redial := func(context.Context) (net.Conn, error) { return nil, net.ErrClosed }
		a, b := net.Pipe()
		accepted := make(chan dist.Link, 1)
		go func() { // until both sides are ready
			l, err := (&Protocol{types: there}).Accept(t.Context(), b, dist.Handshake{Local: nodeB, Cookies: cookies, Grace: grace})
			if err == nil {
				accepted <- l
			}
			close(accepted)
		}()
		dialled, err := (&Protocol{types: here}).Dial(t.Context(), a, dist.Handshake{Local: nodeA, Peer: nodeB.Name, Cookies: cookies,
			Grace: grace, Redial: redial})
		require.NoError(t, err)
		other, ok := <-accepted
		require.True(t, ok)
		_, err = dialled.Write(&dist.Frame{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(1), Payload: version1{7}})
		require.ErrorContains(t, err, "x.Type.ID differs: here {ID int}, there {ID string}")
		_, err = other.Write(&dist.Frame{Op: dist.OpSend, From: onB.PID(1), To: onA.PID(1), Payload: version2{"a"}})
		require.ErrorContains(t, err, "x.Type.ID differs: here {ID string}, there {ID int}")
		require.NoError(t, dialled.Close())
		require.NoError(t, other.Close())
	}
}

// A peer that does not tell its shapes, or something else before them, is no peer.
func TestShapesDoNotCome(t *testing.T) {
	silent, other := net.Pipe()
	defer other.Close()
	l := new(Protocol).over(silent, nodeA, nodeB, dist.LinkLimits{})
	require.ErrorContains(t, l.exchange(t.Context(), false, time.Millisecond), "has not told the shapes of its types within 1ms")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l = new(Protocol).over(silent, nodeA, nodeB, dist.LinkLimits{})
	require.ErrorIs(t, l.exchange(ctx, false, time.Hour), context.Canceled)

	early := &stream{}
	w := new(Protocol).over(early, nodeB, nodeA, dist.LinkLimits{})
	_, err := w.Write(&dist.Frame{Op: dist.OpSend, From: onB.PID(1), To: onA.PID(1), Payload: 1})
	require.NoError(t, err)
	_, err = w.Flush(false)
	require.NoError(t, err)
	l = new(Protocol).over(&stream{in: early.out}, nodeA, nodeB, dist.LinkLimits{})
	require.ErrorContains(t, l.exchange(t.Context(), false, time.Hour), "send before all shapes of types have been told")
}
