package process_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"

	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
)

// A death proceeds in order: all references to the process are gone before anybody is told; links are told before
// calls, and calls before monitors; the process is dead when all have been told.
func TestDeathInOrder(t *testing.T) {
	s := newSystem(t)
	s.Global = &tables.GlobalNames{Ended: func(wire.PID) { s.note("global") }}
	q := limits.NewQuota(limits.Limits{Spawned: 10})
	parent := s.spawn(named("parent"), trapping)
	p := s.spawn(named("it"), child(parent))
	owner, err := q.Owners.TakeSpawn(rights.Identity{Name: there})
	require.NoError(t, err)
	p.ColdPart().Owner = owner
	p.register("shop")
	alias := p.as.Alias(false, nil)
	ctx := p.Context()
	require.NoError(t, ctx.Err())
	target := s.spawn()
	watch := p.Monitor(&p.as, target.PID())
	require.True(t, p.Timers().Start(new(process.Timer), 1<<40, 0, "timer"))
	p.Global = true

	var told []*proc
	for _, name := range []string{"first", "second"} {
		l, w := s.spawn(named("link "+name), trapping), s.spawn(named("monitor "+name))
		w.Monitor(&w.as, p.PID())
		l.Link(&l.as, p.PID())
		told = append(told, l, w)
	}
	p.Link(&p.as, parent.PID())
	caller := s.spawn()
	call := caller.as.Requested("tag")
	call.Target, call.Waiter = &p.Process, answered(func() { s.note("call") })
	ticket := call.NewTicket()
	require.True(t, call.List())
	require.NoError(t, p.Deliver(&s.Plain, "lost"))
	for _, w := range append(told, parent) {
		w.Intake().Arm()
		w.onWake = func() {
			require.Error(t, ctx.Err())
			require.Equal(t, failed("x"), context.Cause(ctx))
			require.True(t, p.Gone())
			require.False(t, p.Status.IsDead())
			require.Nil(t, s.Lookup(p.PID()))
			require.Nil(t, s.Whose("shop"))
			require.Nil(t, s.AliasOwner(alias))
			alive, _ := s.Tally.Sum()
			require.Equal(t, 7, alive)
			require.True(t, target.Cold.Watchers.IsEmpty())
			spawned, _ := q.Owners.Most()
			require.Zero(t, spawned)
			require.True(t, p.Inbox.Closed())
			require.Empty(t, p.exits, "its code is told last")
		}
	}
	s.noted()
	p.die("x")
	require.Equal(t, []string{"wake parent", "wake link first", "wake link second", "call", "wake monitor first",
		"wake monitor second", "global", "end it"}, s.noted())
	require.True(t, p.Status.IsDead())
	require.True(t, ticket.Done())
	_, err = call.Result()
	require.Equal(t, failed("x"), err)
	require.Equal(t, []string{fmt.Sprint("no_process ", p.PID(), " timer")}, s.dead())
	require.False(t, p.Demonitor(&p.as, watch, false))
	require.Nil(t, p.Timers())
	require.Zero(t, s.Timers.Len())
	require.False(t, p.Tied)
	require.Empty(t, p.links())
	require.False(t, p.Exit(&s.Plain, "again"), "it was dead")
	require.Equal(t, "x", p.Reason())
	require.Empty(t, s.noted())
}

// Exited is told of the end of the code: whether the inbox was armed, and whether the code itself has ended the
// process.
func TestExited(t *testing.T) {
	s := newSystem(t)
	for _, armed := range []bool{false, true} {
		for _, own := range []bool{false, true} {
			p := s.spawn()
			if !armed {
				require.NoError(t, p.Deliver(&s.Plain, 1))
			}
			a := &s.Plain
			if own {
				a = &p.as
			}
			require.True(t, p.Exit(a, "x"))
			require.Equal(t, []string{fmt.Sprint("armed ", armed, " own ", own)}, p.exits)
			require.True(t, p.Status.IsDead())
		}
	}
	p := s.spawn()
	require.True(t, p.Leave(&s.Plain, "x", true))
	require.Equal(t, []string{"armed true own true"}, p.exits)
}

// A crash is reported if it is the process's own, not if a link or another process has ended it.
func TestCrashed(t *testing.T) {
	s := newSystem(t)
	p, q, killed := s.spawn(), s.spawn(), s.spawn()
	p.register("shop")
	p.Link(&p.as, q.PID())
	p.die(crash("boom"))
	killed.Exit(&s.Plain, crash("boom"))
	s.spawn().die("no crash")
	require.Equal(t, []process.Crash{{Process: &p.Process, Name: "shop", Reason: crash("boom")}}, s.crashed)
	require.Equal(t, crash("boom"), q.Reason())
}

// Broke handles a panic of the handler.
func TestBroke(t *testing.T) {
	s := newSystem(t)
	p := s.spawn(kept)
	p.Broke(&p.as, "boom")
	require.Equal(t, crash("boom"), p.Reason())
	require.Len(t, s.crashed, 1)
}

// A process that was ended from outside lingers until its function returns.
func TestLingers(t *testing.T) {
	s := newSystem(t)
	for _, busy := range []bool{false, true} {
		for _, own := range []bool{false, true} {
			p := s.spawn()
			p.busy = busy
			p.Leave(&s.Plain, "x", own)
			want := 0
			if busy && !own {
				want = 1
			}
			require.EqualValues(t, want, s.Lingering.Load())
			p.TurnOver()
			p.TurnOver()
			require.Zero(t, s.Lingering.Load())
		}
	}
	p := s.spawn()
	p.Running.Store(true)
	p.TurnOver()
	require.False(t, p.Running.Load())
	p.busy = true
	p.Exit(&s.Plain, "x")
	require.EqualValues(t, 1, s.Lingering.Load(), "that was alive when its turn ended")
}

