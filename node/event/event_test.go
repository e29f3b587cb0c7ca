package event_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// scriptNode is a node with a manager, and a handle to act through, in a bubble.
type scriptNode struct {
	*testing.T
	n   *node.Node
	me  *nodetest.Probe
	pid node.PID
	log *logtest.Text
}

func onStage(t *testing.T, f func(s *scriptNode)) {
	actortest.InBubble(t, func(t *testing.T, n *node.Node, me *nodetest.Probe, log *logtest.Text) {
		pid, err := event.Start(t.Context(), me, event.Config{}, node.Options{})
		require.NoError(t, err)
		f(&scriptNode{t, n, me, pid, log})
	})
}

// probe is a handler made of functions.
type probe struct {
	init      func(c *event.Context) error
	inherit   func(legacy any, found bool) error
	event     func(c *event.Context, e any) error
	call      func(c *event.Context, q any) (any, error)
	terminate func(end event.End) any
	ends      []event.End
	state     any
}

func (p *probe) Init(c *event.Context) error {
	if p.init != nil {
		return p.init(c)
	}
	return nil
}

func (p *probe) Inherit(c *event.Context, legacy any, found bool) error {
	if p.inherit != nil {
		return p.inherit(legacy, found)
	}
	return nil
}

func (p *probe) HandleEvent(c *event.Context, e any) error {
	if p.event != nil {
		return p.event(c, e)
	}
	return nil
}

func (p *probe) HandleCall(c *event.Context, q any) (any, error) { return p.call(c, q) }

func (p *probe) Terminate(_ *event.Context, end event.End) any {
	p.ends = append(p.ends, end)
	if p.terminate != nil {
		return p.terminate(end)
	}
	return "bye"
}

func (p *probe) State() any { return p.state }

func (p *probe) SetState(t any) error {
	if t == wire.Atom("bad") {
		return errors.New("never")
	}
	p.state = t
	return nil
}

// plain has nothing but HandleEvent.
type plain struct{}

func (plain) HandleEvent(*event.Context, any) error { return nil }

func id(name string) event.ID { return event.ID{Module: node.Atom(name)} }

var errOops = errors.New("oops")

// What ends a handler, what its Terminate and its owner get, and which handlers stay.
func TestHowHandlersEnd(t *testing.T) {
	crash := func(err error) any { return &node.Crash{Reason: err} }
	for _, c := range []struct {
		name   string
		event  func(c *event.Context, e any) error
		do     func(s *scriptNode) error
		how    event.How
		arg    any
		reason any
		log    string
	}{
		{"an error", func(*event.Context, any) error { return errOops }, nil, event.Failed, errOops, crash(errOops), "error: oops"},
		{"ExitWith", func(*event.Context, any) error { return node.ExitWith("enough") }, nil, event.Failed, "enough", "enough",
			"enough"},
		{"a panic", func(*event.Context, any) error { panic("bad cake") }, nil, event.Failed, nil, nil, "bad cake"},
		{"Remove", func(*event.Context, any) error { return event.ErrRemove }, nil, event.Removed, nil, node.Normal, ""},
		{"Delete", nil, func(s *scriptNode) error {
			answer, err := event.Delete(s.Context(), s.n, s.pid, id("a"), 7)
			assert.Equal(s, "bye", answer)
			return err
		}, event.Deleted, 7, node.Normal, ""},
		{"Swap", nil, func(s *scriptNode) error {
			return event.Swap(s.Context(), s.n, s.pid, id("a"), 7, id("z"), plain{})
		}, event.Swapped, 7, wire.Tuple{wire.Atom("swapped"), wire.Atom("z"), nil}, ""},
		{"Context.Swap", func(c *event.Context, _ any) error { c.Swap(7, id("z"), plain{}); return nil }, nil,
			event.Swapped, 7, wire.Tuple{wire.Atom("swapped"), wire.Atom("z"), nil}, ""},
		{"Stop", nil, func(s *scriptNode) error { return sys.Stop(s.Context(), s.n, s.pid, node.Shutdown) }, event.Stopped,
			node.Shutdown, node.Shutdown, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			onStage(t, func(s *scriptNode) {
				a := &probe{event: c.event}
				others := 0
				count := event.Func(func(*event.Context, string) error { others++; return nil })
				require.NoError(t, event.Add(s.Context(), s.n, s.pid, id("below"), count))
				require.NoError(t, event.Add(s.Context(), s.me, s.pid, id("a"), event.Owned(a)))
				require.NoError(t, event.Add(s.Context(), s.n, s.pid, id("above"), count))
				require.NoError(t, event.SyncNotify(s.Context(), s.n, s.pid, "go"))
				assert.Equal(t, 2, others)
				if c.do != nil {
					require.NoError(t, c.do(s))
				}
				require.Len(t, a.ends, 1)
				assert.Equal(t, c.how, a.ends[0].How)
				e := node.ReceiveOf[event.Exit](s.me.Process)
				assert.Equal(t, id("a"), e.Handler)
				if c.name == "a panic" {
					crash := e.Reason.(*node.Crash)
					assert.Equal(t, "bad cake", crash.Reason)
					assert.Contains(t, string(crash.Stack), "HandleEvent")
					assert.Equal(t, any(crash), a.ends[0].Arg)
				} else {
					if want, ok := c.reason.(wire.Tuple); ok {
						want[2] = s.me.Self()
					}
					assert.Equal(t, c.reason, e.Reason)
					assert.Equal(t, c.arg, a.ends[0].Arg)
				}
				if c.log == "" {
					assert.Empty(t, s.log.String())
				} else {
					assert.Contains(t, s.log.String(), "event handler terminated")
					assert.Contains(t, s.log.String(), c.log)
				}
				if c.how != event.Stopped {
					left, err := event.Handlers(s.Context(), s.n, s.pid)
					require.NoError(t, err)
					assert.NotContains(t, left, id("a"))
					assert.Contains(t, left, id("above"))
					assert.Contains(t, left, id("below"))
				}
			})
		})
	}
}

