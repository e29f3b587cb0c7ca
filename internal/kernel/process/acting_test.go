package process_test

import (
	"github.com/actornode/actornode/internal/sched/fiber"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/wire"
)

// An Acting may be a process, a plain goroutine, or a handler that has returned.
func TestActing(t *testing.T) {
	s := newSystem(t)
	p := s.spawn()
	require.Same(t, &p.Process, p.as.Own())
	require.Equal(t, p.PID(), p.as.PID())
	require.Equal(t, p.PID(), p.as.Sender())
	require.True(t, p.as.Is(&p.Process))
	require.False(t, p.as.Gone())
	require.False(t, (&process.Acting{System: &s.System, Process: &p.Process}).Is(&p.Process), "nobody runs it")

	require.Nil(t, s.Plain.Own())
	require.Zero(t, s.Plain.PID())
	require.Equal(t, s.Me, s.Plain.Sender())
	require.False(t, s.Plain.Gone())
	require.Nil(t, s.Plain.OutboxTurn())
	require.Nil(t, s.Plain.Slots())
	s.Plain.Block()
	s.Plain.Unwind()

	late := process.Acting{System: &s.System, Process: &s.Over}
	require.True(t, s.Over.Gone())
	require.True(t, s.Over.Status.IsDead())
	require.Panics(t, func() { late.Own() })
	require.Panics(t, func() { late.Gone() })
	require.Panics(t, func() { late.PID() })
	require.Panics(t, func() { late.Alias(false, nil) })
	require.Nil(t, late.Requested("tag").Waiter, "it is no call of a worker's")

	seen := map[wire.Ref]bool{}
	for range 1000 {
		for _, a := range []*process.Acting{&s.Plain, &p.as} {
			ref := a.NewRef()
			require.False(t, seen[ref])
			seen[ref] = true
		}
	}

	unwound := 0
	p.as.Blocks = answered(func() { unwound++ })
	p.as.Unwind()
	require.Zero(t, unwound)
	p.Exit(&s.Plain, "x")
	p.as.Unwind()
	require.Equal(t, 1, unwound)
	require.True(t, p.as.Gone())
}

// Each kind of process runs on a stage, or does not.
func TestKinds(t *testing.T) {
	for k, on := range map[process.Kind]bool{process.Actor: true, process.Coroutine: true, process.External: false,
		process.Goroutine: false, process.Handle: false} {
		p := &process.Process{Kind: k}
		require.Equal(t, on, p.OnStage(), k)
	}
}

