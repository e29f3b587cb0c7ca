package process_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/testkit"

	"github.com/actornode/actornode/wire"
)

// Each monitor has a Down of its own, also those of one watcher; the oldest is told first.
func TestMonitors(t *testing.T) {
	s := newSystem(t)
	w, other, target := s.spawn(), s.spawn(), s.spawn()
	first := w.Monitor(&w.as, target.PID())
	second := w.Monitor(&w.as, target.PID())
	third := other.Monitor(&other.as, target.PID())
	fourth := w.Monitor(&w.as, target.PID())
	require.True(t, w.Demonitor(&w.as, second, false))
	require.False(t, w.Demonitor(&w.as, second, false))
	require.False(t, w.Demonitor(&w.as, third, true), "another's")
	require.Equal(t, 3, target.Cold.Watchers.Len())
	target.die("x")
	down := func(ref wire.Ref) any { return process.Down{Ref: ref, PID: target.PID(), Reason: "x"} }
	require.Equal(t, []any{down(first), down(fourth)}, w.took())
	require.Equal(t, []any{down(third)}, other.took())
	require.False(t, w.Gone())
	require.Empty(t, w.Cold.Watching)
}

// A Down names the watched process as the watcher did.
func TestMonitorNobody(t *testing.T) {
	s := newSystem(t)
	gone := s.spawn()
	gone.die("x")
	named := s.spawn()
	named.register("shop")
	alias := named.as.Alias(false, nil)
	byAlias := tables.OfAlias(alias)
	for what, c := range map[string]struct {
		to   wire.Dest
		down process.Down // without its Ref
	}{
		"gone":                  {gone.PID(), process.Down{PID: gone.PID(), Reason: process.NoProc}},
		"of an earlier life":    {earlier(1), process.Down{PID: earlier(1), Reason: process.NoProc}},
		"nobody":                {wire.PID{}, process.Down{Reason: process.NoProc}},
		"of another node":       {far(1), process.Down{PID: far(1), Reason: process.NoConnection}},
		"a name":                {wire.Atom("none"), process.Down{Name: "none", Node: here, Reason: process.NoProc}},
		"a name here":           {wire.At{Name: "none", Node: here}, process.Down{Name: "none", Node: here, Reason: process.NoProc}},
		"a name there":          {wire.At{Name: "x", Node: there}, process.Down{Name: "x", Node: there, Reason: process.NoConnection}},
		"an alias of nobody":    {s.NewRef(), process.Down{Reason: process.NoProc}},
		"an alias there":        {far(0).Origin().RefOf(5), process.Down{Name: tables.OfAlias(far(0).Origin().RefOf(5)).Name, Node: there, Reason: process.NoConnection}},
		"a name that is taken":  {wire.Atom("shop"), process.Down{Name: "shop", Node: here, Reason: "y"}},
		"an alias":              {alias, process.Down{PID: named.PID(), Reason: "y"}},
		"the name of an alias":  {byAlias.Name, process.Down{PID: named.PID(), Reason: "y"}},
		"a name, with its node": {wire.At{Name: "shop", Node: here}, process.Down{Name: "shop", Node: here, Reason: "y"}},
	} {
		w := s.spawn()
		ref := w.Monitor(&w.as, c.to)
		if c.down.Reason == "y" {
			require.Empty(t, w.took(), what)
			require.True(t, w.Demonitor(&w.as, ref, false), what)
			ref = w.Monitor(&w.as, c.to)
			defer func() { // named has ended by then
				c.down.Ref = ref
				require.Equal(t, []any{c.down}, w.took(), what)
			}()
			continue
		}
		c.down.Ref = ref
		require.Equal(t, []any{c.down}, w.took(), what)
		require.False(t, w.Demonitor(&w.as, ref, false), what)
	}
	named.die("y")
}

// A monitor of oneself is a reference and nothing else, as in Erlang.
func TestMonitorSelf(t *testing.T) {
	s := newSystem(t)
	p := s.spawn()
	ref := p.Monitor(&p.as, p.PID())
	require.NotZero(t, ref)
	require.False(t, p.Demonitor(&p.as, ref, false))
	require.Nil(t, p.Cold)
}

