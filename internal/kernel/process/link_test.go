package process_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/testkit"

	"github.com/actornode/actornode/wire"
)

// A link has two ends, however often it is made, and none after an unlink by either side.
func TestLinkHasTwoEnds(t *testing.T) {
	s := newSystem(t)
	for _, parent := range []bool{false, true} { // the link to a parent is kept in another place
		p := s.spawn()
		q := s.spawn()
		if parent {
			q = s.spawn(child(p))
		}
		p.Link(&p.as, q.PID())
		q.Link(&q.as, p.PID())
		p.Link(&p.as, p.PID())
		require.Equal(t, []wire.PID{q.PID()}, p.links())
		require.Equal(t, []wire.PID{p.PID()}, q.links())
		require.Equal(t, parent, q.Tied)
		require.True(t, p.HasLinkLocked(q.PID()))
		require.True(t, q.HasLinkLocked(p.PID()))
		for _, by := range []*proc{p, q} {
			p.Link(&p.as, q.PID())
			other := q
			if by == q {
				other = p
			}
			by.Unlink(&by.as, other.PID())
			require.Empty(t, p.links())
			require.Empty(t, q.links())
			require.False(t, p.HasLinkLocked(q.PID()))
			require.False(t, q.HasLinkLocked(p.PID()))
			by.Unlink(&by.as, other.PID())
		}
		p.die("x")
		require.False(t, q.Gone())
		require.Empty(t, q.took())
	}
}

// AddLinkLocked and RemoveLinkLocked report whether they have changed something.
func TestLinkSet(t *testing.T) {
	s := newSystem(t)
	p := s.spawn()
	q := s.spawn(child(p))
	for _, to := range []wire.PID{p.PID(), s.spawn().PID(), far(1), far(p.ID)} {
		require.False(t, q.HasLinkLocked(to))
		require.False(t, q.RemoveLinkLocked(to))
		require.True(t, q.AddLinkLocked(to))
		require.False(t, q.AddLinkLocked(to))
		require.True(t, q.HasLinkLocked(to))
		require.True(t, q.RemoveLinkLocked(to))
		require.False(t, q.RemoveLinkLocked(to))
	}
	require.True(t, q.AddLinkLocked(far(p.ID))) // it has the number of the parent, and is not the parent
	require.False(t, q.Tied)
	require.False(t, q.HasLinkLocked(p.PID()))
}

// A process that links to one that does not exist gets an exit signal, unless a signal of that link is on its way.
func TestLinkToNobody(t *testing.T) {
	s := newSystem(t)
	gone := s.spawn()
	gone.die("x")
	s.connect("c@h").over = true
	over := wire.NewOrigin(wire.NodeID{Name: "c@h", Creation: 1}).PID(1)
	for what, c := range map[string]struct {
		to     wire.PID
		reason wire.Atom
	}{
		"a process that is gone":                   {gone.PID(), process.NoProc},
		"a number that nobody has":                 {s.Origin.PID(12345), process.NoProc},
		"a process of an earlier life":             {earlier(1), process.NoProc},
		"a node that is not connected":             {far(1), process.NoConnection},
		"a node the connection to which has ended": {over, process.NoConnection},
	} {
		p := s.spawn(kept)
		p.Link(&p.as, c.to)
		require.True(t, p.Gone(), what)
		require.Equal(t, c.reason, p.Reason(), what)

		p = s.spawn(trapping)
		p.Link(&p.as, c.to)
		require.False(t, p.Gone(), what)
		require.Equal(t, []any{exited(c.to, c.reason)}, p.took(), what)
		require.Empty(t, p.links(), what)

		p.Mu.Lock()
		p.AddLinkLocked(c.to)
		p.Mu.Unlock()
		p.LinkFailed(&p.as, c.to, c.reason)
		require.Empty(t, p.took(), "%s: the link itself will say so", what)

		p.die("y")
		p.Link(&p.as, c.to)
		p.LinkFailed(&p.as, wire.PID{}, c.reason)
		require.Equal(t, "y", p.Reason(), "%s: the dead are told nothing", what)
	}
}