// A trace token travels with a message from one mailbox to the next, and a message without one takes it away.
func TestToken(t *testing.T) {
	s := newSystem(t)
	p, q := s.spawn(), s.spawn()
	token := wire.Tuple{1, "label", 5, far(1), 4}
	require.True(t, p.Plain())
	require.NoError(t, p.DeliverWith(&s.Plain, "plain", nil))
	require.True(t, p.Plain())
	require.NoError(t, p.DeliverWith(&s.Plain, "traced", token))
	require.False(t, p.Plain())
	require.False(t, p.Gone())
	require.NoError(t, p.Deliver(&s.Plain, "after"))
	open := func(p *proc) any {
		p.Refill()
		p.OpenNext()
		msg, ok := p.Queue.Next()
		require.True(t, ok)
		return msg
	}
	require.Equal(t, "plain", open(p))
	require.Nil(t, p.Token())
	p.Settle(nil, nil)
	require.Equal(t, "traced", open(p))
	require.Equal(t, wire.Tuple{1, "label", 6, p.PID(), 5}, p.Token())

	p.Settle(nil, process.ErrUnhandled) // it keeps its token while it is left
	p.Queue.Rewind()
	require.Equal(t, "traced", open(p))
	require.NotNil(t, p.Token())

	done, err := p.as.SendWith(q.PID(), "on")
	require.True(t, done)
	require.NoError(t, err)
	require.Equal(t, "on", open(q))
	require.Equal(t, wire.Tuple{1, "label", 9, q.PID(), 8}, q.Token())
	done, err = p.as.SendWith(far(1), "on")
	require.False(t, done)
	require.NoError(t, err)

	child := s.spawn()
	child.Inherit(q.Token())
	require.Equal(t, wire.Tuple{1, "label", 11, child.PID(), 10}, child.Token())
	coroutine := s.spawn(func(p *proc) { p.Kind = process.Coroutine })
	coroutine.Inherit(q.Token())
	require.Equal(t, wire.Tuple{1, "label", 12, coroutine.PID(), 11}, coroutine.Token())
	label, ok := coroutine.Label()
	require.True(t, ok)
	require.Equal(t, "label", label)
	coroutine.ClearToken()
	require.Nil(t, coroutine.Token())
	coroutine.SetLabel("new", nil) // the serial counts on
	require.Equal(t, wire.Tuple{0, "new", 13, coroutine.PID(), 11}, coroutine.Token())
	plain := s.spawn()
	plain.Inherit(nil)
	require.True(t, plain.Plain())

	box := s.spawn(boxed(bounded(1, 0)))
	require.NoError(t, box.DeliverWith(&s.Plain, "m", token))
	require.True(t, box.Plain())
	require.Equal(t, []any{"m"}, box.took())

	p.Settle(nil, nil)
	require.Equal(t, "after", open(p))
	require.Nil(t, p.Token())
	var nobody *process.Process
	require.Nil(t, nobody.Token())

	p.die("x")
	done, err = p.as.SendWith(q.PID(), "dead")
	require.True(t, done)
	require.Equal(t, process.ErrExited, err)
}

// guard copies each message that must be copied, and is told of those that are received.
type guard struct {
	refuses  any
	received []any
}

type receipt struct {
	g   *guard
	msg any
}

func (w receipt) Received() { w.g.received = append(w.g.received, w.msg) }

func (g *guard) Checks() bool { return true }
func (g *guard) Copy(must bool, msg any) (any, error) {
	switch {
	case msg == g.refuses:
		return msg, errTest
	case must:
		return "copy of " + msg.(string), nil
	}
	return msg, nil
}
func (g *guard) Watch(_, _ wire.PID, msg any) watch.Watch { return receipt{g, msg} }
func (g *guard) Hold(_, _ wire.PID, msg any) watch.Watch  { return nil }
func (g *guard) Gone(wire.PID)                            {}

// Where messages are kept apart, a message to a process is copied if it must be, watched, and may be refused.
func TestShown(t *testing.T) {
	s := newSystem(t)
	g := &guard{refuses: "no"}
	s.Tracing.Keep(g)
	p := s.spawn(func(p *proc) { p.Copies = true })
	q := s.spawn()
	v := s.Traces()
	msg, err := p.Shown(v, q.PID(), "m")
	require.NoError(t, err)
	require.Equal(t, "copy of m", watch.BareMessage(msg))
	require.False(t, p.Plain(), "a *Carried will come")
	require.NoError(t, p.Deliver(&s.Plain, msg))
	p.Refill()
	p.OpenNext()
	require.Equal(t, []any{"copy of m"}, g.received)
	require.Equal(t, []any{"copy of m"}, p.took())

	msg, err = q.Shown(v, p.PID(), "m")
	require.NoError(t, err)
	require.Equal(t, "m", watch.BareMessage(msg))
	_, err = q.Shown(v, p.PID(), "no")
	require.Equal(t, errTest, err)

	box := s.spawn(boxed(bounded(1, 0)))
	msg, err = box.Shown(v, p.PID(), "m")
	require.NoError(t, err)
	require.Equal(t, "m", msg)
	require.True(t, box.Plain())
	require.Panics(t, func() { p.as.Own() }, "another goroutine acts")
	marked(fiber.MarkOf(&p.Process), func() { q.Signal(&p.as, "signal") })
	require.Equal(t, []any{"signal"}, q.took())
}