func TestInit(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		add := func(init func(*event.Context) error) error {
			return event.Add(s.Context(), s.n, s.pid, id("a"), &probe{init: init})
		}
		assert.ErrorIs(t, add(func(*event.Context) error { return errOops }), errOops)
		err := add(func(*event.Context) error { panic("bad cake") })
		var exit *node.ExitError
		require.ErrorAs(t, err, &exit)
		assert.Equal(t, "bad cake", exit.Reason.(*node.Crash).Reason)
		assert.ErrorIs(t, event.Add(s.Context(), s.n, s.pid, id("a"), nil), node.ErrArgument)
		assert.EqualError(t, event.Add(s.Context(), s.n, s.pid, id("a"), event.Owned(plain{})), "event: only a process can own a handler")
		assert.EqualError(t, event.Swap(s.Context(), s.n, s.pid, id("z"), nil, id("a"), event.Owned(plain{})), "event: only a process can own a handler")
		all, err := event.Handlers(s.Context(), s.n, s.pid)
		require.NoError(t, err)
		assert.Empty(t, all)
		require.NoError(t, add(func(c *event.Context) error {
			assert.Equal(t, id("a"), c.ID())
			assert.Equal(t, s.pid, c.Self())
			return nil
		}))
	})
}

func TestInheritance(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		var got []any
		heir := func() *probe {
			return &probe{
				init:    func(*event.Context) error { t.Error("Init of an Heir that inherits"); return nil },
				inherit: func(legacy any, found bool) error { got = append(got, legacy, found); return nil },
			}
		}
		require.NoError(t, event.Swap(s.Context(), s.n, s.pid, id("nobody"), nil, id("a"), heir()))
		require.NoError(t, event.Swap(s.Context(), s.n, s.pid, id("a"), nil, id("b"), heir()))
		assert.Equal(t, []any{wire.AtomError, false, "bye", true}, got)
		err := event.Swap(s.Context(), s.n, s.pid, id("b"), nil, id("c"), &probe{inherit: func(any, bool) error { return errOops }})
		assert.ErrorIs(t, err, errOops)
		all, err := event.Handlers(s.Context(), s.n, s.pid)
		require.NoError(t, err)
		assert.Empty(t, all)
	})
}

