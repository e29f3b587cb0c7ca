package process_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/tables"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
)

// A name leads to its process until that ends, and may then be another's.
func TestNames(t *testing.T) {
	s := newSystem(t)
	p, q := s.spawn(), s.spawn()
	p.register("shop")
	require.Equal(t, wire.Atom("shop"), p.Cold.Name)
	require.Same(t, &p.Process, s.Whose("shop"))
	got, msg, err := s.take(wire.Atom("shop"), "m")
	require.NoError(t, err)
	require.Same(t, &p.Process, got)
	require.Equal(t, "m", msg)
	require.ErrorIs(t, s.Names.Enter((*process.Named)(&q.Process), tables.NameEntry{Name: "shop"}), tables.ErrTaken)
	p.die("x")
	_, _, err = s.take(wire.Atom("shop"), "m")
	require.ErrorIs(t, err, process.ErrNoName)
	require.ErrorIs(t, err, process.ErrNoProcess)
	require.ErrorContains(t, err, "shop")
	require.Equal(t, []string{"no_process shop m"}, s.dead())
	require.ErrorIs(t, s.Names.Enter((*process.Named)(&p.Process), tables.NameEntry{Name: "other"}), process.ErrNoProcess)
	q.register("shop")
	s.Stopped.Store(true)
	_, _, err = s.take(wire.Atom("none"), "m")
	require.Equal(t, process.ErrNodeStopped, err)
	require.Equal(t, []string{"node_stopped none m"}, s.dead())
}

// Name returns what logs call a process.
func TestName(t *testing.T) {
	s := newSystem(t)
	p := s.spawn()
	require.Equal(t, p.PID().String(), p.Process.Name())
	p.register("shop")
	require.Equal(t, p.PID().String()+" shop", p.Process.Name())
	p.Cold.Label = "the shop"
	require.Equal(t, p.PID().String()+" shop the shop", p.Process.Name())
}

// take returns the process that a message to a destination reaches, and what that process gets.
func (s *system) take(to wire.Dest, msg any) (*process.Process, any, error) {
	t := s.Target(to)
	msg, err := s.Take(&t, msg)
	return t.Process, msg, err
}