// Flush takes the Down, and nothing else, out of the mailbox; not the message that an Actor has in hand.
func TestDemonitorFlush(t *testing.T) {
	s := newSystem(t)
	w, target := s.spawn(), s.spawn()
	a, b := w.Monitor(&w.as, target.PID()), w.Monitor(&w.as, target.PID())
	require.NoError(t, w.Deliver(&s.Plain, "before"))
	target.die("x")
	require.False(t, w.Demonitor(&w.as, b, true))
	require.Equal(t, []any{"before", process.Down{Ref: a, PID: target.PID(), Reason: "x"}}, w.took())

	gone := w.Monitor(&w.as, target.PID())
	require.False(t, w.Demonitor(&w.as, gone, false))
	require.Equal(t, []any{process.Down{Ref: gone, PID: target.PID(), Reason: process.NoProc}}, w.took())

	gone = w.Monitor(&w.as, target.PID())
	w.Refill()
	_, ok := w.Queue.Next()
	require.True(t, ok)
	require.False(t, w.Demonitor(&w.as, gone, true))
	require.Len(t, w.took(), 1, "it is in hand")

	target = s.spawn()
	still := w.Monitor(&w.as, target.PID())
	require.NoError(t, w.Deliver(&s.Plain, process.Down{Ref: still}))
	require.True(t, w.Demonitor(&w.as, still, true))
	require.Len(t, w.took(), 1, "a monitor that was taken away has sent nothing")
	require.False(t, w.Demonitor(&w.as, wire.NewOrigin(wire.NodeID{Name: here, Creation: 6}).RefOf(still.Number()), true))
}

// Discard takes the first message that matches, wherever it waits.
func TestDiscard(t *testing.T) {
	s := newSystem(t)
	for _, box := range []bool{false, true} {
		p := s.spawn()
		if box {
			p = s.spawn(boxed(bounded(10, 0)))
		}
		for _, msg := range []any{1, 2, 3, 2} {
			require.NoError(t, p.Deliver(&s.Plain, msg))
		}
		p.Discard(&p.as, func(msg any) bool { return msg == 2 })
		require.Equal(t, []any{1, 3, 2}, p.took(), "boxed %v", box)
	}
}

// The end of a watcher takes its monitors off their targets, in the order of their references.
func TestWatcherEnds(t *testing.T) {
	s := newSystem(t)
	r := s.connect(there)
	w, target := s.spawn(), s.spawn()
	w.Monitor(&w.as, target.PID())
	var want []string
	for i := range uint64(5) {
		w.Monitor(&w.as, far(i))
		want = append(want, fmt.Sprint("demonitor ", far(i), " "))
	}
	r.told()
	w.die("x")
	require.True(t, target.Cold.Watchers.IsEmpty())
	require.Equal(t, want, r.told())
	target.die("y")
	w.Monitor(&w.as, far(1))
	s2 := s.spawn()
	w.Monitor(&w.as, s2.PID())
	require.Empty(t, r.told(), "the dead watch nobody")
	require.Nil(t, s2.Cold)
}

// A monitor of a process on another node is made, taken away and fired there.
func TestMonitorFar(t *testing.T) {
	s := newSystem(t)
	r := s.connect(there)
	w := s.spawn()
	byPID := w.Monitor(&w.as, far(1))
	byName := w.Monitor(&w.as, wire.At{Name: "shop", Node: there})
	on := w.MonitorOn(&w.as, r, far(2))
	onName := w.MonitorOn(&w.as, r, wire.At{Name: "shop", Node: there})
	require.Equal(t, []string{fmt.Sprint("monitor ", far(1), "  false"), fmt.Sprint("monitor ", wire.PID{}, " shop false"),
		fmt.Sprint("monitor ", far(2), "  false"), fmt.Sprint("monitor ", wire.PID{}, " shop false")}, r.told())
	require.Equal(t, 4, r.paced)
	watching := func(ref wire.Ref) *process.Monitor { return w.Cold.Watching[ref.Number()] }
	m := watching(byName)
	require.Equal(t, byName, m.Ref())
	m.Fire("x")
	m.Fire("twice")
	watching(onName).Fire("x")
	watching(byPID).Fire("y")
	require.Equal(t, []any{process.Down{Ref: byName, Name: "shop", Node: there, Reason: "x"},
		process.Down{Ref: onName, Name: "shop", Node: there, Reason: "x"},
		process.Down{Ref: byPID, PID: far(1), Reason: "y"}}, w.took())
	require.True(t, w.Demonitor(&w.as, on, false))
	require.Equal(t, []string{fmt.Sprint("demonitor ", far(2), " ")}, r.told())
	require.Equal(t, 5, r.paced)

	r.over = true
	ref := w.Monitor(&w.as, wire.At{Name: "shop", Node: there})
	require.Equal(t, []any{process.Down{Ref: ref, Name: "shop", Node: there, Reason: process.NoConnection, Cause: r.Why()}},
		w.took())
	for _, on := range []process.Remote{nil, r} {
		var why error
		if on != nil {
			why = on.Why()
		}
		ref = w.MonitorOn(&w.as, on, wire.At{Name: "shop", Node: there})
		require.Equal(t, []any{process.Down{Ref: ref, Name: "shop", Node: there, Reason: process.NoConnection, Cause: why}}, w.took())
		ref = w.MonitorOn(&w.as, on, far(2))
		require.Equal(t, []any{process.Down{Ref: ref, PID: far(2), Reason: process.NoConnection, Cause: why}}, w.took())
	}
	require.Empty(t, w.Cold.Watching)
}