// The owner of a handler whose replacement fails gets the reason.
func TestReplacementFails(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		h := &probe{event: func(c *event.Context, _ any) error {
			c.Swap(nil, id("b"), &probe{inherit: func(any, bool) error { return errOops }})
			return nil
		}}
		require.NoError(t, event.Add(s.Context(), s.me, s.pid, id("a"), event.Owned(h)))
		require.NoError(t, event.SyncNotify(s.Context(), s.n, s.pid, 1))
		assert.Equal(t, id("a"), node.ReceiveOf[event.Exit](s.me.Process).Handler)
		assert.Equal(t, event.Exit{Handler: id("b"), Reason: &node.Crash{Reason: errOops}}, node.ReceiveOf[event.Exit](s.me.Process))
		assert.Contains(t, s.log.String(), "handler=b")
	})
}

// An owner that does not read its messages holds up nobody.
func TestFullOwner(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		added, release := make(chan error, 1), make(chan struct{})
		owner, err := s.n.SpawnOpt(node.Options{Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Block}},
			node.ProcessFunc(func(p *node.Process) error {
				added <- event.Add(p.Context(), p, s.pid, id("a"), event.Owned(&probe{}))
				<-release
				return nil
			}))
		require.NoError(t, err)
		require.NoError(t, <-added)
		require.NoError(t, s.n.Send(owner, "first"))
		_, err = event.Delete(s.Context(), s.n, s.pid, id("a"), nil)
		require.NoError(t, err)
		assert.Equal(t, map[deadletter.Cause]uint64{deadletter.MailboxFull: 1}, s.n.Stats().DeadLetters)
		close(release)
	})
}

func TestCall(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		h := &probe{}
		require.NoError(t, event.Add(s.Context(), s.n, s.pid, id("a"), h))
		require.NoError(t, event.Add(s.Context(), s.n, s.pid, id("plain"), plain{}))
		ask := func(f func(*event.Context, any) (any, error)) (int, error) {
			h.call = f
			return event.Call[int](s.Context(), s.n, s.pid, id("a"), 20)
		}
		got, err := ask(func(_ *event.Context, q any) (any, error) { return q.(int) + 1, nil })
		require.NoError(t, err)
		assert.Equal(t, 21, got)
		_, err = ask(func(*event.Context, any) (any, error) { return nil, errOops })
		assert.ErrorIs(t, err, errOops)
		assert.Empty(t, h.ends, "an error of HandleCall is for the caller")
		_, err = ask(func(*event.Context, any) (any, error) { return "text", nil })
		assert.ErrorIs(t, err, node.ErrReplyType)
		_, err = event.Call[int](s.Context(), s.n, s.pid, id("plain"), 20)
		assert.ErrorIs(t, err, event.ErrNoCalls)
		_, err = event.Call[int](s.Context(), s.n, s.pid, id("nobody"), 20)
		assert.ErrorIs(t, err, event.ErrNoHandler)
		_, err = event.Delete(s.Context(), s.n, s.pid, id("nobody"), nil)
		assert.ErrorIs(t, err, event.ErrNoHandler)
		_, err = node.Call[any](s.Context(), s.n, s.pid, "what?")
		assert.ErrorContains(t, err, "event: unknown request")
		got, err = ask(func(*event.Context, any) (any, error) { return 9, event.ErrRemove })
		require.NoError(t, err)
		assert.Equal(t, 9, got)
		assert.Equal(t, []event.End{{How: event.Removed}}, h.ends)

		h = &probe{}
		require.NoError(t, event.Add(s.Context(), s.n, s.pid, id("a"), h))
		got, err = ask(func(*event.Context, any) (any, error) { return 10, fmt.Errorf("done: %w", event.ErrRemove) })
		require.NoError(t, err)
		assert.Equal(t, 10, got)
		assert.Equal(t, []event.End{{How: event.Removed}}, h.ends)

		h = &probe{}
		require.NoError(t, event.Add(s.Context(), s.n, s.pid, id("a"), h))
		_, err = ask(func(*event.Context, any) (any, error) { panic("bad cake") })
		var exit *node.ExitError
		require.ErrorAs(t, err, &exit)
		assert.Equal(t, "bad cake", exit.Reason.(*node.Crash).Reason)
		assert.Equal(t, event.Failed, h.ends[0].How)
		left, err := event.Handlers(s.Context(), s.n, s.pid)
		require.NoError(t, err)
		assert.Equal(t, []event.ID{id("plain")}, left)
	})
}

