package runner_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/mailbox"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/watch"

	"github.com/actornode/actornode/internal/testkit/processtest"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
)

// inspectedSystem is the host of a node's processes.
type inspectedSystem struct {
	process.System
	processtest.Host
	t    *testing.T
	left []watch.Left
}

func newInspectedSystem(t *testing.T) *inspectedSystem {
	s := &inspectedSystem{t: t}
	s.Node = func(wire.Atom) process.Remote { return remote{} }
	processtest.Init(&s.System, s, wire.NodeID{Name: "a@h", Creation: 7}, 100)
	s.Tracing.Init(watch.TraceHost{Find: func(pid wire.PID) (watch.EndedFunc, error) { return s.Lookup(pid).Ended, nil }})
	processtest.Start(t, &s.System, 1, 2)
	return s
}

// Left is part of process.Host.
func (s *inspectedSystem) Left(_ *process.Process, left watch.Left) { s.left = append(s.left, left) }

// remote is another node that accepts everything and says nothing.
type remote struct{ process.Remote }

func (remote) Link(near *process.Process, far wire.PID) bool { return near.AddLinkLocked(far) }
func (remote) Monitor(*process.Monitor) bool                 { return true }
func (remote) Demonitor(*process.Monitor)                    {}
func (remote) Exit(uint64, wire.PID, any)                    {}
func (remote) Down(*process.Monitor, wire.PID, any)          {}
func (remote) Pace(*process.Acting)                          {}
func (remote) NodeName() wire.Atom                           { return "b@h" }

func far(n uint64) wire.PID { return wire.NewOrigin(wire.NodeID{Name: "b@h", Creation: 3}).PID(n) }

type inspectedBody func(b *runner.Blocking)

func (f inspectedBody) Run(b *runner.Blocking) error { f(b); return nil }

// spawn runs f in a goroutine of its own, or as a coroutine on stage 1; if f is nil, it makes a handle.
func (s *inspectedSystem) spawn(coroutine bool, f inspectedBody, with ...func(*process.Process)) *runner.Blocking {
	b := new(runner.Blocking)
	p := &b.Own
	switch {
	case coroutine:
		b.InitCoroutine(&s.System, f, new(runner.Turns))
	case f != nil:
		b.Init(&s.System, f)
	default:
		b.Init(&s.System, nil)
	}
	p.System = &s.System
	if coroutine {
		p.Adopt(p.Task(), s.Pool.Stage(1), true)
	} else {
		p.Inbox.Claim()
	}
	for _, w := range with {
		w(p)
	}
	id, ok := s.Table.Reserve(nil)
	require.True(s.t, ok)
	p.ID = id
	s.Table.Put(id, p)
	s.Count(&s.Plain, 1)
	p.Runner().Start(&s.Plain, nil, p.Fresh)
	return b
}

func (s *inspectedSystem) send(b *runner.Blocking, msgs ...any) {
	for _, m := range msgs {
		require.NoError(s.t, b.Own.Deliver(&s.Plain, m))
	}
}

// look returns what can be seen of a process, except values that change with time.
func look(b *runner.Blocking) observe.Process {
	i := runner.Describe(&b.Own, func(i *observe.Process) { i.Behaviour = "more" })
	i.Started, i.Wait.Since = time.Time{}, time.Time{}
	return i
}

type feed struct{}

func (feed) Send(watch.TraceEvent) {}
func (feed) Full() bool            { return false }
func (feed) Miss()                 {}
func (feed) Close()                {}

