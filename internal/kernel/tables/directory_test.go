package tables_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// Who has a name, or an alias.
func TestDirectory(t *testing.T) {
	var d tables.Directory[process, *process]
	d.Init(origin)
	p, q := &process{id: 1}, &process{id: 2}
	require.NoError(t, d.Enter(p, tables.NameEntry{Name: "x"}))
	alias, used, other := origin.RefOf(7), origin.RefOf(8), wire.NewOrigin(wire.NodeID{Name: "b@h", Creation: 1}).RefOf(7)
	before := wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 9}).RefOf(7)
	d.Aliases.Add(7, q, false, nil)
	d.Aliases.Add(8, q, true, nil)
	d.Aliases.Take(8, 1)
	require.Same(t, q, d.Owner(alias))
	for _, none := range []wire.Ref{used, other, before, {}} {
		require.Nil(t, d.Owner(none))
	}
	require.Same(t, p, d.Whose("x"))
	require.Same(t, q, d.Whose(tables.OfAlias(alias).Name))
	for _, none := range []wire.Atom{"y", tables.OfAlias(used).Name, "$alias:1", tables.OfAlias(alias).Name[:7]} {
		require.Nil(t, d.Whose(none))
	}
}
