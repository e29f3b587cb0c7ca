package peers_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/wire"
)

// Where a reply may go, by the rights of the asker: each form of From for each node that it can name.
func TestMayAnswer(t *testing.T) {
	third := wire.NewOrigin(wire.NodeID{Name: "c@h", Creation: 1})
	for _, c := range []struct {
		who string // may send to everything; may connect; nobody knows who it is, with rights and without
		may map[string]bool
	}{
		{"limited", map[string]bool{"own": true, "own cast": true, "here as theirs": true, "third as theirs": true}},
		{"full", map[string]bool{"own": true, "own cast": true, "here as theirs": true, "third as theirs": true, "theirs as third": true,
			"here alias": true, "here lent": true, "third": true,
			"here alias of another": true, "here unknown reference": true, "here in an earlier life": true, "here unknown alias": true, "theirs as here": true, "nobody, an alias of nobody": true}},
		{"unknown", map[string]bool{}},
		{"unknown, no rights", map[string]bool{"own": true, "third": true, "here as theirs": true, "third as theirs": true, "theirs as third": true}},
	} {
		g := guard(t, "connect")
		asker := g.peer.Asker()
		switch c.who {
		case "full":
			g.Rights = nil
		case "unknown":
			asker = &peers.Asker{System: &g.System}
		case "unknown, no rights":
			g.Rights, asker = nil, &peers.Asker{System: &g.System}
		}
		g.lent = g.Origin.Ref(1, 2, 3, 4, 5)
		here, victim := g.nameless.Own.PID(), g.shop.Own.PID()
		cast := wire.Atom("$gen_cast")
		alias := func(pid wire.PID, ref wire.Ref) wire.Tuple { return calls.MakeFrom(pid, ref) }
		for what, from := range map[string]wire.Tuple{
			"own":                         {theirs, farRef(3)},
			"own cast":                    {theirs, cast},
			"here alias":                  alias(here, g.alias),
			"here lent":                   alias(here, g.lent),
			"third":                       alias(third.PID(1), third.RefOf(1)),
			"here cast":                   {victim, cast},
			"here alias of another":       alias(victim, g.alias),
			"here unknown reference":      {victim, g.Origin.RefOf(77)},
			"here unknown alias":          alias(victim, g.Origin.RefOf(77)),
			"here with theirs":            {victim, farRef(3)},
			"here as theirs":              alias(victim, farRef(3)),
			"theirs as here":              alias(theirs, g.Origin.RefOf(77)),
			"third cast":                  {third.PID(1), cast},
			"third with theirs":           {third.PID(1), farRef(3)},
			"third as theirs":             alias(third.PID(1), farRef(3)),
			"theirs as third":             alias(theirs, third.RefOf(1)),
			"here in an earlier life":     alias(wire.NewOrigin(wire.NodeID{Name: here.Node(), Creation: 99}).PID(1), g.alias),
			"nobody, an alias of nobody":  alias(wire.PID{}, g.Origin.RefOf(77)),
			"nobody, an atom in its tag":  {wire.AtomUndefined, wire.ImproperList{Head: []any{wire.Atom("alias")}, Tail: third.RefOf(1)}},
			"theirs, a list in its tag":   {theirs, wire.List{cast}},
			"here, a list as the tag":     {victim, wire.List{cast}},
			"third, an earlier reference": {third.PID(1), g.Origin.RefOf(1)},
		} {
			want := c.may[what]
			switch what {
			case "theirs, a list in its tag":
				want = c.may["own cast"]
			case "nobody, an atom in its tag":
				want = c.may["third"]
			}
			f, ok := calls.ReadFrom(from)
			require.True(t, ok, what)
			if strings.HasPrefix(c.who, "unknown") && f.Node() == g.System.Name {
				want = what != "here cast" // as a process of this node says
			}
			require.Equal(t, want, asker.MayAnswer(f), "%s: %s", c.who, what)
		}
		require.True(t, (*peers.Asker)(nil).MayAnswer(calls.From{PID: victim}), "the program")
	}
}
