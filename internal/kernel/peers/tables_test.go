package peers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// watcher is a monitor that notes what it is told.
type watcher struct {
	ref       wire.Ref
	fired     []any
	forgotten int
	order     *[]uint64 // the numbers of those that have fired; nil: not recorded
}

func (w *watcher) Ref() wire.Ref { return w.ref }
func (w *watcher) Forget()       { w.forgotten++ }
func (w *watcher) Fire(reason any) {
	if w.fired = append(w.fired, reason); w.order != nil {
		*w.order = append(*w.order, w.ref.Number())
	}
}

// Two nodes link and unlink at random, and frames take their time: when all have arrived, each has a link exactly if
// the other has, and no unlink is left unacknowledged.
func TestLinksRandomly(t *testing.T) {
	r := testkit.Rand(t)
	for range 300 {
		sides := [2]Tables{newTables(100), newTables(100)}
		pids := [2]wire.PID{here.PID(0), there.PID(0)}
		var linked [2]bool        // what the processes know
		var wires [2][]dist.Frame // to that side
		ids := uint64(0)
		id := func() uint64 { ids++; return ids }
		receive := func(to int) {
			f := wires[to][0]
			wires[to] = wires[to][1:]
			me, you := &sides[to], pids[1-to]
			switch f.Op {
			case dist.OpLink:
				if me.HandleLink(0, you) == Made {
					linked[to] = true
				}
			case dist.OpUnlink:
				if me.HandleUnlink(0, you) {
					linked[to] = false
				}
				wires[1-to] = append(wires[1-to], dist.Frame{Op: dist.OpUnlinkAck, ID: f.ID})
			case dist.OpUnlinkAck:
				me.HandleUnlinkAck(0, you, f.ID)
			}
		}
		for range 40 {
			side := r.IntN(2)
			switch k := r.IntN(4); {
			case k == 0 && !linked[side]:
				f, ok := sides[side].Link(0, pids[side], pids[1-side])
				require.True(t, ok)
				linked[side] = true
				wires[1-side] = append(wires[1-side], f)
			case k == 1 && linked[side]:
				linked[side] = false
				if f, ok := sides[side].Unlink(0, pids[side], pids[1-side], id); ok {
					wires[1-side] = append(wires[1-side], f)
				}
			case len(wires[side]) > 0:
				receive(side)
			}
		}
		for len(wires[0])+len(wires[1]) > 0 {
			for side := range wires {
				if len(wires[side]) > 0 {
					receive(side)
				}
			}
		}
		require.Equal(t, linked[0], linked[1])
		for side := range sides {
			require.Len(t, sides[side].Active(), sides[side].Counts().Links, "one is not acknowledged")
			require.Equal(t, linked[side], len(sides[side].Active()) == 1)
		}
	}
}

// newTables returns the tables of a peer that may have most links, and as many monitors.
func newTables(most int64) Tables {
	return NewTables(limits.NewLimit("links", most), limits.NewLimit("monitors", most), nil)
}

// If the limit falls below the links and monitors that exist, none of them ends, and none is added until there are
// fewer. Only links that await an acknowledgement count as unacknowledged.
func TestFewerAllowed(t *testing.T) {
	s := newTables(9)
	for i := range uint64(9) {
		require.Equal(t, Made, s.HandleLink(i, there.PID(i)))
		require.Equal(t, Made, s.HandleMonitor(&watcher{ref: there.RefOf(i)}))
	}
	s.mostLinks.SetMax(2)
	s.mostMonitors.SetMax(2)
	require.Equal(t, TooMany, s.HandleLink(9, there.PID(9)))
	require.Equal(t, TooMany, s.HandleMonitor(&watcher{ref: there.RefOf(9)}))
	id := uint64(0)
	number := func() uint64 { id++; return id }
	for i := range uint64(4) {
		_, ok := s.Unlink(i, here.PID(i), there.PID(i), number)
		require.True(t, ok)
		require.False(t, s.Unacked())
	}
	s.Unlink(4, here.PID(4), there.PID(4), number)
	require.True(t, s.Unacked())
	s.HandleUnlinkAck(0, there.PID(0), 1)
	require.False(t, s.Unacked())
	s.Exit(1, here.PID(1), there.PID(1), "gone")
	s.HandleExit(2, there.PID(2))
	s.Link(3, here.PID(3), there.PID(3))
	require.Equal(t, 1, s.unacked)
	require.Len(t, s.Active(), 5)
	s.mostLinks.SetMax(7)
	require.Equal(t, Made, s.HandleLink(9, there.PID(9)))
}

// A peer may have its number of links and monitors here and no more, and none once the connection is over.
func TestTooMany(t *testing.T) {
	s := newTables(2)
	require.Equal(t, Made, s.HandleLink(1, there.PID(1)))
	require.Equal(t, Nothing, s.HandleLink(1, there.PID(1)))
	require.Equal(t, Made, s.HandleLink(2, there.PID(1)))
	require.Equal(t, TooMany, s.HandleLink(3, there.PID(1)))
	require.True(t, s.HandleExit(1, there.PID(1)))
	require.Equal(t, Made, s.HandleLink(3, there.PID(1)))

	m := &watcher{ref: there.RefOf(1)}
	require.Equal(t, Made, s.HandleMonitor(m))
	require.Equal(t, Made, s.HandleMonitor(&watcher{ref: there.RefOf(2)}))
	require.Equal(t, TooMany, s.HandleMonitor(&watcher{ref: there.RefOf(3)}))
	other := &watcher{ref: there.RefOf(1)}
	require.Equal(t, Made, s.HandleMonitor(other), "in its place")
	require.False(t, s.HasMonitorBy(m))
	require.False(t, s.Down(m))
	require.True(t, s.Down(other))
	require.Nil(t, s.HandleDemonitor(there.RefOf(1)))
	require.NotNil(t, s.HandleDemonitor(there.RefOf(2)))

	left := s.End()
	require.Len(t, left.Links, 2)
	require.Equal(t, Nothing, s.HandleLink(4, there.PID(1)))
	require.Equal(t, Nothing, s.HandleMonitor(m))
	require.False(t, s.HandleExit(2, there.PID(1)))
	require.False(t, s.Ask(&Request{Ref: here.RefOf(1)}))
	require.Zero(t, s.Counts())
	require.Zero(t, s.End())
}

