package peers_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/testkit"

	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

var _ process.Remote = (*peers.Peer)(nil)

// The peer is told once of everything that a process here does to one of its processes.
func TestNearToFar(t *testing.T) {
	s := newSystem(t, 100)
	p := s.spawn()
	me := p.Own.PID()
	said := func(want ...dist.Frame) {
		t.Helper()
		if want == nil {
			require.Empty(t, s.said())
			return
		}
		require.Equal(t, want, s.said())
	}
	p.Own.Link(&p.Acting, far(1))
	said(dist.Frame{Op: dist.OpLink, From: me, To: far(1)})
	require.True(t, p.linked(far(1)))
	p.Own.Link(&p.Acting, far(1))
	said()
	p.Own.Unlink(&p.Acting, far(1))
	said(dist.Frame{Op: dist.OpUnlink, ID: 1, From: me, To: far(1)})
	require.False(t, p.linked(far(1)))
	p.Own.Link(&p.Acting, far(1))
	p.Own.Link(&p.Acting, far(2))
	s.said()

	ref := p.Own.Monitor(&p.Acting, far(3))
	said(dist.Frame{Op: dist.OpMonitor, From: me, To: far(3), Ref: ref})
	byName := p.Own.Monitor(&p.Acting, wire.At{Name: "shop", Node: there})
	said(dist.Frame{Op: dist.OpMonitor, From: me, Name: "shop", Ref: byName})
	require.True(t, p.Own.Demonitor(&p.Acting, byName, false))
	said(dist.Frame{Op: dist.OpDemonitor, From: me, Name: "shop", Ref: byName})
	p.Own.MonitorNode(&p.Acting, there)
	said()
	s.ExitSignal(&p.Acting, me, far(4), wrapped)
	said(dist.Frame{Op: dist.OpSignal, From: me, To: far(4), Payload: changed})

	p.Close(wrapped)
	said(dist.Frame{Op: dist.OpDemonitor, From: me, To: far(3), Ref: ref},
		dist.Frame{Op: dist.OpExit, From: me, To: far(1), Payload: changed},
		dist.Frame{Op: dist.OpExit, From: me, To: far(2), Payload: changed})
	require.Equal(t, there, s.peer.NodeName())
}

// A link that the peer makes has two ends, or is answered.
func TestLinkMade(t *testing.T) {
	s := newSystem(t, 2)
	p, gone := s.spawn(), s.spawn()
	gone.Close("x")
	make := func(from, to wire.PID) []dist.Frame {
		s.peer.HandleLink(&dist.Frame{Op: dist.OpLink, From: from, To: to})
		return s.said()
	}
	me := p.Own.PID()
	for range 2 {
		require.Empty(t, make(far(1), me))
		require.True(t, p.linked(far(1)))
	}
	require.Empty(t, make(far(2), me))
	require.Equal(t, []dist.Frame{{Op: dist.OpExit, From: me, To: far(3), Payload: limits.SystemLimit}}, make(far(3), me))
	require.False(t, p.linked(far(3)))
	for _, to := range []wire.PID{gone.Own.PID(), earlier(p.Own.ID), s.Origin.PID(999), far(p.Own.ID)} {
		require.Equal(t, []dist.Frame{{Op: dist.OpExit, From: to, To: far(1), Payload: process.NoProc}}, make(far(1), to))
	}
	require.Equal(t, process.NoProc, s.peer.AcceptLink(&gone.Own, far(1)), "it has died meanwhile")
	p.Close("y")
	require.Equal(t, []dist.Frame{{Op: dist.OpExit, From: me, To: far(1), Payload: "y"},
		{Op: dist.OpExit, From: me, To: far(2), Payload: "y"}}, s.said())
}

// A link that the peer takes away is gone, and the unlink is acknowledged, whoever it was for.
func TestLinkTaken(t *testing.T) {
	s := newSystem(t, 9)
	p := s.spawn()
	s.peer.HandleLink(&dist.Frame{From: far(1), To: p.Own.PID()})
	p.Own.Link(&p.Acting, far(2))
	s.said()
	gone := s.spawn()
	gone.Close("x")
	for i, c := range []struct {
		from, to wire.PID
		left     []bool // linked to 1, to 2
	}{
		{far(3), p.Own.PID(), []bool{true, true}},
		{far(1), gone.Own.PID(), []bool{true, true}},
		{far(1), earlier(p.Own.ID), []bool{true, true}},
		{far(1), p.Own.PID(), []bool{false, true}},
		{far(1), p.Own.PID(), []bool{false, true}},
		{far(2), p.Own.PID(), []bool{false, false}},
	} {
		s.peer.HandleUnlink(&dist.Frame{Op: dist.OpUnlink, ID: uint64(i + 1), From: c.from, To: c.to})
		require.Equal(t, []dist.Frame{{Op: dist.OpUnlinkAck, ID: uint64(i + 1), From: c.to, To: c.from}}, s.said())
		require.Equal(t, c.left, []bool{p.linked(far(1)), p.linked(far(2))}, i)
	}
	p.Close("x")
	require.Empty(t, s.said())
}

