package tables_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
)

var (
	origin  = wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 1})
	errGone = errors.New("no such process")
)

// process is a process without code.
type process struct {
	sync.Mutex
	id   uint64
	name wire.Atom
	gone bool
}

func (p *process) PID() wire.PID          { return origin.PID(p.id) }
func (p *process) Name() wire.Atom        { return p.name }
func (p *process) SetName(name wire.Atom) { p.name = name }

func (p *process) Alive() error {
	if p.gone {
		return errGone
	}
	return nil
}

type table = tables.Names[*process]

func TestEnter(t *testing.T) {
	tab := &table{}
	a, b, dead := &process{id: 1}, &process{id: 2}, &process{id: 3, gone: true}
	require.Nil(t, tab.Get("x"))
	require.NoError(t, tab.Enter(a, tables.NameEntry{Name: "x"}))
	require.Same(t, a, tab.Get("x"))
	require.Equal(t, wire.Atom("x"), a.name)
	for _, c := range []struct {
		p    *process
		name wire.Atom
		is   error
		says string
	}{
		{b, "", tables.ErrArgument, "want 1 to 255 characters"},
		{b, "undefined", tables.ErrArgument, "any name but undefined"},
		{b, wire.Atom(strings.Repeat("ä", 256)), tables.ErrArgument, ""},
		{b, "x", tables.ErrTaken, "x is the name of " + a.PID().String()},
		{a, "y", tables.ErrTaken, "is already registered as x"},
		{dead, "y", errGone, ""},
	} {
		err := tab.Enter(c.p, tables.NameEntry{Name: c.name})
		require.ErrorIs(t, err, c.is, c.name)
		require.ErrorContains(t, err, c.says)
	}
	require.NoError(t, tab.Enter(b, tables.NameEntry{Name: wire.Atom(strings.Repeat("ä", 255))}))
	require.Equal(t, 2, tab.Len())

	a.gone = true // a has no claim any more, and takes nothing away from the next holder of the name
	c := &process{id: 4}
	require.NoError(t, tab.Enter(c, tables.NameEntry{Name: "x"}))
	require.False(t, tab.Remove("x", a))
	require.True(t, tab.Remove("x", c))
	require.Nil(t, tab.Get("x"))
}

func TestReserved(t *testing.T) {
	tab := &table{}
	r, ok := tab.Reserve("rex")
	require.True(t, ok)
	_, ok = tab.Reserve("rex")
	require.False(t, ok)
	a := &process{id: 1}
	require.ErrorContains(t, tab.Enter(a, tables.NameEntry{Name: "rex"}), "rex is reserved for a service")
	require.NoError(t, tab.Enter(a, tables.NameEntry{Name: "rex", By: r}))
	tab.Release(r)
	a.gone = true
	require.NoError(t, tab.Enter(&process{id: 2}, tables.NameEntry{Name: "rex"}))

	one, _ := tab.Reserve("")
	two, ok := tab.Reserve("")
	require.True(t, ok)
	require.NotSame(t, one, two)
}

// Each name that a peer has registered counts for that peer as long as the table has it, as a model of sets requires,
// whatever happens in whatever order.
func TestOwners(t *testing.T) {
	r := testkit.Rand(t)
	const most = 3
	q := limits.NewQuota(limits.Limits{Names: most})
	tab := &table{}
	type held struct {
		p    *process
		peer wire.Atom
	}
	model := make(map[wire.Atom]held)
	count := func(peer wire.Atom) (n int) {
		for _, h := range model {
			if h.peer == peer {
				n++
			}
		}
		return n
	}
	all := []wire.Atom{"a", "b", "c", "d", "e", "f", "g", "h"}
	for i := range 5000 {
		name := all[r.IntN(len(all))]
		h, taken := model[name]
		if !taken {
			h.p = &process{}
		}
		switch r.IntN(4) {
		case 0:
			require.Equal(t, taken, tab.Remove(name, h.p))
			delete(model, name)
		case 1:
			if taken {
				h.p.gone = true
			}
		default:
			peer := wire.Atom([]string{"", "p@h", "q@h"}[r.IntN(3)])
			p := &process{id: uint64(i)}
			e := tables.NameEntry{Name: name}
			if peer != "" {
				e.Take = func() (*limits.Owner, error) { return q.Owners.TakeName(rights.Identity{Name: peer}) }
			}
			err := tab.Enter(p, e)
			if taken && !h.p.gone {
				require.ErrorIs(t, err, tables.ErrTaken)
				continue
			}
			if taken && h.peer != "" { // released, whether p gets the name or not
				h.peer = ""
				model[name] = h
			}
			if peer != "" && count(peer) == most {
				require.ErrorIs(t, err, limits.ErrTooMany)
				continue
			}
			require.NoError(t, err)
			model[name] = held{p, peer}
		}
		_, names := q.Owners.Most()
		require.EqualValues(t, max(count("p@h"), count("q@h")), names)
		require.Equal(t, len(model), tab.Len())
		require.Len(t, tab.All(), len(model))
	}
}
