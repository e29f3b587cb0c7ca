package erldist

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/termtest"
	"github.com/actornode/actornode/internal/wire/erlflags"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// foreign returns a term for errors only.
func foreign(v any) (any, error) {
	if err, ok := v.(error); ok {
		return err.Error(), nil
	}
	return nil, fmt.Errorf("a %T is no term", v)
}

// Check agrees with Write, for a node of OTP and for a Go node.
func TestCheck(t *testing.T) {
	seen := 0
	for _, goNode := range []bool{false, true} {
		flags := erlflags.Announced
		if goNode {
			flags = withValues
		}
		l := newLink(&stream{}, peerOrigin.NodeID(), dist.Peer{ID: self, Flags: uint64(flags)}, dist.LinkLimits{Message: 1 << 20},
			foreign)
		l.out.setValues(packed{&seen})
		to := wire.NewOrigin(self).PID(7)
		same := func(to wire.Dest, msg any) error {
			f := dist.Frame{Op: dist.OpSend, From: peerOrigin.PID(1), Payload: msg}
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
			for left := 1; left > 0; {
				var err error
				left, err = l.Flush(false)
				require.NoError(t, err)
			}
			if want == nil {
				require.NoError(t, got)
				return nil
			}
			require.IsType(t, &wire.EncodeError{}, got)
			require.EqualError(t, got, want.Error())
			return got
		}
		ring := wire.List{nil}
		ring[0] = ring
		require.Error(t, same(to, ring))
		require.Error(t, same(to, wire.Tuple{1, make(chan int)}))
		require.Error(t, same(to, wire.Atom(strings.Repeat("x", 256))))
		require.Error(t, same(wire.Atom("\xff"), 1))
		require.ErrorContains(t, l.Check(to, make([]byte, 2<<20)), "at most 1048576 are allowed")
		require.NoError(t, same(to, make([]byte, 100_000)))
		require.NoError(t, same(wire.Atom("name"), "text"))
		require.NoError(t, same(wire.NewOrigin(self).RefOf(3), 1))
		require.Equal(t, goNode, same(to, math.NaN()) == nil)
		require.Equal(t, goNode, same(to, errors.New("x")) != nil)
		g := termtest.New(t)
		for range 300 {
			if err := same(to, g.Term(4)); err != nil {
				require.True(t, goNode)
				require.ErrorContains(t, err, "nested in keys of maps deeper than")
			}
		}
	}
	old := newLink(&stream{}, peerOrigin.NodeID(), dist.Peer{ID: self, Flags: uint64(erlflags.Announced &^
		(erlflags.Alias | erlflags.AltactSig))}, dist.LinkLimits{}, nil)
	require.ErrorContains(t, old.Check(wire.NewOrigin(self).RefOf(3), 1), "it lacks the flag ALIAS")
}

// For an unknown peer, Check refuses what no peer takes.
func TestCheckForUnknownPeer(t *testing.T) {
	seen := 0
	both := &Protocol{Foreign: foreign, Values: packed{&seen}}
	otp := &Protocol{Foreign: foreign}
	to := peerOrigin.PID(1)
	require.NoError(t, both.Check(to, math.NaN()), "a Go node takes it")
	require.NoError(t, both.Check(to, errors.New("x")), "a node of OTP takes it")
	require.ErrorContains(t, both.Check(to, make(chan int)), "a Go value of type chan int is no term", "as towards a Go node")
	require.ErrorContains(t, otp.Check(to, math.NaN()), "NaN")
	require.NoError(t, otp.Check(to, errors.New("x")))
	require.NoError(t, otp.Check(wire.Atom("name"), make([]byte, 1<<20)))
}
