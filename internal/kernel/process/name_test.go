package process_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/tables"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
)

// A name leads to its process until that ends, and may be another's then.
func TestNames(t *testing.T) {
	s := newSystem(t)
	p, q := s.spawn(), s.spawn()
	p.register("shop")
	require.Equal(t, wire.Atom("shop"), p.Cold.Name)
	require.Same(t, &p.Process, s.Whose("shop"))
	got, msg, err := s.Named("shop", "m")
	require.NoError(t, err)
	require.Same(t, &p.Process, got)
	require.Equal(t, "m", msg)
	require.ErrorIs(t, s.Names.Enter((*process.Named)(&q.Process), tables.NameEntry{Name: "shop"}), tables.ErrTaken)
	p.die("x")
	_, _, err = s.Named("shop", "m")
	require.ErrorIs(t, err, process.ErrNoName)
	require.ErrorIs(t, err, process.ErrNoProcess)
	require.ErrorContains(t, err, "shop")
	require.Equal(t, []string{"no_process shop m"}, s.dead())
	require.ErrorIs(t, s.Names.Enter((*process.Named)(&p.Process), tables.NameEntry{Name: "other"}), process.ErrNoProcess)
	q.register("shop")
	s.Stopped.Store(true)
	_, _, err = s.Named("none", "m")
	require.Equal(t, process.ErrNodeStopped, err)
	require.Equal(t, []string{"node_stopped none m"}, s.dead())
}

// Name is what logs say of a process.
func TestName(t *testing.T) {
	s := newSystem(t)
	p := s.spawn()
	require.Equal(t, p.PID().String(), p.Process.Name())
	p.register("shop")
	require.Equal(t, p.PID().String()+" shop", p.Process.Name())
	p.Cold.Label = "the shop"
	require.Equal(t, p.PID().String()+" shop the shop", p.Process.Name())
}

// What destinations stand for.
func TestResolve(t *testing.T) {
	s := newSystem(t)
	p := s.spawn()
	p.register("shop")
	once, alias := p.as.Alias(true, nil), p.as.Alias(false, nil)
	s.Global = &tables.GlobalNames{}
	s.Global.Put("everywhere", tables.GlobalEntry{PID: far(3)})
	global, nobody := tables.Global{Name: "everywhere"}, tables.Global{Name: "nowhere"}
	for _, c := range []struct {
		to      wire.Dest
		is      wire.PID // zero: nobody
		current wire.Dest
	}{
		{p.PID(), p.PID(), p.PID()},
		{far(1), far(1), far(1)},
		{wire.Atom("shop"), p.PID(), wire.Atom("shop")},
		{wire.Atom("none"), wire.PID{}, wire.Atom("none")},
		{wire.At{Name: "shop", Node: there}, wire.PID{}, wire.At{Name: "shop", Node: there}},
		{once, p.PID(), once},
		{alias, p.PID(), alias},
		{s.NewRef(), wire.PID{}, nil},
		{global, far(3), far(3)},
		{nobody, wire.PID{}, wire.PID{}},
	} {
		pid, ok := s.Resolve(c.to)
		require.Equal(t, c.is, pid, "%v", c.to)
		require.Equal(t, !c.is.IsZero(), ok)
		if c.current != nil {
			require.Equal(t, c.current, s.Current(c.to))
		}
	}
	require.Same(t, &p.Process, s.AliasOwner(once), "it is not used up")
	at, away := s.Elsewhere(wire.At{Name: "shop", Node: there})
	require.True(t, away)
	require.Equal(t, wire.At{Name: "shop", Node: there}, at)
	require.NotEqual(t, s.NewRef(), s.NewRef())
	require.NotEqual(t, s.NewNumber(), s.NewNumber())
}

// A message to an alias: what it becomes, who gets it, whether the alias is there afterwards.
func TestAliases(t *testing.T) {
	s := newSystem(t)
	p, q := s.spawn(), s.spawn()
	asText := func(msg any) (any, bool) { return fmt.Sprint("<", msg, ">"), msg != "bad" }

	send := func(ref wire.Ref, msg any) (*process.Process, any) { return s.Aliased(ref, msg) }
	for _, byName := range []bool{false, true} {
		if byName {
			send = func(ref wire.Ref, msg any) (*process.Process, any) {
				to, m, err := s.Named(tables.OfAlias(ref).Name, msg)
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
	// That of another node is none here, whatever its number.
	many := p.as.Alias(false, nil)
	to, _ := s.Aliased(far(0).Origin().RefOf(many.Number()), 1)
	require.Nil(t, to)
	s.dead()
	p.die("x")
	require.Nil(t, s.AliasOwner(many))
	require.Nil(t, s.AliasOwner(p.as.Alias(false, nil)), "the dead make none")
	require.Zero(t, s.Names.Aliases.Len())
}

// A link by a name on another node is made when that has answered, and is taken away by name.
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
		require.Equal(t, []any{exited{wire.PID{}, why}}, p.took())
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

// The group leader, of those that have one of their own.
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
