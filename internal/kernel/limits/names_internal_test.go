package limits

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

func TestNames(t *testing.T) {
	var n DynamicNames
	a, again := n.Take("h", 36*35+10, 7)
	require.False(t, again)
	require.Equal(t, wire.NodeID{Name: "ZA@h", Creation: 7}, a)
	b, again := n.Take("h", math.MaxUint64, 0)
	require.False(t, again, "the first is in use")
	require.Equal(t, wire.NodeID{Name: "3W5E11264SGSF@h", Creation: 4}, b)
	n.Give(a)
	_, again = n.Take("other", 1, 9)
	require.False(t, again, "it is of another host")
	n.Give(b)
	for _, want := range []wire.NodeID{{Name: b.Name, Creation: 5}, {Name: a.Name, Creation: 8}} {
		got, again := n.Take("h", 1, 1)
		require.True(t, again)
		require.Equal(t, want, got)
	}
	require.Empty(t, n.free)
	n.Give(wire.NodeID{})
	n.Give(wire.NodeID{Name: "x@h", Creation: math.MaxUint32})
	got, _ := n.Take("h", 1, 1)
	require.EqualValues(t, 4, got.Creation, "0 to 3 are no creations of OTP's")
}

// However many hosts a peer names, the number that is kept is bounded.
func TestNamesAreBounded(t *testing.T) {
	var n DynamicNames
	for i := range 3 * maxFreeNames {
		id, _ := n.Take(fmt.Sprint("h", i), uint64(i), 9)
		n.Give(id)
	}
	require.Len(t, n.free, maxFreeNames)
	require.Equal(t, maxFreeNames, n.count)
	for i := range maxFreeNames {
		_, again := n.Take(fmt.Sprint("h", i), 1, 9)
		require.True(t, again)
	}
	require.Empty(t, n.free)
	require.Zero(t, n.count)
}
