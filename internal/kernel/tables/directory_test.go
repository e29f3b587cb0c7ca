package tables_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// What each destination stands for, on this node and on others.
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
	for what, c := range map[string]struct {
		to   wire.Dest
		is   *process
		at   wire.At
		away bool
	}{
		"a name":                        {to: atom("x"), is: p},
		"a name that nobody has":        {to: atom("y")},
		"a name here":                   {to: wire.At{Name: "x", Node: "a@h"}, is: p, at: wire.At{Name: "x", Node: "a@h"}},
		"a name there":                  {to: wire.At{Name: "x", Node: "b@h"}, at: wire.At{Name: "x", Node: "b@h"}, away: true},
		"an alias":                      {to: alias, is: q},
		"an alias that is used up":      {to: used},
		"the name of an alias":          {to: tables.OfAlias(alias).Name, is: q},
		"the name of a used-up alias":   {to: tables.OfAlias(used).Name},
		"the name of an alias there":    {to: tables.OfAlias(other), at: tables.OfAlias(other), away: true},
		"an alias there":                {to: other, at: tables.OfAlias(other), away: true},
		"an alias of an earlier life":   {to: before, at: tables.OfAlias(before), away: true},
		"no alias":                      {to: wire.Ref{}},
		"nobody":                        {to: nil},
		"a PID, which is not a name":    {to: origin.PID(1)},
		"the name of no alias":          {to: atom("$alias:1")},
		"the name of an alias, cut off": {to: tables.OfAlias(alias).Name[:7]},
	} {
		require.Same(t, c.is, d.Find(c.to), what)
		at, away := d.Elsewhere(c.to)
		require.Equal(t, c.away, away, what)
		if away {
			require.Equal(t, c.at, at, what)
		}
	}
	require.Same(t, q, d.Owner(alias))
	require.Nil(t, d.Owner(before))
	require.Same(t, p, d.Whose("x"))
}

func atom(s string) wire.Atom { return wire.Atom(s) }