func TestCallEndsWithItsContext(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		leave := make(chan struct{})
		h := &probe{call: func(*event.Context, any) (any, error) { <-leave; return 1, nil }}
		require.NoError(t, event.Add(s.Context(), s.n, s.pid, id("a"), h))
		start := time.Now()
		ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
		defer cancel()
		_, err := event.Call[int](ctx, s.me, s.pid, id("a"), "slow")
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Minute, time.Since(start))
		close(leave)
	})
}

func TestTerminatePanics(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		require.NoError(t, event.Add(s.Context(), s.n, s.pid, id("a"), &probe{terminate: func(event.End) any { panic("bad cake") }}))
		_, err := event.Delete(s.Context(), s.n, s.pid, id("a"), nil)
		var exit *node.ExitError
		require.ErrorAs(t, err, &exit)
		assert.Equal(t, "bad cake", exit.Reason.(*node.Crash).Reason)
		assert.Contains(t, s.log.String(), "bad cake")
		assert.True(t, s.n.IsAlive(s.pid))
	})
}

// runtime.Goexit ends the manager, for nothing can keep its goroutine; the other handlers are told, once.
func TestGoexit(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		a, b := &probe{}, &probe{event: func(*event.Context, any) error { runtime.Goexit(); return nil }}
		require.NoError(t, event.Add(s.Context(), s.n, s.pid, id("a"), a))
		require.NoError(t, event.Add(s.Context(), s.n, s.pid, id("b"), b))
		err := event.SyncNotify(s.Context(), s.n, s.pid, 1)
		var exit *node.ExitError
		require.ErrorAs(t, err, &exit)
		assert.Contains(t, exit.Reason.(*node.Crash).Reason, "Goexit")
		assert.Len(t, a.ends, 1)
		assert.Len(t, b.ends, 1)
	})
}

func TestUnexpectedMessage(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		require.NoError(t, s.me.Send(s.pid, "lost"))
		_, err := event.Handlers(s.Context(), s.n, s.pid)
		require.NoError(t, err)
		assert.Contains(t, s.log.String(), "unexpected message")
	})
}

// The parent's exit ends a linked manager in an orderly way.
func TestParent(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		h := &probe{}
		parent := nodetest.NewProbe(t, s.n)
		pid, err := event.Start(s.Context(), parent, event.Config{}, node.Options{Link: true})
		require.NoError(t, err)
		require.NoError(t, event.Add(s.Context(), s.n, pid, id("a"), h))
		s.me.Monitor(pid)
		parent.Close("bored")
		assert.Equal(t, "bored", node.ReceiveOf[node.Down](s.me.Process).Reason)
		assert.Equal(t, []event.End{{How: event.Stopped, Arg: "bored"}}, h.ends)
	})
}

func TestSystem(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		a := &probe{state: 1}
		require.NoError(t, event.Add(s.Context(), s.n, s.pid, id("a"), a))
		require.NoError(t, event.Add(s.Context(), s.n, s.pid, event.ID{Module: "b", ID: 7}, &probe{state: 2}))
		state, err := sys.GetState(s.Context(), s.n, s.pid)
		require.NoError(t, err)
		assert.Equal(t, wire.List{wire.Tuple{wire.Atom("b"), 7, 2}, wire.Tuple{wire.Atom("a"), wire.AtomFalse, 1}}, state)

		change := func(at int, to any) error {
			_, err := sys.ReplaceState(s.Context(), s.n, s.pid, func(state any) (any, error) {
				old := state.(wire.List)[at].(wire.Tuple)
				state.(wire.List)[at] = wire.Tuple{old[0], old[1], to}
				return state, nil
			})
			return err
		}
		require.NoError(t, change(1, 9))
		assert.Equal(t, 9, a.state)
		assert.Error(t, change(1, wire.Atom("bad")))
		_, err = sys.ReplaceState(s.Context(), s.n, s.pid, func(any) (any, error) { return wire.List{}, nil })
		assert.Error(t, err)

		status, err := sys.GetStatus(s.Context(), s.n, s.pid)
		require.NoError(t, err)
		assert.Equal(t, wire.Tuple{wire.Atom("module"), wire.Atom("gen_event")}, status.(wire.Tuple)[2])
		assert.Contains(t, wire.Format(status), `{handler,a,false,9,false}`)

		require.NoError(t, sys.Suspend(s.Context(), s.n, s.pid))
		seen := make(chan any, 1)
		a.event = func(_ *event.Context, e any) error { seen <- e; return nil }
		require.NoError(t, event.Notify(s.n, s.pid, "later"))
		synctest.Wait()
		assert.Empty(t, seen)
		require.NoError(t, sys.ChangeCode(s.Context(), s.n, s.pid, "a", 1, 2))
		require.NoError(t, sys.Resume(s.Context(), s.n, s.pid))
		assert.Equal(t, "later", <-seen)
	})
}

