package flow

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// checker notes what it is asked about, and refuses channels.
type checker struct {
	to    []wire.Dest
	about []any
}

var errChannel = &wire.EncodeError{Err: errors.New("a channel")}

func (c *checker) Check(to wire.Dest, msg any) error {
	c.to, c.about = append(c.to, to), append(c.about, msg)
	if _, ok := msg.(chan int); ok {
		return errChannel
	}
	return nil
}

// If a message would have to wait and cannot be sent, its sender is told what is wrong with it and it does not wait.
// For any other frame the writer finds that out.
func TestSendThatWaits(t *testing.T) {
	for _, queueing := range []bool{true, false} {
		c, b := &checker{}, new(Box)
		b.Init(1<<20, nil, c)
		if !queueing { // the link is there, and cannot take the frame now
			l := &link{long: map[wire.PID]bool{{}: true, origin.PID(1): true}}
			require.True(t, b.Rest(l))
		}
		waits := func(want int) {
			_, frames := b.Queue()
			require.Equal(t, want, frames)
		}
		bad := make(chan int)
		full, err := b.Message(nil, origin.PID(1), origin.PID(2), bad)
		require.Equal(t, errChannel, err)
		require.False(t, full)
		_, err = b.Send(nil, dist.Frame{Op: dist.OpSend, Name: "name", Payload: bad})
		require.Equal(t, errChannel, err)
		_, err = b.Send(nil, dist.Frame{Op: dist.OpSend, Ref: origin.RefOf(1), Payload: bad, Answer: true})
		require.Equal(t, errChannel, err)
		waits(0)
		_, err = b.Send(nil, dist.Frame{Op: dist.OpSend, To: origin.PID(3), Payload: 1i})
		require.NoError(t, err)
		waits(1)
		require.Equal(t, []wire.Dest{origin.PID(2), wire.Atom("name"), origin.RefOf(1), origin.PID(3)}, c.to)
		require.Equal(t, []any{bad, bad, bad, 1i}, c.about)
		for _, f := range []dist.Frame{{Op: dist.OpExit, Payload: bad}, {Op: dist.OpSend, ID: 1, Payload: bad},
			{Op: dist.OpSend, Payload: wire.Tuple{1, "plain"}}} {
			_, err = b.Send(nil, f)
			require.NoError(t, err)
		}
		_, err = b.Put(nil, dist.Frame{Op: dist.OpSend, Payload: bad})
		require.NoError(t, err)
		waits(5)
		require.Len(t, c.about, 4, "the others are not asked about")
	}
}

// A plain message is small and made of the commonest terms.
func TestPlain(t *testing.T) {
	plain := func(msg any) bool { return isPlain(&dist.Frame{Op: dist.OpSend, Payload: msg}) }
	pid, ref := origin.PID(1), origin.RefOf(1)
	all := []any{nil, true, 1, int64(1), wire.Atom("a"), []byte("b"), "text", pid, ref, 1.5}
	for _, v := range all {
		require.True(t, plain(v), "%T", v)
	}
	require.True(t, plain(wire.Tuple(all)))
	require.True(t, plain(wire.List{wire.Tuple(all), wire.List(all), wire.Tuple{}}))
	ring := wire.Tuple{nil}
	ring[0] = ring
	for _, v := range []any{math.NaN(), math.Inf(-1), wire.PID{}, wire.Ref{}, wire.Atom("\xff"), wire.Atom(strings.Repeat("a", 256)),
		wire.Map{}, struct{}{}, make(chan int), errChannel, ring, wire.List(slices.Repeat(all, 7)), make([]byte, plainBytes+1),
		wire.Tuple{make([]byte, plainBytes), "x"}} {
		require.False(t, plain(v), "%T", v)
		require.False(t, plain(wire.Tuple{1, v}))
		require.False(t, plain(wire.List{v}))
	}
	require.False(t, isPlain(&dist.Frame{Name: "\xff"}))
	if !testkit.Race {
		f := dist.Frame{Payload: wire.Tuple(all)}
		require.Zero(t, testing.AllocsPerRun(100, func() { isPlain(&f) }))
	}
}

func BenchmarkPlain(b *testing.B) {
	var f dist.Frame
	for name, msg := range map[string]any{"Bytes": make([]byte, 64), "Tuple": wire.Tuple{wire.Atom("ok"), 1, origin.PID(1), "text"},
		"List64": wire.List(slices.Repeat([]any{1}, plainParts-1))} {
		b.Run(name, func(b *testing.B) {
			f.Payload = msg
			for b.Loop() {
				isPlain(&f)
			}
		})
	}
}