// The dead make no links.
func TestDeadDoNotLink(t *testing.T) {
	s := newSystem(t)
	r := s.connect(there)
	p, q := s.spawn(), s.spawn(kept)
	p.die("x")
	p.Link(&p.as, q.PID())
	p.Link(&p.as, far(1))
	p.Unlink(&p.as, q.PID())
	require.Empty(t, q.links())
	require.Empty(t, r.told())
	q.Link(&q.as, p.PID())
	require.Equal(t, process.NoProc, q.Reason())
}

// A link to another node is made, taken away and broken there.
func TestLinkFar(t *testing.T) {
	s := newSystem(t)
	r := s.connect(there)
	p := s.spawn()
	p.Link(&p.as, far(1))
	require.Equal(t, []wire.PID{far(1)}, p.links())
	require.Equal(t, []string{fmt.Sprint("link ", far(1))}, r.told())
	require.Equal(t, 1, r.paced)
	p.Unlink(&p.as, far(1))
	require.Empty(t, p.links())
	require.Equal(t, []string{fmt.Sprint("unlink ", p.ID, " ", far(1))}, r.told())
	p.Unlink(&p.as, far(1))
	require.Empty(t, r.told(), "there was none")
	require.Equal(t, 3, r.paced)

	p.Link(&p.as, far(2))
	p.Link(&p.as, far(3))
	r.told()
	p.die("x")
	require.Equal(t, []string{fmt.Sprint("exit ", p.ID, " ", far(2), " x"), fmt.Sprint("exit ", p.ID, " ", far(3), " x")}, r.told())
	require.Equal(t, 5, r.paced, "an exit waits for nobody")

	q := s.spawn()
	q.Link(&q.as, far(1))
	delete(s.remotes, there)
	q.Unlink(&q.as, far(1))
	require.Empty(t, q.links(), "the connection was over")
	q.Link(&q.as, far(1))
	require.Equal(t, process.NoConnection, q.Reason())
}

// A signal over a link does what package process says, and takes the link away.
func TestLinkBroken(t *testing.T) {
	for _, traps := range []bool{false, true} {
		for _, reason := range []any{process.Normal, process.Kill, process.Killed, wire.Atom("boom"), wire.Tuple{1}, "normal", nil} {
			s := newSystem(t)
			p, q, third := s.spawn(), s.spawn(), s.spawn(trapping)
			q.SetTrap(traps)
			p.Link(&p.as, q.PID())
			third.Link(&third.as, q.PID())
			p.die(reason)
			require.Equal(t, !traps && reason != any(process.Normal), q.Gone(), "%v %v", traps, reason)
			require.False(t, q.HasLinkLocked(p.PID()))
			if traps {
				require.Equal(t, []any{exited(p.PID(), reason)}, q.took())
			} else {
				require.Empty(t, q.took())
			}
			if q.Gone() {
				require.Equal(t, reason, q.Reason())
				require.Equal(t, []any{exited(q.PID(), reason)}, third.took())
			}
			q.Mu.Lock()
			require.Nil(t, q.LinkBrokenLocked(&s.Plain, p.PID(), "again"), "there is no link any more")
			q.Mu.Unlock()
			require.Empty(t, q.took())
		}
	}
}

// exit/2 does what package process says, and no link is needed.
func TestExitSignal(t *testing.T) {
	s := newSystem(t)
	for _, c := range []struct {
		reason      any
		traps, self bool
		why         any // nil: it lives
		message     bool
	}{
		{reason: process.Normal},
		{reason: process.Normal, self: true, why: process.Normal},
		{reason: process.Normal, traps: true, message: true},
		{reason: wire.Atom("boom"), why: wire.Atom("boom")},
		{reason: wire.Atom("boom"), traps: true, message: true},
		{reason: wire.Atom("boom"), traps: true, self: true, message: true},
		{reason: process.Kill, why: process.Killed},
		{reason: process.Kill, traps: true, why: process.Killed},
		{reason: process.Killed, traps: true, message: true},
	} {
		p, from := s.spawn(), s.spawn().PID()
		p.SetTrap(c.traps)
		if c.self {
			from = p.PID()
		}
		s.ExitSignal(&p.as, from, p.PID(), c.reason)
		reason, ended := p.Ended()
		require.Equal(t, c.why != nil, ended, "%+v", c)
		require.Equal(t, c.why, reason)
		if c.message {
			require.Equal(t, []any{exited(from, c.reason)}, p.took())
		} else {
			require.Empty(t, p.took())
		}
	}
	s.ExitSignal(&s.Plain, far(1), far(2), "x") // no such process
	s.ExitSignal(&s.Plain, far(1), earlier(2), "x")
	r := s.connect(there)
	p := s.spawn()
	s.ExitSignal(&p.as, p.PID(), far(2), "x")
	require.Equal(t, []string{fmt.Sprint("exit2 ", p.PID(), " ", far(2), " x")}, r.told())
	require.Equal(t, 1, r.paced)
}