// An exit over a link does what one of this node does, except to protected processes.
func TestLinkBroken(t *testing.T) {
	for _, c := range []struct {
		reason           any
		traps, protected bool
		why              any // nil: it lives
		message          any // its reason; nil: none
	}{
		{reason: process.Normal},
		{reason: wire.Atom("boom"), why: wire.Atom("boom")},
		{reason: (*values.Exit)(nil), why: changed},
		{reason: process.Kill, why: process.Kill},
		{reason: process.Normal, traps: true, message: process.Normal},
		{reason: wire.Atom("boom"), traps: true, message: wire.Atom("boom")},
		{reason: (*values.Exit)(nil), traps: true, message: changed},
		{reason: wire.Atom("boom"), protected: true},
		{reason: wire.Atom("boom"), protected: true, traps: true, message: wire.Atom("boom")},
	} {
		for _, lost := range []bool{false, true} {
			s := newSystem(t, 9)
			p, neighbour := s.spawn(), s.spawn(trapping)
			p.Own.SetTrap(c.traps)
			p.Own.Protected = c.protected
			neighbour.Own.Link(&neighbour.Acting, p.Own.PID())
			brk := func(reason any) {
				if lost {
					if reason == any((*values.Exit)(nil)) {
						reason = changed
					}
					s.peer.LoseLink(peers.Link{Near: p.Own.ID, Far: far(1)}, reason)
					return
				}
				s.peer.HandleExit(&dist.Frame{Op: dist.OpExit, From: far(1), To: p.Own.PID(), Payload: reason})
			}
			brk("not linked")
			require.False(t, p.Own.Gone())
			s.peer.HandleLink(&dist.Frame{From: far(1), To: p.Own.PID()})
			brk(c.reason)
			reason, ended := p.Own.Ended()
			require.Equal(t, c.why != nil, ended, "%+v", c)
			require.Equal(t, c.why, reason, "%+v", c)
			require.False(t, p.linked(far(1)))
			if ended {
				require.Equal(t, []any{exited(p.Own.PID(), c.why)}, neighbour.took())
				require.Empty(t, s.said(), "the one who has told is told nothing")
			} else if c.message != nil {
				require.Equal(t, []any{exited(far(1), c.message)}, p.took())
			}
			require.Empty(t, p.took())
			brk("again")
			require.Empty(t, p.took())
		}
	}
	s := newSystem(t, 9)
	s.peer.HandleExit(&dist.Frame{From: far(1), To: earlier(1)})
	s.peer.HandleExit(&dist.Frame{From: far(1), To: s.Origin.PID(99)})
	s.peer.LoseLink(peers.Link{Near: 99, Far: far(1)}, "x")
	require.Empty(t, s.said())
}