// A process with everything that can be seen of one, and one with nothing.
func TestProcess(t *testing.T) {
	s := newInspectedSystem(t)
	s.Global = &tables.GlobalNames{Ended: func(wire.PID) {}}
	server := s.spawn(false, nil)
	s.Global.Serve(server.Own.PID())
	bare := s.spawn(false, nil)
	require.Equal(t, observe.Process{PID: bare.Own.PID(), State: observe.Running, Stage: -1, Behaviour: "more"}, look(bare))

	parent, target := s.spawn(false, nil), s.spawn(false, nil)
	started := time.Now().UnixNano()
	p := s.spawn(false, nil, func(p *process.Process) {
		p.Parent, p.Started, p.Daemon, p.Global = parent.Own.ID+1, started, true, true
		p.ColdPart().Label = "label"
		p.Follow(far(9))
	})
	me := &p.Own
	require.NoError(t, s.Names.Enter((*process.Named)(me), tables.NameEntry{Name: "shop"}))
	me.SetTrap(true)
	for _, to := range []wire.PID{target.Own.PID(), parent.Own.PID(), far(1)} {
		me.Link(&p.Acting, to)
	}
	me.Monitor(&p.Acting, target.Own.PID())
	me.Monitor(&p.Acting, far(2))
	me.Monitor(&p.Acting, wire.At{Name: "other", Node: "b@h"}) // which process is not known
	me.MonitorNode(&p.Acting, "b@h")
	bare.Own.Monitor(&bare.Acting, me.PID())
	m := process.WatchedBy(remote{}, far(3), far(0).Origin().RefOf(1), me, "")
	require.True(t, m.Attach())
	call := target.Requested("tag")
	call.Target = me
	call.NewTicket()
	require.True(t, call.List())
	me.Handled.Store(7)
	s.send(p, 1, 2, 3)
	me.Cold.Left = watch.NewLeft(time.Now().UnixNano(), "x")
	me.Cold.Left.Add()
	require.NoError(t, s.Tracing.Add(&watch.Trace{Feed: feed{}, Max: 1}, me.PID()))
	i := runner.Describe(me, func(i *observe.Process) {
		require.False(t, me.Mu.TryLock(), "the process is locked")
		i.Code = "code"
	})
	require.Equal(t, started, i.Started.UnixNano())
	require.WithinDuration(t, time.Now(), i.Unhandled.Since, time.Hour)
	i.Started, i.Unhandled.Since = time.Time{}, time.Time{}
	require.Equal(t, observe.Process{
		PID: me.PID(), Name: "shop", Label: "label", Code: "code", Leader: far(9), State: observe.Running, Stage: -1,
		Mailbox: 3, Handled: 7, TrapExit: true,
		Links:    []wire.PID{parent.Own.PID(), target.Own.PID(), far(1)},
		Named:    []wire.At{{Name: "other", Node: "b@h"}},
		Monitors: []wire.PID{target.Own.PID(), far(2)},
		Watchers: []wire.PID{server.Own.PID(), bare.Own.PID(), far(3)},
		Parent:   parent.Own.PID(), Traced: true, Calls: 1, Daemon: true, Unhandled: observe.Unhandled{Count: 1, Oldest: "string"},
	}, i)
	require.Empty(t, s.left)
	me.Cold.Left.Since = time.Now().Add(-time.Hour).UnixNano()
	look(p)
	look(p)
	require.Len(t, s.left, 1, "they are old: whoever looks has it reported, once")

	p.Close("x")
	i = look(p)
	require.Equal(t, observe.Dead, i.State)
	require.Empty(t, i.Links)
	require.Empty(t, i.Watchers)
	require.Empty(t, i.Monitors)
	require.Zero(t, i.Calls)
}

// A process that is telling others of its end is exiting.
func TestExiting(t *testing.T) {
	s := newInspectedSystem(t)
	p, w := s.spawn(false, nil), s.spawn(false, nil)
	ctx := p.Own.Context()
	var seen observe.State
	done := make(chan struct{})
	context.AfterFunc(ctx, func() { close(done) })
	call := w.Requested("tag")
	call.Target, call.Waiter = &p.Own, nil
	call.Asker, call.More = nil, &process.Watches{}
	call.More.Add(&s.Plain, func(*process.Acting) { seen = look(p).State })
	call.NewTicket()
	require.True(t, call.List())
	p.Close("x")
	require.Equal(t, observe.Exiting, seen)
	require.Equal(t, observe.Dead, look(p).State)
	<-done
}