func TestSubscription(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		sub, err := event.Subscribe[int](s.Context(), s.n, s.pid, 2)
		require.NoError(t, err)
		for _, e := range []any{1, "other", 2, 3, 4} {
			require.NoError(t, event.SyncNotify(s.Context(), s.n, s.pid, e))
		}
		assert.Equal(t, uint64(2), sub.Missed())
		assert.Equal(t, 1, strings.Count(s.log.String(), "an event subscriber reads too slowly and misses events"))
		assert.Equal(t, 1, <-sub.C)
		require.NoError(t, event.SyncNotify(s.Context(), s.n, s.pid, 5))
		require.NoError(t, event.SyncNotify(s.Context(), s.n, s.pid, 6))
		assert.Equal(t, uint64(3), sub.Missed())
		assert.Equal(t, 2, strings.Count(s.log.String(), "an event subscriber reads too slowly and misses events"))
		all, err := event.Handlers(s.Context(), s.n, s.pid)
		require.NoError(t, err)
		assert.Len(t, all, 1)
		sub.Close()
		sub.Close()
		var rest []int
		for e := range sub.C {
			rest = append(rest, e)
		}
		assert.Equal(t, []int{2, 5}, rest)
		all, err = event.Handlers(s.Context(), s.n, s.pid)
		require.NoError(t, err)
		assert.Empty(t, all)
	})
}

// A subscription ends with its manager, whatever ends that, and by Delete.
func TestSubscriptionEnds(t *testing.T) {
	for name, end := range map[string]func(s *scriptNode, sub *event.Subscription[int]){
		"kill": func(s *scriptNode, _ *event.Subscription[int]) { s.n.Exit(s.pid, node.Kill) },
		"stop": func(s *scriptNode, _ *event.Subscription[int]) { sys.Stop(s.Context(), s.n, s.pid, node.Normal) },
		"delete": func(s *scriptNode, _ *event.Subscription[int]) {
			all, _ := event.Handlers(s.Context(), s.n, s.pid)
			event.Delete(s.Context(), s.n, s.pid, all[0], nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(s *scriptNode) {
				sub, err := event.Subscribe[int](s.Context(), s.n, s.pid, 0)
				require.NoError(t, err)
				end(s, sub)
				_, open := <-sub.C
				assert.False(t, open)
				sub.Close()
			})
		})
	}
	onStage(t, func(s *scriptNode) {
		_, err := event.Subscribe[int](s.Context(), s.n, node.Atom("nobody"), 1)
		assert.ErrorIs(t, err, node.ErrNoName)
		ctx, cancel := context.WithCancel(s.Context())
		cancel()
		_, err = event.Subscribe[int](ctx, s.n, s.pid, 1)
		if err != nil { // the manager may have been faster
			require.NoError(t, event.SyncNotify(s.Context(), s.n, s.pid, 1))
			all, err := event.Handlers(s.Context(), s.n, s.pid)
			require.NoError(t, err)
			assert.Empty(t, all)
		}
	})
}

// The terms that a BEAM node would get.
func TestTerms(t *testing.T) {
	assert.Equal(t, wire.Atom("a"), sysmsg.Term(id("a")))
	assert.Equal(t, wire.Tuple{wire.Atom("gen_event_EXIT"), wire.Atom("a"), node.Normal},
		sysmsg.Term(event.Exit{Handler: id("a"), Reason: node.Normal}))
}

// A name, an alias, a supervisor's New and a monitor from the start.
func TestStart(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		var ref node.Ref
		pid, err := node.SpawnWait(s.Context(), s.me, node.Options{Monitor: &ref, Name: "alarms"}, event.New(event.Config{}))
		require.NoError(t, err)
		got := make(chan any, 2)
		require.NoError(t, event.Add(s.Context(), s.n, node.Atom("alarms"), id("a"), event.Func(func(_ *event.Context, e any) error {
			got <- e
			return nil
		})))
		require.NoError(t, event.Notify(s.me, node.Atom("alarms"), "by name"))
		assert.Equal(t, "by name", <-got)
		require.NoError(t, sys.Stop(s.Context(), s.n, pid, node.Normal))
		assert.Equal(t, node.Down{Ref: ref, PID: pid, Reason: node.Normal}, node.ReceiveOf[node.Down](s.me.Process))
		_, err = node.SpawnWait(s.Context(), s.n, node.Options{}, event.New(event.Config{}))
		require.NoError(t, err)
	})
}