// The context of a process says why it has ended, also to a late reader.
func TestContext(t *testing.T) {
	s := newSystem(t)
	p := s.spawn()
	ctx := p.Context()
	require.Equal(t, ctx, p.Context(), "there is one")
	require.Same(t, &p.Process, ctx.Value(process.ProcKey{}))
	p.Exit(&s.Plain, "x")
	require.Equal(t, failed("x"), context.Cause(ctx))
	late := s.spawn()
	late.Exit(&s.Plain, "y")
	require.Equal(t, failed("y"), context.Cause(late.Context()))
}

// Invariant 1 of Process: it is in the table until its status says that it is over, and nobody finds it by a PID of
// another life or of the same slot.
func TestLookup(t *testing.T) {
	s := newSystem(t)
	p := s.spawn()
	require.Same(t, &p.Process, s.Lookup(p.PID()))
	require.Same(t, &p.Process, s.Numbered(p.ID))
	require.Nil(t, s.Lookup(earlier(p.ID)))
	require.Nil(t, s.Lookup(far(p.ID)))
	require.Nil(t, s.Lookup(s.Origin.PID(p.ID+1<<32)))
	require.Nil(t, s.Lookup(wire.PID{}))
	p.die("x")
	require.Nil(t, s.Lookup(p.PID()))
	require.Nil(t, s.Numbered(p.ID))
	alive, _ := s.Tally.Sum()
	require.Zero(t, alive)
}

// A process with neither links nor anything else ends at once; if it is ended from outside, its reason is kept.
func TestReason(t *testing.T) {
	s := newSystem(t)
	p := s.spawn()
	reason, ended := p.Ended()
	require.False(t, ended)
	require.Nil(t, reason)
	require.Equal(t, process.Normal, p.Reason(), "there is none yet")
	s.ExitSignal(&s.Plain, wire.PID{}, p.PID(), process.Kill)
	reason, ended = p.Ended()
	require.True(t, ended)
	require.Equal(t, process.Killed, reason)

	s.Stopped.Store(true)
	p = s.spawn()
	p.Exit(&s.Plain, "x")
	require.Nil(t, p.Cold, "at the end of the node nobody asks, and a million processes need no memory for it")
}

// Each process counts for its worker or for all.
func TestCount(t *testing.T) {
	s := newSystem(t)
	all := []*proc{s.spawn(), s.spawn(), s.spawn()}
	alive, _ := s.Tally.Sum()
	require.Equal(t, 3, alive)
	all[0].die("x")
	all[1].Exit(&s.Plain, "x")
	alive, _ = s.Tally.Sum()
	require.Equal(t, 1, alive)
}

// If a process has a single thing, of whatever kind, that thing is told of its end.
func TestDeathOfOneThing(t *testing.T) {
	for what, c := range map[string]struct {
		with func(s *system, p *proc)
		told func(s *system, p *proc) bool
	}{
		"a context": {func(s *system, p *proc) { p.Context() }, func(s *system, p *proc) bool { return p.Context().Err() != nil }},
		"an alias": {func(s *system, p *proc) { p.as.Alias(false, nil) },
			func(s *system, p *proc) bool { return s.Names.Aliases.Len() == 0 }},
		"a monitor": {func(s *system, p *proc) { p.Monitor(&p.as, far(1)) },
			func(s *system, p *proc) bool { return len(s.remotes[there].told()) == 2 }},
		"a link": {func(s *system, p *proc) { p.Link(&p.as, far(1)) },
			func(s *system, p *proc) bool { return len(s.remotes[there].told()) == 2 }},
		"a watcher": {func(s *system, p *proc) {
			m := process.WatchedBy(s.remotes[there], far(1), far(0).Origin().RefOf(1), &p.Process, "")
			m.Attach()
		}, func(s *system, p *proc) bool { return len(s.remotes[there].told()) == 1 }},
		"a call": {func(s *system, p *proc) { s.spawn(named("caller")).ask("tag", p) },
			func(s *system, p *proc) bool { return len(s.noted()) > 0 }},
		"a timer": {func(s *system, p *proc) { p.Timers().Start(new(process.Timer), 1<<40, 0, "m") },
			func(s *system, p *proc) bool { return len(s.dead()) == 1 }},
		"a global name": {func(s *system, p *proc) { p.Global = true }, func(s *system, p *proc) bool { return len(s.noted()) == 1 }},
		"its parent": {func(s *system, p *proc) {
			parent := s.spawn(named("parent"), trapping)
			p.Parent = parent.ID + 1
			p.Link(&p.as, parent.PID())
			require.Nil(t, p.Cold, "that link takes no memory")
			parent.onWake = func() { require.False(t, p.Status.IsDead()) }
		}, func(s *system, p *proc) bool { return len(s.noted()) == 1 }},
	} {
		s := newSystem(t)
		s.connect(there)
		s.Global = &tables.GlobalNames{Ended: func(wire.PID) { s.note("global") }}
		p := s.spawn()
		c.with(s, p)
		p.die("x")
		require.True(t, c.told(s, p), what)
		require.True(t, p.Status.IsDead(), what)
	}
}
