package native

import (
	"io"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/termtest"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/internal/wire/pack"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

type (
	circle struct{ Next *circle }
	panics struct{}
)

func (panics) MarshalBinary() ([]byte, error) { panic("no bytes") }
func (*panics) UnmarshalBinary([]byte) error  { return nil }

// Check agrees with Write, and writes nothing: the peer reads the frames that are written besides.
func TestCheck(t *testing.T) {
	types := new(pack.Types)
	require.NoError(t, pack.Register[circle](types, "x.Circle"))
	require.NoError(t, pack.Register[panics](types, "x.Panics"))
	p := &Protocol{types: types}
	conn := &stream{}
	l := p.over(conn, nodeA, nodeB, dist.LinkLimits{Message: 1 << 20})
	written := 0
	unknown := links.Checker(p)
	c := &circle{}
	c.Next = c
	deep := any(1)
	for range 2 * pack.MaxDepth {
		deep = wire.List{deep}
	}
	half := make([]byte, 600_000)
	long := wire.Atom(strings.Repeat("x", 256))
	same := func(to wire.Dest, msg any) error {
		f := dist.Frame{Op: dist.OpSend, From: onA.PID(1), Payload: msg}
		switch to := to.(type) {
		case wire.PID:
			f.To = to
		case wire.Atom:
			f.Name = to
		case wire.Ref:
			f.Ref = to
		}
		got := l.Check(to, msg)
		_, want := l.Write(&f)
		if want == nil {
			require.NoError(t, got)
			written++
			for left := 1; left > 0; {
				left, want = l.Flush(false)
				require.NoError(t, want)
			}
			return nil
		}
		require.IsType(t, &wire.EncodeError{}, got)
		require.EqualError(t, got, want.Error())
		return got
	}
	to := onB.PID(2)
	require.ErrorContains(t, same(to, c), ".Next: a cycle: this *native.circle refers to itself")
	require.ErrorContains(t, unknown.Check(to, c), ".Next: a cycle: this *native.circle refers to itself")
	require.ErrorContains(t, same(to, wire.Tuple{1, make(chan int)}), "{2}: a Go value of type chan int")
	require.ErrorContains(t, same(to, panics{}), "panics when asked for its bytes: no bytes")
	require.ErrorContains(t, same(to, deep), "nested deeper")
	require.ErrorContains(t, same(to, long), "an atom")
	require.ErrorContains(t, same(long, 1), "an atom")
	require.ErrorContains(t, same(to, wire.Tuple{half, half}), "a message of more than 1048576 bytes")
	require.NoError(t, unknown.Check(to, wire.Tuple{half, half}), "the limit is not known")
	for _, v := range []any{half, "text", wire.PID{}, math.NaN(), &circle{}, []int64{1}} {
		require.NoError(t, same(to, v))
		require.NoError(t, unknown.Check(to, v))
	}
	require.NoError(t, same(wire.Atom("name"), 1))
	require.NoError(t, same(onB.RefOf(3), 1))
	r := testkit.Rand(t)
	words := []any{1, "x", 2.5, wire.Atom("a"), wire.Atom("b"), onA.PID(5), onB.RefOf(9), []byte("y"), nil, false}
	for range 500 {
		require.NoError(t, same(to, termtest.Of(r, words, 4)))
	}

	peer := p.over(&stream{in: conn.out}, nodeB, nodeA, dist.LinkLimits{Message: 1 << 20})
	for range written {
		require.NoError(t, peer.Read(new(dist.Frame)))
	}
	require.ErrorIs(t, peer.Read(new(dist.Frame)), io.ErrUnexpectedEOF)
}

// Many goroutines check while others write.
func TestCheckBesideWrites(t *testing.T) {
	l := new(Protocol).over(&stream{drop: true}, nodeA, nodeB, dist.LinkLimits{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 200 {
				if i == 0 {
					_, _ = l.Write(&dist.Frame{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(1), Payload: wire.Atom("a")})
					_, _ = l.Flush(false)
				} else if err := l.Check(onB.PID(1), wire.Tuple{wire.Atom("a"), "b"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
