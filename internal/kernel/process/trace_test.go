package process_test

import (
	"fmt"
	"github.com/actornode/actornode/internal/sched/fiber"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/watch"

	"github.com/actornode/actornode/wire"
)

// feed takes the events of a trace.
type feed struct{ all []string }

func (f *feed) Full() bool { return false }
func (f *feed) Miss()      {}
func (f *feed) Close()     {}
func (f *feed) Send(e watch.TraceEvent) {
	kinds := map[watch.TraceKind]string{watch.TraceReceive: "receive", watch.TraceSend: "send", watch.TraceLink: "link", watch.TraceUnlink: "unlink",
		watch.TraceLinked: "linked", watch.TraceUnlinked: "unlinked", watch.TraceMonitor: "monitor", watch.TraceDemonitor: "demonitor",
		watch.TraceSignal: "signal", watch.TraceRegister: "register", watch.TraceExit: "exit"}
	f.all = append(f.all, fmt.Sprint(kinds[e.Kind], " ", e.Process, " ", e.Other, " ", e.Name, " ", e.Message))
}

// A tracer sees what its traced process does, and what is done to it; it sees nothing of other processes.
func TestTraced(t *testing.T) {
	s := newSystem(t)
	f := &feed{}
	h := *s.Tracing.Host()
	h.Find = func(pid wire.PID) (watch.EndedFunc, error) { return s.Lookup(pid).Ended, nil }
	s.Tracing.Init(h)
	p, q, other := s.spawn(trapping), s.spawn(), s.spawn(trapping)
	me, you := p.PID(), q.PID()
	require.NoError(t, s.Tracing.Add(&watch.Trace{Feed: f, Kinds: watch.TraceAll, Max: 1, Show: func(v any) any { return v }}, me))
	shown := func(want ...string) {
		t.Helper()
		require.Equal(t, want, f.all)
		f.all = nil
	}
	event := func(kind string, with wire.PID, name wire.Atom, msg any) string {
		return fmt.Sprint(kind, " ", me, " ", with, " ", name, " ", msg)
	}
	p.Link(&p.as, you)
	shown(event("link", you, "", nil))
	q.Link(&q.as, me)
	shown(event("linked", you, "", nil))
	p.Unlink(&p.as, you)
	shown(event("unlink", you, "", nil))
	q.Unlink(&q.as, me)
	shown(event("unlinked", you, "", nil))
	ref := p.Monitor(&p.as, you)
	shown(event("monitor", you, "", nil))
	p.Demonitor(&p.as, ref, false)
	shown(event("demonitor", you, "", nil))
	s.connect(there)
	ref = p.Monitor(&p.as, far(1))
	shown(event("monitor", far(1), "", nil))
	p.Demonitor(&p.as, ref, false)
	shown(event("demonitor", far(1), "", nil))
	p.Monitor(&p.as, wire.At{Name: "x", Node: there})
	shown(event("monitor", wire.PID{}, "x", nil))
	p.register("shop")
	shown(event("register", wire.PID{}, "shop", nil))
	s.ExitSignal(&q.as, you, me, "signal")
	shown(event("signal", you, "", "signal"), event("receive", wire.PID{}, "", exited(you, "signal")))
	p.Link(&p.as, other.PID())
	f.all = nil
	other.die("x")
	shown(event("signal", other.PID(), "", "x"), event("receive", wire.PID{}, "", exited(other.PID(), "x")))
	q.Link(&q.as, s.spawn().PID())
	q.Monitor(&q.as, s.spawn().PID())
	shown()

	msg, err := p.Shown(s.Traces(), you, "m")
	require.NoError(t, err)
	require.Equal(t, "m", msg)
	shown(event("receive", you, "", "m"))
	require.NoError(t, p.Deliver(&s.Plain, "not shown twice"))
	shown()
	p.expectsToken()
	_, err = p.as.SendWith(you, "m")
	require.NoError(t, err)
	shown(event("send", you, "", "m"))
	k := q.ask("tag", p)
	k.Settle(&p.as, 1, nil)
	shown()
	c := &process.Call{System: &s.System, Waiter: answered(func() {}), Asker: &p.Process}
	c.NewTicket().Settle(&q.as, 1, nil)
	shown(event("receive", you, "", calls.GoReply(1)))
	p.die("end")
	shown(event("exit", wire.PID{}, "", "end"))
	require.Nil(t, s.Traces())
}

// expectsToken sends p along the path of processes that may have a token.
func (p *proc) expectsToken() { p.Status.Token(); p.ColdPart() }

// A message that cannot be copied is not sent by a process with a token either.
func TestSendWithRefused(t *testing.T) {
	s := newSystem(t)
	s.Tracing.Keep(&guard{refuses: "no"})
	p, q := s.spawn(), s.spawn()
	p.expectsToken()
	marked(fiber.MarkOf(&p.Process), func() {
		done, err := p.as.SendWith(q.PID(), "no")
		require.True(t, done)
		require.Equal(t, errTest, err)
		require.Empty(t, q.took())
		done, err = p.as.SendWith(q.PID(), "yes")
		require.True(t, done)
		require.NoError(t, err)
		require.Equal(t, []any{"yes"}, q.took())

		// A signal is compared, too; a timer's message that has become unfit is lost, and the trace shows that.
		q.Signal(&p.as, "signal")
		require.False(t, q.Plain())
		require.Equal(t, []any{"signal"}, q.took())
	})
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(t)
		s.Tracing.Keep(&guard{refuses: "no"})
		p := s.spawn()
		require.True(t, p.Timers().Start(new(process.Timer), 1, 0, "no"))
		require.True(t, p.Timers().Start(new(process.Timer), 2, 0, "yes"))
		pass(time.Second)
		require.Equal(t, []any{"yes"}, p.took())
		require.Equal(t, []string{fmt.Sprint("no_process ", p.PID(), " no")}, s.dead())
	})
}
