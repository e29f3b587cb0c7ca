package peers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/wire/dist"
)

// asked returns the ticket of a caller that waits for an answer.
func asked(p *Peer) process.Ticket { return (&process.Call{System: p.System}).NewTicket() }

// hooked is a link that runs a function while a frame is written.
type hooked struct {
	gauged
	then    func() // once; nil: nothing
	in, out uint64
}

func (h *hooked) Write(f *dist.Frame) (int, error) {
	n, err := h.gauged.Write(f)
	if f := h.then; f != nil {
		h.then = nil
		f()
	}
	return n, err
}

func (h *hooked) Traffic() (in, out uint64) { return h.in, h.out }

// said returns what has been written since the last call.
func (h *hooked) said() (all []dist.Frame) {
	all, h.wrote = h.wrote, nil
	return all
}

// connected returns a peer that may have two links, and two monitors, here.
func connected() (*Cluster, *Peer, *hooked) {
	c, _ := cluster(limits.Limits{Links: 2, Monitors: 2, Spawned: 1, Names: 1, Queued: 1 << 30, Answers: 1 << 30, Stall: time.Hour},
		1<<20)
	l := &hooked{gauged: gauged{name: "b@127.0.0.1"}}
	p := c.Detached("b@127.0.0.1", l)
	c.peers[p.Name] = p
	c.markLocked(p)
	return c, p, l
}

// A request ends once: with its answer, or when its caller stops waiting. Its monitor is taken away, unless the answer
// ends the monitor, and never before the monitor is there.
func TestRequest(t *testing.T) {
	request := dist.Frame{Op: dist.OpMonitor, Name: "shop"}
	ends := Ends{By: here.PID(1), Name: "shop"}
	for what, c := range map[string]struct {
		ends   Ends
		end    func(p *Peer, r *Request) *Request // nil: it is forgotten
		taken  bool                               // the monitor is taken away
		answer bool
	}{
		"a reply":               {ends, func(p *Peer, r *Request) *Request { return p.Answered(r.Ref, false) }, true, true},
		"the end of the target": {ends, func(p *Peer, r *Request) *Request { return p.Answered(r.Ref, true) }, false, true},
		"no monitor": {Ends{By: here.PID(1)}, func(p *Peer, r *Request) *Request { return p.Answered(r.Ref, false) },
			false, true},
		"forgotten": {ends, func(p *Peer, r *Request) *Request { r.Forget(); return nil }, true, false},
	} {
		for _, early := range []bool{false, true} { // before its frame has been written
			_, p, l := connected()
			r := &Request{Ref: p.CallRef(7), Ends: c.ends, Kind: ByReply, Ticket: asked(p)}
			var got *Request
			end := func() { got = c.end(p, r) }
			if early {
				l.then = end
			}
			require.True(t, p.Ask(&p.System.Plain, nil, r, request))
			require.NotNil(t, r.Ticket.Call.Away)
			if !early {
				require.Equal(t, []dist.Frame{request}, l.said())
				p.Tables(func(t2 *Tables) { require.True(t, t2.IsAsked(r.Ref)) })
				end()
			} else {
				require.Equal(t, request, l.wrote[0])
				l.wrote = l.wrote[1:]
			}
			require.Equal(t, c.answer, got == r, what)
			var frames []dist.Frame
			if c.taken {
				frames = []dist.Frame{{Op: dist.OpDemonitor, From: here.PID(1), Name: "shop", Ref: r.Ref}}
			}
			require.ElementsMatch(t, frames, l.said(), "%s, early %v", what, early)
			require.Nil(t, p.Answered(r.Ref, false), "once")
			r.Forget()
			require.Empty(t, l.said())
		}
	}
	_, p, l := connected()
	r := &Request{Ref: p.CallRef(7), Ticket: asked(p)}
	p.Ask(&p.System.Plain, nil, r, request)
	require.Nil(t, p.Answered(there.RefOf(7), false), "another node's")
	p.End(errStopping)
	l.said()
	r = &Request{Ref: p.CallRef(8), Ticket: asked(p)}
	require.False(t, p.Ask(&p.System.Plain, nil, r, request))
	_, err := r.Ticket.Call.Result()
	require.EqualError(t, err, "exited: noconnection")
	require.Empty(t, l.said())
}

// The answer to a call may come over another connection.
func TestAnswer(t *testing.T) {
	c, p, l := connected()
	r := &Request{Ref: p.CallRef(7), Ends: Ends{By: here.PID(1), To: there.PID(2)}, Kind: ByReply, Ticket: asked(p)}
	p.Ask(&p.System.Plain, nil, r, dist.Frame{})
	l.said()
	require.False(t, c.answer(here.RefOf(7), "v", nil), "it has no mark")
	require.False(t, c.answer(marked(there, 7, p.mark, 1), "v", nil), "another node's")
	require.False(t, c.answer(marked(here, 7, p.mark+1, 1), "v", nil), "no peer")
	require.True(t, c.answer(r.Ref, "v", nil))
	require.False(t, c.answer(r.Ref, "v", nil))
	v, err := r.Ticket.Call.Result()
	require.NoError(t, err)
	require.Equal(t, "v", v)
	require.Equal(t, []dist.Frame{{Op: dist.OpDemonitor, From: here.PID(1), To: there.PID(2), Ref: r.Ref}}, l.said())
	late := asked(p)
	late.Settle(&p.System.Plain, nil, nil) // the caller has given up
	r = &Request{Ref: r.Ref, Kind: ByReply, Ticket: late}
	p.Ask(&p.System.Plain, nil, r, dist.Frame{})
	require.False(t, c.answer(r.Ref, "late", nil))
}