// A monitor that the peer makes is told once of the end of its process, or at once that there is none.
func TestMonitorMade(t *testing.T) {
	s := newSystem(t, 3)
	p, gone := s.spawn(), s.spawn()
	p.register("shop")
	alias := (&p.Acting).Alias(false, nil)
	gone.Close("x")
	me := p.Own.PID()
	down := func(n uint64, from wire.PID, name wire.Atom, why any) dist.Frame {
		return dist.Frame{Op: dist.OpDown, From: from, Name: name, To: far(1), Ref: farRef(n), Payload: why}
	}
	watch := func(n uint64, to wire.PID, name wire.Atom) []dist.Frame {
		s.peer.HandleMonitor(&dist.Frame{Op: dist.OpMonitor, From: far(1), To: to, Name: name, Ref: farRef(n)})
		return s.said()
	}
	aliasName, other := tables.OfAlias(alias).Name, tables.OfAlias(s.NewRef()).Name
	for _, c := range []struct {
		to   wire.PID
		name wire.Atom
	}{{gone.Own.PID(), ""}, {earlier(p.Own.ID), ""}, {far(p.Own.ID), ""}, {wire.PID{}, "none"}, {wire.PID{}, other}} {
		require.Equal(t, []dist.Frame{down(1, c.to, c.name, process.NoProc)}, watch(1, c.to, c.name))
	}
	require.Empty(t, watch(1, me, ""))
	require.Empty(t, watch(2, wire.PID{}, "shop"))
	require.Empty(t, watch(3, wire.PID{}, aliasName))
	require.Equal(t, []dist.Frame{down(4, me, "", limits.SystemLimit)}, watch(4, me, ""))
	require.Equal(t, 3, p.Own.Cold.Watchers.Len())
	for range 5 {
		require.Empty(t, watch(3, wire.PID{}, aliasName))
	}
	require.Equal(t, 3, p.Own.Cold.Watchers.Len(), "another one with its reference replaces a monitor")
	p.Close(wrapped)
	require.Equal(t, []dist.Frame{down(1, me, "", changed), down(2, me, "shop", changed), down(3, me, "", changed)}, s.said())

	// The target dies, the watcher demonitors, or the connection ends, before the monitor is attached.
	q := s.spawn()
	m := process.WatchedBy(s.peer, far(1), farRef(9), &q.Own, "")
	q.Close("y")
	s.peer.Attach(&m, q.Own.PID(), "it has died")
	require.Equal(t, []dist.Frame{down(9, q.Own.PID(), "", "it has died")}, s.said())
	q = s.spawn()
	m = process.WatchedBy(s.peer, far(1), farRef(9), &q.Own, "")
	s.peer.Attach(&m, q.Own.PID(), "x")
	s.peer.HandleDemonitor(farRef(9))
	require.True(t, q.Own.Cold.Watchers.IsEmpty())
	q.Close("y")
	require.Empty(t, s.said())
	q = s.spawn()
	s.peer.End(errors.New("lost"))
	m = process.WatchedBy(s.peer, far(1), farRef(9), &q.Own, "")
	s.peer.Attach(&m, q.Own.PID(), "x")
	require.True(t, q.Own.Cold.Watchers.IsEmpty())
}

// A monitor of a process here is told of its Down once, as it was asked.
func TestMonitorOver(t *testing.T) {
	s := newSystem(t, 3)
	p := s.spawn()
	byPID := p.Own.Monitor(&p.Acting, far(1))
	byName := p.Own.Monitor(&p.Acting, wire.At{Name: "shop", Node: there})
	byAlias := p.Own.Monitor(&p.Acting, farRef(5))
	away := p.Own.Monitor(&p.Acting, far(2))
	p.Own.Demonitor(&p.Acting, away, false)
	for range 2 {
		for _, ref := range []wire.Ref{byPID, byName, byAlias, away, s.NewRef(),
			wire.NewOrigin(wire.NodeID{Name: here, Creation: 6}).RefOf(byPID.Number())} {
			s.peer.HandleDown(&dist.Frame{Op: dist.OpDown, From: far(7), To: p.Own.PID(), Ref: ref}, "x")
		}
	}
	require.Equal(t, []any{
		process.Down{Ref: byPID, PID: far(1), Reason: "x"},
		process.Down{Ref: byName, Name: "shop", Node: there, Reason: "x"},
		process.Down{Ref: byAlias, PID: far(7), Reason: "x"},
	}, p.took())
}

// After the end of the connection nothing more goes there, and the cause can be read.
func TestOver(t *testing.T) {
	s := newSystem(t, 9)
	p := s.spawn(trapping)
	p.Own.MonitorNode(&p.Acting, there)
	s.peer.End(errors.New("cut"))
	require.Equal(t, []any{nodeDown(there, "cut")}, p.took())
	require.EqualError(t, s.peer.Why(), "cut")
	p.Own.Mu.Lock()
	require.False(t, s.peer.Link(&p.Own, far(1)))
	require.False(t, p.Own.HasLinkLocked(far(1)))
	p.Own.Mu.Unlock()
	ref := p.Own.MonitorOn(&p.Acting, s.peer, far(1))
	require.Equal(t, []any{process.Down{Ref: ref, PID: far(1), Reason: process.NoConnection, Cause: s.peer.Why()}}, p.took())
	s.peer.HandleLink(&dist.Frame{From: far(1), To: p.Own.PID()})
	require.False(t, p.linked(far(1)))
	p.Own.AddLinkLocked(far(1))
	s.peer.HandleExit(&dist.Frame{From: far(1), To: p.Own.PID(), Payload: "x"})
	require.True(t, p.linked(far(1)), "it breaks by the end of the connection")
	s.peer.LoseLink(peers.Link{Near: p.Own.ID, Far: far(1)}, process.NoConnection)
	require.Equal(t, []any{exited(far(1), process.NoConnection)}, p.took())
	require.Empty(t, s.said())
}

