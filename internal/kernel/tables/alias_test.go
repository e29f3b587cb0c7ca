package tables_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// An alias name is read as the reference by the node that made it, in the same life of that node.
func TestAlias(t *testing.T) {
	own := wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 0xfedcba98})
	later := wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 0xfedcba99})
	for _, n := range []uint64{1, 17, 1 << 40, math.MaxUint64} {
		at := tables.OfAlias(own.RefOf(n))
		require.Equal(t, wire.Atom("a@h"), at.Node)
		require.True(t, tables.IsAlias(at.Name))
		ref, ok := tables.Alias(at.Name, own)
		require.True(t, ok)
		require.Equal(t, own.RefOf(n), ref)
		_, ok = tables.Alias(at.Name, later)
		require.False(t, ok)
	}
	for _, bad := range []wire.Atom{
		"", "shop", "$alias", "$alias:", "$alias:fedcba98", "$alias:fedcba98.", "$alias:fedcba98.1x", "$alias:fedcba98.1 ",
		"$alias:fedcba98.-1", "$alias:fedcba98.10000000000000000", "$alias:fedcba98.01", "$alias:FEDCBA98.1", "$alias:%x.%x",
	} {
		_, ok := tables.Alias(bad, own)
		require.False(t, ok, "%q", bad)
	}
}