// What each destination means, and what becomes of a message where there is no process.
func TestTarget(t *testing.T) {
	s := newSystem(t)
	p := s.spawn()
	p.register("shop")
	once, alias, used := p.as.Alias(true, nil), p.as.Alias(false, nil), p.as.Alias(true, nil)
	s.take(used, "m")
	away := far(0).Origin().RefOf(alias.Number())
	s.Global = &tables.GlobalNames{}
	s.Global.Put("everywhere", tables.GlobalEntry{PID: far(3)})
	s.Global.Put("here", tables.GlobalEntry{PID: p.PID()})
	gone, old, nothing := s.Origin.PID(999), earlier(1), "no_process "+wire.PID{}.String()
	for what, c := range map[string]struct {
		to     wire.Dest
		is     wire.PID  // zero if there is none, or it is not known
		there  bool      // on the other node
		at     wire.Atom // the name there
		err    error     // of a message; nil: it is sent there
		letter string
	}{
		"a PID":                       {to: p.PID(), is: p.PID()},
		"a PID there":                 {to: far(1), is: far(1), there: true},
		"one that is gone":            {to: gone, is: gone, err: process.ErrNoProcess, letter: "no_process " + gone.String()},
		"one of an earlier life":      {to: old, is: old, err: process.ErrNoProcess, letter: "old_incarnation " + old.String()},
		"no PID":                      {to: wire.PID{}, err: process.ErrNoDest, letter: nothing},
		"nothing":                     {to: nil, err: process.ErrNoDest, letter: nothing},
		"a name":                      {to: wire.Atom("shop"), is: p.PID()},
		"a name that nobody has":      {to: wire.Atom("none"), err: process.ErrNoName, letter: "no_process none"},
		"a name at this node":         {to: wire.At{Name: "shop", Node: here}, is: p.PID()},
		"a name nowhere":              {to: wire.At{Name: "shop"}, err: process.ErrNoDest, letter: nothing},
		"a name there":                {to: wire.At{Name: "shop", Node: there}, there: true, at: "shop"},
		"an alias":                    {to: alias, is: p.PID()},
		"a reply alias":               {to: once, is: p.PID()},
		"an alias that is used up":    {to: used, err: process.ErrNoProcess, letter: "no_alias alias"},
		"no alias":                    {to: wire.Ref{}, err: process.ErrNoDest, letter: nothing},
		"an alias of an earlier life": {to: old.Origin().RefOf(alias.Number()), err: process.ErrNoProcess, letter: "no_alias alias"},
		"an alias there":              {to: away, there: true, at: tables.OfAlias(away).Name},
		"the name of an alias":        {to: tables.OfAlias(alias).Name, is: p.PID()},
		"of one that is used up":      {to: tables.OfAlias(used).Name, err: process.ErrNoProcess, letter: "no_alias alias"},
		"of one there":                {to: tables.OfAlias(away), there: true, at: tables.OfAlias(away).Name},
		"of none":                     {to: wire.Atom("$alias:1"), err: process.ErrNoName, letter: "no_process $alias:1"},
		"a global name":               {to: tables.Global{Name: "here"}, is: p.PID()},
		"a global name there":         {to: tables.Global{Name: "everywhere"}, is: far(3), there: true},
		"a global name that none has": {to: tables.Global{Name: "nowhere"}, err: process.ErrNoName, letter: nothing},
	} {
		to := s.Target(c.to)
		require.Equal(t, c.is, to.PID, what)
		require.Equal(t, c.there, to.Node != "", what)
		require.Equal(t, c.at != "", to.ByName(), what)
		if c.at != "" {
			require.Equal(t, wire.At{Name: c.at, Node: there}, to.At(), what)
		}
		require.Equal(t, c.is == p.PID(), to.Process == &p.Process, what)
		require.Same(t, &p.Process, s.AliasOwner(once), "it is not used up")
		if c.there {
			continue
		}
		_, err := s.Take(&to, "m")
		require.ErrorIs(t, err, c.err, what)
		require.Equal(t, c.err != nil, to.Process == nil, what)
		if what == "a reply alias" {
			once = p.as.Alias(true, nil)
		}
		if c.letter == "" {
			require.Empty(t, s.dead(), what)
		} else {
			require.Equal(t, []string{c.letter + " m"}, s.dead(), what)
		}
	}
	require.NotEqual(t, s.NewRef(), s.NewRef())
	require.NotEqual(t, s.NewNumber(), s.NewNumber())
}

// A message to an alias: what becomes of it, who gets it, and whether the alias exists afterwards.
func TestAliases(t *testing.T) {
	s := newSystem(t)
	p, q := s.spawn(), s.spawn()
	asText := func(msg any) (any, bool) { return fmt.Sprint("<", msg, ">"), msg != "bad" }

	send := func(ref wire.Ref, msg any) (*process.Process, any) {
		to, m, _ := s.take(ref, msg)
		return to, m
	}
	for _, byName := range []bool{false, true} {
		if byName {
			send = func(ref wire.Ref, msg any) (*process.Process, any) {
				to, m, err := s.take(tables.OfAlias(ref).Name, msg)
				if to == nil {
					require.Equal(t, process.ErrNoProcess, err)
					require.Equal(t, []string{fmt.Sprint(msg, " exited: noproc true")}, s.unanswered)
					s.unanswered = nil
				}
				return to, m
			}
		}
		many, once, text := p.as.Alias(false, nil), p.as.Alias(true, nil), p.as.Alias(true, asText)
		require.Len(t, p.Cold.Aliases, 3)
		for range 2 {
			to, m := send(many, 1)
			require.Same(t, &p.Process, to)
			require.Equal(t, 1, m)
		}
		to, _ := send(once, 1)
		require.Same(t, &p.Process, to)
		to, _ = send(text, "bad")
		require.Nil(t, to)
		require.Equal(t, []string{"wrong_type alias bad"}, s.dead())
		to, m := send(text, 1)
		require.Same(t, &p.Process, to)
		require.Equal(t, "<1>", m)
		require.Len(t, p.Cold.Aliases, 1)
		for _, used := range []wire.Ref{once, text, s.NewRef()} {
			to, _ = send(used, 2)
			require.Nil(t, to)
			require.Equal(t, []string{"no_alias alias 2"}, s.dead())
		}
		s.answers = func(ref wire.Ref, msg any) bool { return ref == once && msg == 3 }
		to, _ = send(once, 3)
		require.Nil(t, to)
		require.Empty(t, s.dead(), "that has answered a call")
		s.answers = nil

		require.False(t, q.Unalias(many), "another's")
		q.ColdPart()
		require.False(t, q.Unalias(many))
		require.False(t, p.Unalias(far(0).Origin().RefOf(many.Number())))
		require.Same(t, &p.Process, s.AliasOwner(many))
		require.True(t, p.Unalias(many))
		require.False(t, p.Unalias(many))
		require.Nil(t, s.AliasOwner(many))
	}
	// An alias of another node is none here, whatever its number.
	many := p.as.Alias(false, nil)
	to, _, _ := s.take(earlier(0).Origin().RefOf(many.Number()), 1)
	require.Nil(t, to)
	s.dead()
	p.die("x")
	require.Nil(t, s.AliasOwner(many))
	require.Nil(t, s.AliasOwner(p.as.Alias(false, nil)), "the dead make none")
	require.Zero(t, s.Names.Aliases.Len())
}