// Invariant 1: a link is in the tables of the peer and with the process here, or in neither, whoever makes it, takes it
// away, or ends. The peer keeps the link protocol.
func TestLinkModel(t *testing.T) {
	r := testkit.Rand(t)
	for range testkit.By(60, 600, 6000) {
		s := newSystem(t, 6)
		procs := make([]proc, 4)
		for i := range procs {
			procs[i] = s.spawn(trapping)
		}
		var acks []dist.Frame // acknowledgements of unlinks that are still to come
		for range 80 {
			p, to := procs[r.IntN(len(procs))], far(r.Uint64N(4))
			f := dist.Frame{From: to, To: p.Own.PID()}
			switch r.IntN(8) {
			case 0, 1:
				p.Own.Link(&p.Acting, to)
			case 2:
				p.Own.Unlink(&p.Acting, to)
			case 3, 4:
				s.peer.HandleLink(&f)
			case 5:
				f.ID = 1
				s.peer.HandleUnlink(&f)
			case 6:
				switch r.IntN(3) {
				case 0:
					s.peer.HandleExit(&f)
				case 1:
					if !p.Own.Gone() && r.IntN(4) == 0 {
						p.Close("x")
					}
				}
			case 7:
				if len(acks) > 0 {
					s.peer.HandleUnlinkAck(&acks[0])
					acks = acks[1:]
				}
			}
			for _, f := range s.said() {
				if f.Op == dist.OpUnlink {
					acks = append(acks, dist.Frame{ID: f.ID, From: f.To, To: f.From})
				}
			}
			var want []peers.Link
			for _, p := range procs {
				for n := range uint64(4) {
					if p.linked(far(n)) {
						want = append(want, peers.Link{Near: p.Own.ID, Far: far(n)})
					}
				}
			}
			s.peer.Tables(func(tables *peers.Tables) { require.ElementsMatch(t, want, tables.Active()) })
		}
	}
}

// A process that has put too much on the way waits for room, until the connection is over or the process is dead.
// Others can see what it waits for.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t, 9)
		p, q := s.spawn(), s.spawn()
		p.Own.Link(&p.Acting, far(1)) // there is room
		s.waits = 2 << 20
		var over atomic.Int32
		for _, a := range []*process.Acting{&p.Acting, &q.Acting, &s.Plain} {
			go func() {
				s.ExitSignal(a, wire.PID{}, far(2), "x")
				over.Add(1)
			}()
			synctest.Wait()
		}
		require.Zero(t, over.Load())
		w := q.Own.WaitLocked(observe.Waiting)
		require.Equal(t, "space", w.For)
		require.Equal(t, wire.At{Node: there}, w.On)
		q.Own.Exit(&s.Plain, "x")
		synctest.Wait()
		require.EqualValues(t, 1, over.Load())
		s.peer.End(errors.New("cut"))
		synctest.Wait()
		require.EqualValues(t, 3, over.Load())
		require.Zero(t, p.Own.WaitLocked(observe.Running).For)
	})
}

// Which process a signal is for.
func TestNamed(t *testing.T) {
	s := newSystem(t, 9)
	p, q := s.spawn(), s.spawn()
	p.register("shop")
	alias := (&q.Acting).Alias(true, nil)
	for _, c := range []struct {
		f  dist.Frame
		is *process.Process
	}{
		{dist.Frame{To: p.Own.PID()}, &p.Own},
		{dist.Frame{To: earlier(p.Own.ID)}, nil},
		{dist.Frame{To: far(p.Own.ID)}, nil},
		{dist.Frame{}, nil},
		{dist.Frame{Name: "shop"}, &p.Own},
		{dist.Frame{Name: "none", To: p.Own.PID()}, nil},
		{dist.Frame{Name: tables.OfAlias(alias).Name}, &q.Own},
		{dist.Frame{Ref: alias, Name: "shop"}, &q.Own},
		{dist.Frame{Ref: s.NewRef(), To: p.Own.PID()}, nil},
	} {
		require.Same(t, c.is, s.peer.ProcessOf(&c.f), "%+v", c.f)
	}
	require.Same(t, &q.Own, s.AliasOwner(alias), "it is not used up")
}

// Invariant 2: a signal that is kept from a protected process is logged.
func TestRefuses(t *testing.T) {
	s := newSystem(t, 9)
	p, q := s.spawn(), s.spawn(protected)
	require.False(t, s.peer.Refuses(&p.Own, "exit"))
	require.Empty(t, s.log.Take())
	require.True(t, s.peer.Refuses(&q.Own, "exit"))
	require.Contains(t, s.log.Take(), "peer=b@h signal=exit")
}