// Observing a process shows what it does at that moment and changes nothing: it takes its messages in order, and looks
// at no more of them than before.
func TestLooksWhileItRuns(t *testing.T) {
	for _, coroutine := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newInspectedSystem(t)
			var got []any
			goOn := make(chan struct{})
			b := s.spawn(coroutine, func(b *runner.Blocking) {
				for {
					msg := b.ReceiveMatch(func(msg any) bool { return msg != "left" })
					if got = append(got, msg); msg == "compute" {
						<-goOn
					}
				}
			})
			stage := -1
			if coroutine {
				stage = 1
			}
			for round := range 3 {
				synctest.Wait()
				i := look(b)
				require.Equal(t, observe.Waiting, i.State)
				require.Equal(t, "message", i.Wait.For)
				require.Equal(t, stage, i.Stage)
				require.Equal(t, round, i.Mailbox)
				require.Len(t, runner.Messages(&b.Own, 10), round)
				s.send(b, 1, "compute", "left", 2)
				synctest.Wait()
				i = look(b)
				require.Equal(t, observe.Running, i.State)
				require.Zero(t, i.Wait.For)
				require.Equal(t, round+2, i.Mailbox)
				require.EqualValues(t, 3*round+2, i.Handled)
				want := append(slices.Repeat([]any{"left"}, round+1), 2)
				require.Equal(t, want, runner.Messages(&b.Own, 10))
				require.Equal(t, want[:1], runner.Messages(&b.Own, 1))
				require.Equal(t, want, runner.Messages(&b.Own, 10), "that has changed nothing")
				require.Equal(t, []int{round + 2, -1}, runner.Mailboxes(&s.System, []wire.PID{b.Own.PID(), far(1)}))
				goOn <- struct{}{}
			}
			synctest.Wait()
			require.Equal(t, []any{1, "compute", 2, 1, "compute", 2, 1, "compute", 2}, got)
			require.Zero(t, s.Lingering.Load())
			s.send(b, "compute")
			synctest.Wait()
			b.Own.Exit(&s.Plain, "x")
			close(goOn)
		})
	}
}

// Constant observation disturbs nobody: a process takes each message once and in order.
func TestLooksAllTheTime(t *testing.T) {
	s := newInspectedSystem(t)
	for _, coroutine := range []bool{false, true} {
		const n = 3000
		done := make(chan struct{})
		b := s.spawn(coroutine, func(b *runner.Blocking) {
			for i := range n {
				require.Equal(t, i, b.Receive())
			}
			close(done)
			b.Receive()
		})
		go func() {
			for i := range n {
				s.send(b, i)
			}
		}()
		for over := false; !over; {
			select {
			case <-done:
				over = true
			default:
			}
			i := look(b)
			require.LessOrEqual(t, i.Handled, uint64(n))
			require.LessOrEqual(t, i.Mailbox, n)
			last := -1
			for _, m := range runner.Messages(&b.Own, 5) {
				require.Greater(t, m, last)
				last = m.(int)
			}
		}
		require.EqualValues(t, n, look(b).Handled)
	}
}