// SetTrap returns the previous value.
func TestTrap(t *testing.T) {
	p := newSystem(t).spawn()
	require.False(t, p.TrapsLocked())
	require.False(t, p.SetTrap(true))
	require.True(t, p.TrapsLocked())
	require.True(t, p.SetTrap(false))
	require.False(t, p.SetTrap(false))
	require.False(t, p.TrapsLocked())
}

// Processes that go down together do so in waves: the nearest first, each once, with the reason of the first.
func TestWave(t *testing.T) {
	s := newSystem(t)
	all := make([]*proc, 7)
	for i := range all {
		all[i] = s.spawn(named(fmt.Sprint(i)))
	}
	for _, l := range [][2]int{{0, 1}, {0, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 5}, {5, 0}} { // with two cycles
		all[l[0]].Link(&all[l[0]].as, all[l[1]].PID())
	}
	s.noted()
	all[0].die("x")
	require.Equal(t, []string{"end 0", "end 1", "end 2", "end 5", "end 3", "end 4"}, s.noted())
	require.False(t, all[6].Gone())
	for i, p := range all[:6] {
		require.Equal(t, "x", p.Reason())
		require.Equal(t, []string{fmt.Sprint("armed true own ", i == 0)}, p.exits, "%d", i)
	}
	alive, _ := s.Tally.Sum()
	require.Equal(t, 1, alive)
}

// If the acting process must go down with one that it ends, it goes by its own code.
func TestWaveTakesWhoActs(t *testing.T) {
	s := newSystem(t)
	p, q := s.spawn(), s.spawn()
	p.Link(&p.as, q.PID())
	q.Exit(&p.as, "x")
	require.Equal(t, "x", p.Reason())
	require.Equal(t, []string{"armed true own true"}, p.exits)
	require.Equal(t, []string{"armed true own false"}, q.exits)
}

// A process that links to a dead one that has not told all yet gets an exit signal: that of the link, if it was linked.
func TestLinkToTheDying(t *testing.T) {
	s := newSystem(t)
	p, q, w, linked, fresh := s.spawn(), s.spawn(), s.spawn(trapping), s.spawn(trapping), s.spawn(trapping)
	p.Link(&p.as, q.PID()) // q is dead before w is told
	p.Link(&p.as, w.PID())
	linked.Link(&linked.as, q.PID())
	w.Intake().Arm()
	w.onWake = func() {
		require.True(t, q.Gone())
		require.NotNil(t, s.Lookup(q.PID()))
		linked.Link(&linked.as, q.PID())
		fresh.Link(&fresh.as, q.PID())
		require.Empty(t, linked.took())
		require.Equal(t, []any{exited(q.PID(), process.NoProc)}, fresh.took())
	}
	p.die("x")
	require.Equal(t, []any{exited(q.PID(), "x")}, linked.took())
	require.Equal(t, []any{exited(p.PID(), "x")}, w.took())
	require.Empty(t, fresh.took())
}

// keeper is the mailbox of a process that an owner holds.
type keeper struct {
	*inbox.Bounded
	kept int
}

func (k *keeper) Keep()      { k.kept++ }
func (k *keeper) Owner() any { return nil }