// If nobody waits for a spawn, its monitor is taken away.
func TestStarted(t *testing.T) {
	_, p, l := connected()
	f := dist.Frame{Op: dist.OpSpawnReply, Ref: here.RefOf(7), From: there.PID(5), To: here.PID(1), Watched: true}
	require.False(t, p.spawned(&f))
	require.Equal(t, []dist.Frame{{Op: dist.OpDemonitor, From: here.PID(1), To: there.PID(5), Ref: f.Ref}}, l.said())
	f.Watched = false
	require.False(t, p.spawned(&f))
	require.Empty(t, l.said())
	start := &Request{Ref: f.Ref, Kind: ByStart}
	p.Ask(&p.System.Plain, nil, start, dist.Frame{})
	l.said()
	require.True(t, p.spawned(&f))
	p.Answered(f.Ref, false)
	call := &Request{Ref: f.Ref, Kind: ByResult, Ends: Ends{By: here.PID(1)}}
	p.Ask(&p.System.Plain, nil, call, dist.Frame{})
	l.said()
	require.False(t, p.spawned(&f), "its result is the answer")
	call.Forget()
	require.Equal(t, []dist.Frame{{Op: dist.OpDemonitor, From: here.PID(1), To: there.PID(5), Ref: f.Ref}}, l.said())
}

// A monitor of the peer is answered once.
func TestWatched(t *testing.T) {
	_, p, l := connected()
	a, b, c := &watcher{ref: there.RefOf(1)}, &watcher{ref: there.RefOf(2)}, &watcher{ref: there.RefOf(3)}
	down := dist.Frame{Op: dist.OpDown, From: here.PID(1)}
	require.Equal(t, Made, p.addMonitor(a, down))
	require.Equal(t, Made, p.addMonitor(b, down))
	require.Empty(t, l.said())
	require.Equal(t, TooMany, p.addMonitor(c, down))
	require.Equal(t, []dist.Frame{down}, l.said())
	require.False(t, p.hasRoom(false, true))
	require.True(t, p.hasRoom(true, false))
	require.True(t, p.hasMonitor(a))
	require.False(t, p.hasMonitor(c))

	require.True(t, p.PutDown(a, down))
	require.Equal(t, []dist.Frame{down}, l.said())
	require.False(t, p.PutDown(a, down))
	require.Empty(t, l.said())

	other := &watcher{ref: b.ref}
	p.Exchange(there.RefOf(9), func(Monitor) Monitor { t.Error("there is none"); return nil })
	p.Exchange(b.ref, func(m Monitor) Monitor { require.Same(t, b, m); return other })
	require.False(t, p.PutDown(b, down))
	require.True(t, p.PutDown(other, down))
	require.Equal(t, []dist.Frame{down}, l.said())
	require.False(t, p.HandleDemonitor(b.ref))
	p.addMonitor(b, down)
	require.True(t, p.HandleDemonitor(b.ref))
	require.False(t, p.hasMonitor(b))
}

// Each time a peer exceeds a limit is counted; it is logged once, with the limit.
func TestRefusals(t *testing.T) {
	c, p, _ := connected()
	log := &logtest.Text{}
	c.cfg.Log = log.Logger()
	for i := range uint64(5) {
		p.addLink(i, there.PID(1))
	}
	require.False(t, p.hasRoom(true, false))
	require.EqualValues(t, 4, c.cfg.Quota.Limit(limits.HeldLinks).Refused())
	require.Empty(t, log.String(), "whoever refuses does not log: it may hold locks")
	p.logRefusals()
	require.Contains(t, log.Take(), "what=links limit=2")
	p.logRefusals()
	require.Empty(t, log.Take())
	_, err := c.TakeSpawn(p.Name)
	require.NoError(t, err)
	_, err = c.TakeSpawn(p.Name)
	require.ErrorIs(t, err, limits.ErrTooMany)
	_, err = c.TakeName(p.Name)
	require.NoError(t, err)
	_, err = c.TakeName(p.Name)
	require.ErrorIs(t, err, limits.ErrTooMany)
	c.TakeSpawn("c@h")
	_, err = c.TakeSpawn("c@h")
	require.ErrorIs(t, err, limits.ErrTooMany, "it is not connected")
	p.logRefusals()
	text := log.Take()
	require.Contains(t, text, "what=spawned")
	require.Contains(t, text, "what=names")
}

// A peer that is silent for all ticks of TickTime is over; anything it sends restarts the count. A tick is sent when
// nothing else goes out, or nothing comes.
func TestTicks(t *testing.T) {
	_, p, l := connected()
	for range 3 * TicksPerTime {
		l.in++
		l.out++
		p.check()
		require.False(t, p.IsOver())
	}
	for range TicksPerTime - 1 {
		l.out++ // what is sent to it is no sign of life
		p.check()
	}
	require.False(t, p.IsOver())
	l.in++
	p.check()
	for range TicksPerTime - 1 {
		l.out++ // what is sent to it is no sign of life
		p.check()
	}
	require.False(t, p.IsOver())
	p.check()
	require.True(t, p.IsOver())
	require.ErrorContains(t, p.Why(), "nothing received from the peer for 1h0m0s")
}