// Messages shows what has been sent: without tokens, without entries that are not messages, and without the contents of
// a bounded mailbox.
func TestMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newInspectedSystem(t)
		b := s.spawn(true, func(b *runner.Blocking) {
			b.ReceiveWithin(time.Second, func(any) bool { return false })
			b.ReceiveMatch(func(any) bool { return false })
		})
		synctest.Wait()
		require.NoError(t, b.Own.DeliverWith(&s.Plain, "traced", wire.Tuple{1, 2, 3, 4, 5}))
		b.Blocks.Answered(&s.Plain) // which is no message
		s.send(b, "plain")
		require.Equal(t, []any{"traced", "plain"}, runner.Messages(&b.Own, 10))
		time.Sleep(2 * time.Second)
		require.Equal(t, []any{"traced", "plain"}, runner.Messages(&b.Own, 10))
		require.Empty(t, runner.Messages(&b.Own, 0))

		goOn := make(chan struct{})
		busy := s.spawn(false, func(b *runner.Blocking) {
			b.ReceiveMatch(func(msg any) bool { return msg == 3 })
			<-goOn
		})
		s.send(busy, 1, 2, 3)
		synctest.Wait()
		s.send(busy, 4, 5) // it has not looked at these
		all := []any{1, 2, 4, 5}
		for max := range 6 {
			require.Equal(t, fmt.Sprint(all[:min(max, 4)]), fmt.Sprint(runner.Messages(&busy.Own, max)))
		}
		close(goOn)

		box := s.spawn(false, nil, func(p *process.Process) {
			p.ColdPart().Box, p.Boxed = inbox.NewBounded(mailbox.Bounds{Messages: 9}), true
		})
		s.send(box, 1, 2)
		require.Nil(t, runner.Messages(&box.Own, 10))
		require.Equal(t, 2, look(box).Mailbox)
	})
}

// All processes, and some of them.
func TestPIDs(t *testing.T) {
	s := newInspectedSystem(t)
	a, b, c := s.spawn(false, nil), s.spawn(false, nil), s.spawn(false, nil)
	b.Close("x")
	require.ElementsMatch(t, []wire.PID{a.Own.PID(), c.Own.PID()}, slices.Collect(runner.PIDs(&s.System)))
	for range runner.PIDs(&s.System) {
		break
	}
	s.send(c, 1)
	pids := []wire.PID{a.Own.PID(), b.Own.PID(), c.Own.PID(), far(1)}
	require.Equal(t, []int{0, -1, 1, -1}, runner.Mailboxes(&s.System, pids))
	require.Equal(t, []uint64{a.Own.ID, 0, c.Own.ID, 0},
		runner.EachOf(&s.System, pids, func(p *process.Process) uint64 { return p.ID }))
}

// inner is the key of a value in a context.
type inner struct{}

// The origin of a process: its label, its parent, and the peer that started it, as its context says.
func TestOrigin(t *testing.T) {
	s := newInspectedSystem(t)
	q := limits.NewQuota(limits.Limits{Spawned: 10})
	take := func() *limits.Owner {
		o, err := q.Owners.TakeSpawn(rights.Identity{Name: "b@h"})
		require.NoError(t, err)
		return o
	}
	p := s.spawn(false, nil)
	require.Empty(t, runner.LabelOf(&p.Own))
	require.Zero(t, runner.ParentOf(&p.Own))
	require.Nil(t, process.OwnerIn(t.Context()))
	require.Nil(t, process.ProcOf(t.Context()))
	ctx := p.Own.Context()
	require.Same(t, &p.Own, process.ProcOf(context.WithValue(ctx, inner{}, 1)))
	require.Nil(t, process.OwnerIn(ctx))
	require.Empty(t, runner.CallingPeer(ctx))
	p.Own.Cold.Label = "label"
	require.Equal(t, "label", runner.LabelOf(&p.Own))
	child := s.spawn(false, nil, func(c *process.Process) { c.Parent = p.Own.ID + 1 })
	require.Equal(t, p.Own.PID(), runner.ParentOf(&child.Own))

	owner := take()
	runner.SetOwner(&p.Own, owner)
	require.Same(t, owner, process.OwnerIn(ctx))
	require.Equal(t, wire.Atom("b@h"), runner.CallingPeer(ctx))
	spawned, _ := q.Owners.Most()
	require.EqualValues(t, 1, spawned)
	p.Close("x")
	spawned, _ = q.Owners.Most()
	require.Zero(t, spawned)
	runner.SetOwner(&p.Own, take()) // it is dead: nobody else would release it
	spawned, _ = q.Owners.Most()
	require.Zero(t, spawned)
}