// What a trace of a manager shows of the requests of Go code.
func TestDebug(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		debug := func(words ...any) any {
			answer, err := sys.Debug(s.Context(), s.n, s.pid, wire.Tuple(words))
			require.NoError(t, err)
			return answer
		}
		debug(wire.Atom("log"), wire.Tuple{wire.AtomTrue, 100})
		h := &probe{state: 5, call: func(*event.Context, any) (any, error) { return 1, nil }}
		require.NoError(t, event.Add(s.Context(), s.me, s.pid, id("a"), h))
		_, err := event.Call[int](s.Context(), s.me, s.pid, id("a"), "q")
		require.NoError(t, err)
		_, err = event.Call[int](s.Context(), s.me, s.pid, id("b"), "q")
		require.ErrorIs(t, err, event.ErrNoHandler)
		require.NoError(t, event.SyncNotify(s.Context(), s.me, s.pid, 7))
		require.NoError(t, event.Notify(s.me, s.pid, 8))
		require.NoError(t, event.Swap(s.Context(), s.me, s.pid, id("a"), 1, event.ID{Module: "b", ID: 2}, &probe{state: 6}))
		_, err = event.Handlers(s.Context(), s.me, s.pid)
		require.NoError(t, err)
		_, err = event.Delete(s.Context(), s.me, s.pid, event.ID{Module: "b", ID: 2}, 9)
		require.NoError(t, err)
		events := wire.Format(debug(wire.Atom("log"), wire.Atom("get")))
		for _, want := range []string{"{add_handler,a,5}", `{call,a,<<"q">>}`, "{out,1,", "{sync_notify,7}", "{in,{notify,8}}",
			"{swap_handler,a,1,{b,2},6}", "which_handlers", "{delete_handler,{b,2},9}", "{out,{error,"} {
			assert.Contains(t, events, want)
		}
	})
}

// angry panics wherever others run its code.
type angry struct{ plain }

func (angry) State() any                             { panic("not this one") }
func (angry) CodeChange(_ wire.Atom, _, _ any) error { return errOops }
func (angry) HandleInfo(*event.Context, any) error {
	panic("bad cake")
}

func TestAngryHandler(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		require.NoError(t, s.n.Register("alarms", s.pid))
		require.NoError(t, event.Add(s.Context(), s.me, s.pid, id("a"), event.Owned(angry{})))
		_, err := sys.GetState(s.Context(), s.n, s.pid)
		assert.Error(t, err)
		_, err = sys.GetStatus(s.Context(), s.n, s.pid)
		require.NoError(t, err)
		require.NoError(t, sys.Suspend(s.Context(), s.n, s.pid))
		assert.Error(t, sys.ChangeCode(s.Context(), s.n, s.pid, "a", 1, 2))
		assert.NoError(t, sys.ChangeCode(s.Context(), s.n, s.pid, "another", 1, 2))
		require.NoError(t, sys.Resume(s.Context(), s.n, s.pid))
		require.NoError(t, s.n.Send(s.pid, node.Down{Name: "x", Node: "y@z"}))
		assert.Equal(t, "panic: bad cake", node.ReceiveOf[event.Exit](s.me.Process).Reason.(*node.Crash).Error())
		assert.Contains(t, s.log.String(), "manager=alarms")
		assert.Contains(t, s.log.String(), "not this one")
		assert.Contains(t, s.log.String(), "{x,y@z}")
	})
}

func TestSubscriptionIsShown(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		_, err := event.Subscribe[int](s.Context(), s.n, s.pid, 2)
		require.NoError(t, err)
		require.NoError(t, event.SyncNotify(s.Context(), s.n, s.pid, 1))
		state, err := sys.GetState(s.Context(), s.n, s.pid)
		require.NoError(t, err)
		assert.Equal(t, "[{subscription,1,{1,2,0}}]", wire.Format(state))
	})
}