// The mailbox of a process that an owner holds is told what keeps the process alive from now on: links, a name,
// monitors of other nodes.
func TestKept(t *testing.T) {
	s := newSystem(t)
	k := &keeper{Bounded: bounded(9, 0)}
	p, q := s.spawn(func(p *proc) { p.ColdPart().Box, p.Boxed = k, true }), s.spawn()
	q.Monitor(&q.as, p.PID())
	require.Zero(t, k.kept)
	q.Link(&q.as, p.PID())
	require.Equal(t, 1, k.kept)
	p.register("shop")
	require.Equal(t, 2, k.kept)
	m := process.WatchedBy(s.connect(there), far(1), far(0).Origin().RefOf(1), &p.Process, "")
	require.True(t, m.Attach())
	require.Equal(t, 3, k.kept)
}

// A model of processes with links, traps and exits: which processes are alive, why the others died, which are linked,
// and what the trapping ones have been told, in the order of the links.
func TestLinkModel(t *testing.T) {
	type state struct {
		links  []int // in the order in which they were made
		traps  bool
		reason any // nil: alive
		inbox  []any
	}
	r := testkit.Rand(t)
	for range testkit.By(60, 600, 6000) {
		s := newSystem(t)
		const n = 7
		procs := make([]*proc, n)
		model := make([]state, n)
		for i := range procs {
			procs[i] = s.spawn(kept)
		}
		pid := func(i int) wire.PID { return procs[i].PID() }
		unlink := func(i, j int) bool {
			k := slices.Index(model[i].links, j)
			if k >= 0 {
				model[i].links = slices.Delete(model[i].links, k, k+1)
			}
			return k >= 0
		}
		end := func(i int, reason any) {
			type death struct {
				who    int
				reason any
			}
			model[i].reason = reason
			for wave := []death{{i, reason}}; len(wave) > 0; {
				d := wave[0]
				wave = wave[1:]
				links := model[d.who].links
				model[d.who].links = nil
				for _, j := range links {
					q := &model[j]
					switch {
					case q.reason != nil || !unlink(j, d.who):
					case q.traps:
						q.inbox = append(q.inbox, exited(pid(d.who), d.reason))
					case d.reason != any(process.Normal):
						q.reason = d.reason
						wave = append(wave, death{j, d.reason})
					}
				}
			}
		}
		reasons := []any{process.Normal, wire.Atom("boom"), process.Killed, process.Kill}
		for range 40 {
			i, j := r.IntN(n), r.IntN(n)
			p, m, reason := procs[i], &model[i], reasons[r.IntN(len(reasons))]
			if m.reason != nil {
				continue
			}
			switch r.IntN(8) {
			case 0, 1, 2:
				p.Link(&p.as, pid(j))
				switch q := &model[j]; {
				case i == j || slices.Contains(m.links, j):
				case q.reason == nil:
					m.links, q.links = append(m.links, j), append(q.links, i)
				case m.traps:
					m.inbox = append(m.inbox, exited(pid(j), process.NoProc))
				default:
					end(i, process.NoProc)
				}
			case 3:
				p.Unlink(&p.as, pid(j))
				unlink(i, j)
				unlink(j, i)
			case 4:
				require.Equal(t, m.traps, p.SetTrap(!m.traps))
				m.traps = !m.traps
			case 5:
				s.ExitSignal(&p.as, pid(i), pid(j), reason)
				q := &model[j]
				switch {
				case q.reason != nil:
				case reason == any(process.Kill):
					end(j, process.Killed)
				case q.traps:
					q.inbox = append(q.inbox, exited(pid(i), reason))
				case reason != any(process.Normal) || i == j:
					end(j, reason)
				}
			case 6:
				if r.IntN(3) == 0 {
					p.die(reason)
					end(i, reason)
				}
			}
			for k, m := range model {
				reason, ended := procs[k].Ended()
				require.Equal(t, m.reason != nil, ended)
				require.Equal(t, m.reason, reason)
				require.Equal(t, ended, procs[k].Status.IsDead())
				links := []wire.PID{}
				for _, l := range m.links {
					links = append(links, pid(l))
				}
				require.ElementsMatch(t, links, procs[k].links())
			}
		}
		for k, m := range model {
			if m.reason == nil {
				require.Equal(t, m.inbox, procs[k].took())
			}
		}
	}
}