// A link by a name on another node is made when that node has answered, and is taken away by name.
func TestLinkName(t *testing.T) {
	at, other := wire.At{Name: "shop", Node: there}, wire.At{Name: "other", Node: there}
	begin := func(with ...func(*proc)) (*system, *remote, *proc) {
		s := newSystem(t)
		r := s.connect(there)
		p := s.spawn(with...)
		p.LinkName(&p.as, at)
		require.False(t, p.LinkedName(at))
		return s, r, p
	}
	s, r, p := begin(kept)
	s.asked[0](far(1), nil)
	require.True(t, p.LinkedName(at))
	require.False(t, p.LinkedName(other))
	require.Equal(t, []string{fmt.Sprint("link ", far(1))}, r.told())
	p.UnlinkName(&p.as, at)
	require.Empty(t, p.links())
	require.False(t, p.LinkedName(at))
	require.Equal(t, []string{fmt.Sprint("unlink ", p.ID, " ", far(1))}, r.told())

	p.Link(&p.as, far(2)) // by its PID; unlinked by its name
	p.UnlinkName(&p.as, other)
	s.asked[1](wire.PID{}, process.NoProc)
	require.Equal(t, []wire.PID{far(2)}, p.links())
	p.UnlinkName(&p.as, other)
	s.asked[2](far(2), nil)
	require.Empty(t, p.links())

	// Unlinked before the answer.
	s, r, p = begin()
	p.UnlinkName(&p.as, at)
	s.asked[0](far(1), nil)
	require.Empty(t, p.links())
	require.Empty(t, r.told())

	// Unlinked while the link is made.
	s, r, p = begin()
	r.then = func() { p.UnlinkName(&p.as, at) }
	s.asked[0](far(1), nil)
	require.Empty(t, p.links())
	require.Contains(t, r.told(), fmt.Sprint("unlink ", p.ID, " ", far(1)))

	// Nobody has the name, or the node is not there.
	for _, why := range []wire.Atom{process.NoProc, process.NoConnection} {
		s, _, p = begin()
		s.asked[0](wire.PID{}, why)
		require.Equal(t, why, p.Reason())
		s, _, p = begin(trapping)
		s.asked[0](wire.PID{}, why)
		require.Equal(t, []any{exited(wire.PID{}, why)}, p.took())
	}

	// Dead before the answer, and before the question.
	s, r, p = begin()
	p.die("x")
	require.Nil(t, p.NameLinksLocked())
	s.asked[0](far(1), nil)
	require.Empty(t, r.told())
	p.LinkName(&p.as, at)
	require.Len(t, s.asked, 1)
	n := 0
	s.ByName.Range(func(any, any) bool { n++; return true })
	require.Zero(t, n)
}

// The group leader of processes that have one of their own.
func TestLeader(t *testing.T) {
	s := newSystem(t)
	p := s.spawn()
	require.Zero(t, p.OwnLeader())
	p.ColdPart()
	require.Zero(t, p.OwnLeader())
	p.Follow(far(1))
	require.True(t, p.Led)
	require.Equal(t, far(1), p.OwnLeader())
}