// A monitor of a process here ends once: by a Down, by being taken away, or with the connection.
func TestMonitors(t *testing.T) {
	s := newTables(9)
	w := Ends{By: here.PID(1), To: there.PID(2)}
	a, b, c := &watcher{ref: here.RefOf(1)}, &watcher{ref: here.RefOf(2)}, &watcher{ref: here.RefOf(3)}
	for _, m := range []Monitor{c, a, b} {
		f, ok := s.Monitor(m, w)
		require.True(t, ok)
		require.Equal(t, dist.Frame{Op: dist.OpMonitor, From: w.By, To: w.To, Ref: m.Ref()}, f)
	}
	require.Nil(t, s.HandleDown(there.RefOf(1)), "another node's")
	require.Same(t, a, s.HandleDown(a.ref))
	require.Nil(t, s.HandleDown(a.ref))
	f, ok := s.Demonitor(b, w)
	require.True(t, ok)
	require.Equal(t, dist.Frame{Op: dist.OpDemonitor, From: w.By, To: w.To, Ref: b.ref}, f)
	_, ok = s.Demonitor(b, w)
	require.False(t, ok)
	require.Equal(t, []Monitor{c}, s.End().Monitors)
}

// A request is answered once; unless the process has exited, its monitor is taken away.
func TestRequests(t *testing.T) {
	s := newTables(9)
	ask := func(n uint64, kind Answered, to wire.PID) *Request {
		r := &Request{Ref: here.RefOf(n), Kind: kind, Ends: Ends{By: here.PID(1), To: to}}
		require.True(t, s.Ask(r))
		require.False(t, r.setWritten())
		return r
	}
	call := ask(1, ByReply, there.PID(5))
	require.Equal(t, 1, s.Requests())
	r, f, ok := s.Answered(call.Ref, false)
	require.Same(t, call, r)
	require.True(t, ok)
	require.Equal(t, dist.Frame{Op: dist.OpDemonitor, From: here.PID(1), To: there.PID(5), Ref: call.Ref}, f)
	r, _, _ = s.Answered(call.Ref, false)
	require.Nil(t, r)

	call = ask(2, ByReply, there.PID(5))
	_, _, ok = s.Answered(call.Ref, true)
	require.False(t, ok, "the process is gone, and its monitor with it")

	spawn := ask(3, ByStart, wire.PID{})
	answers, _, ok := s.Started(spawn.Ref, there.PID(6), here.PID(1), false)
	require.True(t, answers)
	require.False(t, ok)
	_, ok = s.Forget(spawn)
	require.False(t, ok, "nothing is monitored")
	answers, f, ok = s.Started(spawn.Ref, there.PID(6), here.PID(1), true)
	require.False(t, answers)
	require.True(t, ok, "nobody waits: the monitor is taken away")
	require.Equal(t, dist.Frame{Op: dist.OpDemonitor, From: here.PID(1), To: there.PID(6), Ref: spawn.Ref}, f)

	apply := ask(4, ByResult, wire.PID{})
	answers, _, ok = s.Started(apply.Ref, there.PID(7), here.PID(1), true)
	require.False(t, answers || ok, "its result is still to come")
	f, ok = s.Forget(apply)
	require.True(t, ok)
	require.Equal(t, there.PID(7), f.To)
	_, ok = s.Forget(apply)
	require.False(t, ok)
}

// If a request is taken out before its frame has been written, whoever writes the frame takes its monitor away, behind
// the frame; if the connection is over, nobody does.
func TestRequestTakenOutEarly(t *testing.T) {
	s := newTables(9)
	ask := func(n uint64) *Request {
		r := &Request{Ref: here.RefOf(n), Kind: ByReply, Ends: Ends{By: here.PID(1), To: there.PID(5)}}
		require.True(t, s.Ask(r))
		require.False(t, r.isOut())
		return r
	}
	r := ask(1)
	_, ok := s.Forget(r)
	require.False(t, ok, "the peer does not know of it")
	require.True(t, r.isOut())
	require.True(t, r.setWritten())
	f, ok := r.demonitor()
	require.True(t, ok)
	require.Equal(t, dist.Frame{Op: dist.OpDemonitor, From: here.PID(1), To: there.PID(5), Ref: r.Ref}, f)

	r = ask(2)
	_, _, ok = s.Answered(r.Ref, false)
	require.False(t, ok)
	require.True(t, r.setWritten())

	r = ask(3)
	_, _, ok = s.Answered(r.Ref, true)
	require.False(t, ok)
	require.True(t, r.isOut())
	require.False(t, r.setWritten())
}