// A process that is killed while it makes a monitor leaves none.
func TestKilledMonitoring(t *testing.T) {
	s := newSystem(t)
	r := s.connect(there)
	w := s.spawn()
	r.then = func() { w.Exit(&s.Plain, "x") }
	w.Monitor(&w.as, far(1))
	require.Equal(t, fmt.Sprint("demonitor ", far(1), " "), r.told()[1])
	require.Empty(t, w.Cold.Watching)
}

// A monitor by a process of another node is told there; a monitor of a process that is gone is not made.
func TestWatchedBy(t *testing.T) {
	s := newSystem(t)
	r := s.connect(there)
	target := s.spawn()
	ref := far(0).Origin().RefOf(9)
	m := process.WatchedBy(r, far(1), ref, &target.Process, "shop")
	require.Equal(t, ref, m.Ref())
	require.True(t, m.Attach())
	m.Forget()
	require.True(t, target.Cold.Watchers.IsEmpty())
	require.True(t, m.Attach())
	target.die("x")
	require.Equal(t, []string{fmt.Sprint("down ", far(1), " ", target.PID(), " x")}, r.told())
	require.False(t, m.Attach())
	m.Forget()
	nobody := process.WatchedBy(r, far(1), ref, nil, "")
	nobody.Forget()
	require.Equal(t, []string{fmt.Sprint("demonitor ", wire.PID{}, " ")}, r.told())
}

// The monitor of a node reports that the node is lost, or why it is not there.
func TestMonitorNode(t *testing.T) {
	s := newSystem(t)
	w := s.spawn()
	w.MonitorNode(&w.as, there)
	require.Equal(t, []any{nodeDown(there, "this node runs without distribution")}, w.took())
	r := s.connect(there)
	w.MonitorNode(&w.as, there)
	require.Equal(t, []string{fmt.Sprint("monitor ", wire.PID{}, "  true")}, r.told())
	require.Empty(t, w.took())
	for _, m := range w.Cold.Watching {
		m.Fire("lost")
	}
	require.Equal(t, []any{nodeDown(there, "lost")}, w.took())
	r.over = true
	w.MonitorNode(&w.as, there)
	require.Equal(t, []any{nodeDown(there, "it is over")}, w.took())
}

// A model of monitors: every monitor that is not taken away is told once, with the reason, and no other is told.
func TestMonitorModel(t *testing.T) {
	r := testkit.Rand(t)
	for range testkit.By(60, 600, 6000) {
		s := newSystem(t)
		const n = 5
		type watch struct {
			ref      wire.Ref
			from, to int
		}
		procs := make([]*proc, n)
		for i := range procs {
			procs[i] = s.spawn()
		}
		var open, over []watch // over: taken away, or told
		want := make([][]any, n)
		down := func(w watch, reason any) {
			want[w.from] = append(want[w.from], process.Down{Ref: w.ref, PID: procs[w.to].PID(), Reason: reason})
		}
		for range 60 {
			i, j := r.IntN(n), r.IntN(n)
			p := procs[i]
			if p.Gone() {
				continue
			}
			switch k := r.IntN(10); {
			case k < 5 && i != j:
				w := watch{p.Monitor(&p.as, procs[j].PID()), i, j}
				if procs[j].Gone() {
					down(w, process.NoProc)
					over = append(over, w)
				} else {
					open = append(open, w)
				}
			case k < 8 && len(open) > 0:
				at := r.IntN(len(open))
				w := open[at]
				by := procs[w.from]
				require.True(t, by.Demonitor(&by.as, w.ref, r.IntN(2) == 0))
				open, over = append(open[:at:at], open[at+1:]...), append(over, w)
			case k == 8 && len(over) > 0:
				w := over[r.IntN(len(over))]
				by := procs[w.from]
				require.False(t, by.Demonitor(&by.as, w.ref, false))
			case k == 9 && r.IntN(3) == 0:
				p.die(i)
				left := []watch(nil)
				for _, w := range open {
					switch {
					case w.from == i:
						over = append(over, w)
					case w.to == i:
						over = append(over, w)
						down(w, i)
					default:
						left = append(left, w)
					}
				}
				open = left
			}
			watching := 0
			for _, p := range procs {
				if p.Cold != nil {
					watching += len(p.Cold.Watching)
				}
			}
			require.Equal(t, len(open), watching)
		}
		for k, p := range procs {
			if !p.Gone() {
				require.Equal(t, want[k], p.took())
			}
		}
	}
}
