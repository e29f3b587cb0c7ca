package statem_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/statem"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// scriptNode is a node and a handle to act through, in a bubble.
type scriptNode struct {
	*testing.T
	n   *node.Node
	me  *node.Process
	log *logtest.Text
}

func onStage(t *testing.T, f func(s *scriptNode)) {
	actortest.InBubble(t, func(t *testing.T, n *node.Node, me *nodetest.Probe, log *logtest.Text) {
		f(&scriptNode{t, n, me.Process, log})
	})
}

// do is a message that makes a lamp run the function.
type do func(c *statem.Context) (statem.State[*lamp], error)

// ask is the same, as a call.
type ask struct {
	genserver.Returns[int]
	do
}

// lamp is a machine that does what it is told, in either state.
type lamp struct {
	seen  []statem.Event
	ended []any
	data  any
	init  func(c *statem.Context) (statem.State[*lamp], error)
	code  []any
	last  func()
}

func (l *lamp) Init(c *statem.Context) (statem.State[*lamp], error) {
	if l.init != nil {
		return l.init(c)
	}
	return nil, nil
}

func (l *lamp) on(c *statem.Context, e statem.Event) (statem.State[*lamp], error) {
	return l.handle(c, e)
}

func (l *lamp) off(c *statem.Context, e statem.Event) (statem.State[*lamp], error) {
	return l.handle(c, e)
}

func (l *lamp) handle(c *statem.Context, e statem.Event) (statem.State[*lamp], error) {
	l.seen = append(l.seen, statem.Event{Type: e.Type, Content: e.Content})
	switch m := e.Content.(type) {
	case do:
		return m(c)
	case ask:
		return m.do(c)
	case statem.Entered, node.Down:
		return nil, nil
	case string:
		if e.Type != statem.TypeCall {
			return nil, nil
		}
	}
	return nil, statem.ErrUnhandled
}

func (l *lamp) Terminate(c *statem.Context, reason any) {
	l.ended = append(l.ended, c.State(), reason)
	if l.last != nil {
		l.last()
	}
}

func (l *lamp) State() any { return l.data }

func (l *lamp) SetState(t any) error {
	if t == wire.Atom("bad") {
		return errOops
	}
	l.data = t
	return nil
}

func (l *lamp) CodeChange(module node.Atom, old, extra any) error {
	l.code = []any{module, old, extra}
	return nil
}

// other is not among the states of lamps.
func other(*lamp, *statem.Context, statem.Event) (statem.State[*lamp], error) { return nil, nil }

var lamps = statem.Define((*lamp).off, (*lamp).on)

var errOops = errors.New("oops")

func (s *scriptNode) start(l *lamp) node.PID {
	pid, err := lamps.Start(s.Context(), s.me, l, node.Options{})
	require.NoError(s, err)
	return pid
}

// call makes the lamp do f as a call.
func (s *scriptNode) call(pid node.PID, f do) (int, error) {
	return genserver.Call(s.Context(), s.me, pid, ask{do: f})
}

// crashed returns the Crash of an error that says that a process has exited.
func crashed(t *testing.T, err error) *node.Crash {
	var exit *node.ExitError
	require.ErrorAs(t, err, &exit)
	require.IsType(t, &node.Crash{}, exit.Reason)
	return exit.Reason.(*node.Crash)
}

// Whatever a state does with a call, the caller gets exactly one answer.
func TestCallGetsAnAnswer(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		l := &lamp{}
		pid := s.start(l)
		got, err := s.call(pid, func(c *statem.Context) (statem.State[*lamp], error) {
			return nil, statem.Reply(c, ask{}, 7)
		})
		require.NoError(t, err)
		assert.Equal(t, 7, got)

		_, err = s.call(pid, func(*statem.Context) (statem.State[*lamp], error) { return nil, errOops })
		assert.ErrorIs(t, err, errOops)

		var unhandled *genserver.UnhandledError
		_, err = s.call(pid, func(*statem.Context) (statem.State[*lamp], error) { return nil, statem.ErrUnhandled })
		require.ErrorAs(t, err, &unhandled)
		_, err = s.call(pid, func(*statem.Context) (statem.State[*lamp], error) { return (*lamp).on, nil })
		require.ErrorAs(t, err, &unhandled, "a state has let go of a call")
		assert.Equal(t, "*statem_test.lamp", unhandled.Server)
		assert.Equal(t, node.Atom("off"), unhandled.State)
		_, err = node.Call[any](s.Context(), s.me, pid, 1.5)
		require.ErrorAs(t, err, &unhandled)
		assert.Equal(t, node.Atom("on"), unhandled.State)
		assert.Equal(t, wire.Tuple{wire.Atom("unhandled_request"), node.Atom("on"), 1.5}, sysmsg.Term(unhandled))

		// An error takes back a Postpone.
		_, err = s.call(pid, func(c *statem.Context) (statem.State[*lamp], error) { c.Postpone(); return nil, errOops })
		assert.ErrorIs(t, err, errOops)

		// A later answer, from elsewhere.
		var from node.From
		later := genserver.Async(s.me, pid, ask{do: func(c *statem.Context) (statem.State[*lamp], error) {
			from = c.From()
			return nil, nil
		}})
		synctest.Wait()
		require.NoError(t, from.Reply(9))
		got, err = node.Await(s.Context(), s.me, later)
		require.NoError(t, err)
		assert.Equal(t, 9, got)

		// The context of a call has the caller's deadline, and ends with the answer. That of the process goes on.
		var own, work context.Context
		ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
		defer cancel()
		got, err = node.Call[int](ctx, s.me, pid, ask{do: func(c *statem.Context) (statem.State[*lamp], error) {
			own, work = c.Context(), c.CallContext()
			assert.NoError(t, work.Err())
			return nil, c.Reply(c.From(), 10)
		}})
		require.NoError(t, err)
		assert.Equal(t, 10, got)
		want, _ := ctx.Deadline()
		deadline, ok := work.Deadline()
		assert.True(t, ok)
		assert.Equal(t, want, deadline)
		assert.ErrorIs(t, work.Err(), context.Canceled)
		assert.NoError(t, own.Err())

		// A machine takes a request of a server.
		got, err = genserver.Call(s.Context(), s.me, pid, ask{do: func(c *statem.Context) (statem.State[*lamp], error) {
			return nil, c.Reply(c.From(), 11)
		}})
		require.NoError(t, err)
		assert.Equal(t, 11, got)
		got, err = actortest.CallWithin[int](time.Second, s.me, pid, ask{do: func(c *statem.Context) (statem.State[*lamp], error) {
			c.From()
			return nil, nil
		}})
		assert.ErrorIs(t, err, node.ErrTimeout)
		assert.Zero(t, got)
		assert.Empty(t, l.ended)
	})
}

// A call can be inserted as it arrived, and is answered by the state that gets it then.
func TestInsertedCall(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		pid, err := again.Start(s.Context(), s.me, &insister{}, node.Options{})
		require.NoError(t, err)
		got, err := node.Call[int](s.Context(), s.me, pid, "x")
		require.NoError(t, err)
		assert.Equal(t, 2, got)
	})
}

type insister struct{ times int }

func (i *insister) first(c *statem.Context, e statem.Event) (statem.State[*insister], error) {
	if i.times++; i.times == 1 {
		c.Insert(e)
		return nil, nil
	}
	return nil, c.Reply(c.From(), i.times)
}

var again = statem.Define((*insister).first)

// What ends a machine, and what Terminate and a caller get.
func TestHowMachinesEnd(t *testing.T) {
	for _, c := range []struct {
		name   string
		f      do
		reason any // nil: a Crash
		says   string
		is     error
		state  node.Atom
	}{
		{"an error of a call is no end, but ExitWith is",
			func(*statem.Context) (statem.State[*lamp], error) { return nil, node.ExitWith("enough") }, "enough", "", nil, "off"},
		{"Stop", func(c *statem.Context) (statem.State[*lamp], error) { c.Stop("enough"); return (*lamp).on, nil }, "enough", "", nil,
			"off"},
		{"a panic", func(*statem.Context) (statem.State[*lamp], error) { panic("bad cake") }, nil, "panic: bad cake", nil, "off"},
		{"Goexit", func(*statem.Context) (statem.State[*lamp], error) { runtime.Goexit(); return nil, nil }, nil,
			"panic: runtime.Goexit was called", nil, "off"},
		{"a state that is none", func(*statem.Context) (statem.State[*lamp], error) { return other, nil }, nil,
			"error: " + statem.ErrNoState.Error(), statem.ErrNoState, "off"},
		{"a timeout that is none", func(c *statem.Context) (statem.State[*lamp], error) {
			c.SetTimeout(statem.TypeCast, 1, nil)
			return (*lamp).on, nil
		}, nil, `error: statem: not allowed here: a timeout of type "cast"`, statem.ErrBadAction, "on"},
		{"an event that is none", func(c *statem.Context) (statem.State[*lamp], error) {
			c.Insert(statem.Event{Type: statem.TypeEnter})
			return nil, nil
		}, nil, `error: statem: not allowed here: Insert of an event of type "enter"`, statem.ErrBadAction, "off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			onStage(t, func(s *scriptNode) {
				l := &lamp{}
				pid := s.start(l)
				s.me.TrapExit(true)
				s.me.Link(pid)
				_, err := s.call(pid, c.f)
				var exit *node.ExitError
				require.ErrorAs(t, err, &exit)
				assert.Equal(t, exit.Reason, node.ReceiveOf[node.Exited](s.me).Reason)
				require.Len(t, l.ended, 2)
				assert.Equal(t, c.state, l.ended[0])
				if c.name != "Goexit" { // after which the runtime makes a Crash of its own
					assert.Equal(t, exit.Reason, l.ended[1])
				}
				if c.reason != nil {
					assert.Equal(t, c.reason, exit.Reason)
				} else {
					crash := crashed(t, err)
					assert.Equal(t, c.says, crash.Error())
					if c.is != nil {
						assert.ErrorIs(t, crash.Unwrap(), c.is)
					}
				}
				log := s.log.String()
				assert.Equal(t, 1, strings.Count(log, "state machine terminating")+strings.Count(log, "crash report"))
				assert.Contains(t, log, "last_event=")
			})
		})
	}
}

// An error of any event but a call is a crash; so is a panic of Terminate.
func TestErrorOfACast(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		l := &lamp{}
		pid := s.start(l)
		s.me.Monitor(pid)
		require.NoError(t, genserver.Cast(s.me, pid, do(func(*statem.Context) (statem.State[*lamp], error) { return nil, errOops })))
		assert.Equal(t, &node.Crash{Reason: errOops}, node.ReceiveOf[node.Down](s.me).Reason)

		l = &lamp{last: func() { panic("at last") }}
		pid = s.start(l)
		err := sys.Stop(s.Context(), s.me, pid, node.Normal)
		assert.Equal(t, "panic: at last", crashed(t, err).Error())
		assert.Len(t, l.ended, 2)
	})
}

func TestUnhandledIsLogged(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		pid := s.start(&lamp{})
		require.NoError(t, genserver.Cast(s.n, pid, 1.5))
		require.NoError(t, s.n.Send(pid, 2.5))
		_, err := sys.GetState(s.Context(), s.n, pid)
		require.NoError(t, err)
		assert.Contains(t, s.log.String(), `"unexpected event"`)
		assert.Contains(t, s.log.String(), "cast 1.5")
		assert.Contains(t, s.log.String(), "info 2.5")
	})
}

func TestInit(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		start := func(f func(c *statem.Context) (statem.State[*lamp], error)) error {
			_, err := lamps.Start(s.Context(), s.me, &lamp{init: f}, node.Options{})
			return err
		}
		assert.ErrorIs(t, start(func(*statem.Context) (statem.State[*lamp], error) { return nil, node.ErrIgnore }), node.ErrIgnore)
		err := start(func(*statem.Context) (statem.State[*lamp], error) { return nil, errOops })
		assert.ErrorIs(t, crashed(t, err).Unwrap(), errOops)
		err = start(func(*statem.Context) (statem.State[*lamp], error) { return other, nil })
		assert.ErrorIs(t, crashed(t, err).Unwrap(), statem.ErrNoState)
		err = start(func(c *statem.Context) (statem.State[*lamp], error) { c.Stop("no"); return nil, nil })
		var exit *node.ExitError
		require.ErrorAs(t, err, &exit)
		assert.Equal(t, "no", exit.Reason)

		pid, err := lamps.Start(s.Context(), s.me, &lamp{init: func(*statem.Context) (statem.State[*lamp], error) {
			return (*lamp).on, nil
		}}, node.Options{})
		require.NoError(t, err)
		state, err := sys.GetState(s.Context(), s.me, pid)
		require.NoError(t, err)
		assert.Equal(t, node.Atom("on"), state.(wire.Tuple)[0])
	})
}

// The start is over before the first enter call, which may call the process that started the machine.
func TestStartIsOverBeforeTheEnterCall(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		parent := node.ProcessFunc(func(p *node.Process) error {
			pid, err := eager.Start(p.Context(), p, &caller{p.Self()}, node.Options{Link: true})
			if err != nil {
				return err
			}
			p.Receive().(node.Request[string]).Reply(pid)
			return nil
		})
		var ref node.Ref
		_, err := s.me.SpawnOpt(node.Options{Monitor: &ref}, parent)
		require.NoError(t, err)
		down := node.ReceiveOf[node.Down](s.me)
		assert.Equal(t, ref, down.Ref)
		assert.Equal(t, node.Normal, down.Reason)
	})
}

type caller struct{ parent node.PID }

func (k *caller) calls(c *statem.Context, e statem.Event) (statem.State[*caller], error) {
	me, err := actortest.CallWithin[node.PID](time.Second, c, k.parent, "who am I?")
	if err == nil && me != c.Self() {
		err = fmt.Errorf("got %v, want %v", me, c.Self())
	}
	return nil, err
}

var eager = statem.Define((*caller).calls).EnterCalls()

// A linked machine ends in an orderly way with its parent, if it traps exits.
func TestParent(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		parent := nodetest.NewProbe(t, s.n)
		l := &lamp{init: func(c *statem.Context) (statem.State[*lamp], error) { c.TrapExit(true); return nil, nil }}
		pid, err := lamps.Start(s.Context(), parent, l, node.Options{Link: true})
		require.NoError(t, err)
		s.me.Monitor(pid)
		s.n.Exit(pid, "another")
		parent.Close("bored")
		assert.Equal(t, "bored", node.ReceiveOf[node.Down](s.me).Reason)
		assert.Equal(t, []any{node.Atom("off"), "bored"}, l.ended)
		require.Len(t, l.seen, 1)
		assert.Equal(t, statem.TypeInfo, l.seen[0].Type)
		assert.IsType(t, node.Exited{}, l.seen[0].Content)
	})
}

// OTP 25 has a bug here: a zero timeout that is replaced by a longer one.
func TestZeroTimeoutReplaced(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		l := &lamp{}
		pid := s.start(l)
		require.NoError(t, genserver.Cast(s.me, pid, do(func(c *statem.Context) (statem.State[*lamp], error) {
			c.SetTimeout(statem.Named("n"), -1, "zero")
			c.Insert(statem.Event{Type: statem.TypeInternal, Content: do(func(c *statem.Context) (statem.State[*lamp], error) {
				c.SetTimeout(statem.Named("n"), time.Minute, "minute")
				return nil, nil
			})})
			return nil, nil
		})))
		start := time.Now()
		s.me.ReceiveWithin(time.Hour, nil)
		assert.Equal(t, time.Hour, time.Since(start))
		_, err := sys.GetState(s.Context(), s.me, pid)
		require.NoError(t, err)
		require.Len(t, l.seen, 3)
		assert.Equal(t, statem.Event{Type: statem.Named("n"), Content: "minute"}, l.seen[2])
	})
}

// A machine that has ended leaves no timers, and so causes no dead letters.
func TestNoTimersAreLeft(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		pid := s.start(&lamp{})
		_, err := s.call(pid, func(c *statem.Context) (statem.State[*lamp], error) {
			c.SetTimeout(statem.StateTimeout, time.Minute, nil)
			c.SetTimeout(statem.EventTimeout, time.Minute, nil)
			c.SetTimeout(statem.Named("n"), time.Minute, nil)
			return nil, statem.Reply(c, ask{}, 1)
		})
		require.NoError(t, err)
		require.NoError(t, sys.Stop(s.Context(), s.me, pid, node.Normal))
		s.me.ReceiveWithin(time.Hour, nil)
		assert.Empty(t, s.n.Stats().DeadLetters)
	})
}

func TestSystem(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		l := &lamp{data: 1}
		pid := s.start(l)
		state, err := sys.GetState(s.Context(), s.me, pid)
		require.NoError(t, err)
		assert.Equal(t, wire.Tuple{node.Atom("off"), 1}, state)

		_, err = s.call(pid, func(c *statem.Context) (statem.State[*lamp], error) {
			c.SetTimeout(statem.Named("n"), time.Hour, "hour")
			return nil, statem.Reply(c, ask{}, 1)
		})
		require.NoError(t, err)
		require.NoError(t, genserver.Cast(s.me, pid,
			do(func(c *statem.Context) (statem.State[*lamp], error) { c.Postpone(); return nil, nil })))
		status, err := sys.GetStatus(s.Context(), s.me, pid)
		require.NoError(t, err)
		assert.Equal(t, wire.Tuple{wire.Atom("module"), wire.Atom("gen_statem")}, status.(wire.Tuple)[2])
		text := wire.Format(status)
		assert.Contains(t, text, `{"Time-outs",{1,[{{timeout,n},<<"hour">>}]}}`)
		assert.Contains(t, text, `{"Postponed",[{cast,`)
		assert.Contains(t, text, `{"State",{off,1}}`)

		replace := func(to any) error {
			_, err := sys.ReplaceState(s.Context(), s.me, pid, func(any) (any, error) { return to, nil })
			return err
		}
		require.NoError(t, replace(wire.Tuple{wire.Atom("on"), 2}))
		assert.Equal(t, 2, l.data)
		for _, bad := range []any{7, wire.Tuple{wire.Atom("nowhere"), 2}, wire.Tuple{wire.Atom("off"), wire.Atom("bad")}} {
			assert.Error(t, replace(bad))
		}
		state, err = sys.GetState(s.Context(), s.me, pid)
		require.NoError(t, err)
		assert.Equal(t, wire.Tuple{node.Atom("on"), 2}, state)

		require.NoError(t, sys.Suspend(s.Context(), s.me, pid))
		call := genserver.Async(s.me, pid, ask{do: func(c *statem.Context) (statem.State[*lamp], error) {
			return nil, statem.Reply(c, ask{}, 5)
		}})
		require.NoError(t, sys.ChangeCode(s.Context(), s.me, pid, "m", 1, 2))
		assert.Equal(t, []any{node.Atom("m"), 1, 2}, l.code)
		require.NoError(t, replace(wire.Tuple{wire.Atom("off"), 3}))
		synctest.Wait()
		select {
		case <-call.Done():
			t.Error("a suspended machine has answered a call")
		default:
		}
		require.NoError(t, sys.Resume(s.Context(), s.me, pid))
		got, err := node.Await(s.Context(), s.me, call)
		require.NoError(t, err)
		assert.Equal(t, 5, got)
		assert.Equal(t, node.Atom("off"), must(sys.GetState(s.Context(), s.me, pid)).(wire.Tuple)[0])
	})
}

func must(v any, err error) any {
	if err != nil {
		panic(err)
	}
	return v
}

func TestDebug(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		pid := s.start(&lamp{})
		must(sys.Debug(s.Context(), s.me, pid, wire.Tuple{wire.Atom("log"), true}))
		must(sys.Debug(s.Context(), s.me, pid, wire.Tuple{wire.Atom("statistics"), true}))
		require.NoError(t, genserver.Cast(s.me, pid, "x"))
		s.me.Send(pid, wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{s.me.Self(), wire.Atom("t")}, "q"})
		events := wire.Format(must(sys.Debug(s.Context(), s.me, pid, wire.Tuple{wire.Atom("log"), wire.Atom("get")})))
		for _, want := range []string{`{in,{cast,<<"x">>}}`, `{consume,{cast,<<"x">>},off,off}`, `{in,{{call,{`,
			`{out,{error,{unhandled_request,off,<<"q">>}}`} {
			assert.Contains(t, events, want)
		}
		stats := wire.Format(must(sys.Debug(s.Context(), s.me, pid, wire.Tuple{wire.Atom("statistics"), wire.Atom("get")})))
		assert.Contains(t, stats, "{messages_in,2},{messages_out,1}")
		reply := node.ReceiveOf[wire.Tuple](s.me)
		assert.Equal(t, wire.Tuple{wire.Atom("t"),
			wire.Tuple{wire.AtomError, wire.Tuple{wire.Atom("unhandled_request"), node.Atom("off"), "q"}}}, reply)
	})
}

// The forms in which calls and casts come from Erlang.
func TestProtocol(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		pid := s.start(&lamp{})
		answer := do(func(c *statem.Context) (statem.State[*lamp], error) { return nil, c.Reply(c.From(), 4) })
		alias := s.me.Alias()
		for _, tag := range []any{wire.Atom("tag"), wire.ImproperList{Head: []any{wire.Atom("alias")}, Tail: alias}} {
			s.me.Send(pid, wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{s.me.Self(), tag}, answer})
			assert.Equal(t, wire.Tuple{tag, 4}, node.ReceiveOf[wire.Tuple](s.me))
		}
		s.me.Send(pid, wire.Tuple{wire.Atom("$gen_cast"),
			do(func(c *statem.Context) (statem.State[*lamp], error) { return (*lamp).on, nil })})
		assert.Equal(t, node.Atom("on"), must(sys.GetState(s.Context(), s.me, pid)).(wire.Tuple)[0])
		require.NoError(t, s.n.Register("lamp", pid))
		require.NoError(t, genserver.Cast(s.me, node.Atom("lamp"),
			do(func(c *statem.Context) (statem.State[*lamp], error) { return (*lamp).off, nil })))
		assert.Equal(t, node.Atom("off"), must(sys.GetState(s.Context(), s.me, node.Atom("lamp"))).(wire.Tuple)[0])
	})
}

type generic[T any] struct{ _ T }

func (g *generic[T]) one(*statem.Context, statem.Event) (statem.State[*generic[T]], error) {
	return nil, nil
}

type wrongInit struct{}

func (wrongInit) Init(*statem.Context) error { return nil }
func (wrongInit) one(*statem.Context, statem.Event) (statem.State[wrongInit], error) {
	return nil, nil
}

func TestDefine(t *testing.T) {
	for name, c := range map[string]struct {
		f    func()
		says string
	}{
		"none":  {func() { statem.Define[*lamp]() }, "no states"},
		"nil":   {func() { statem.Define[*lamp](nil) }, "is nil"},
		"twice": {func() { statem.Define((*lamp).on, (*lamp).on) }, "two states on"},
		"a literal": {func() {
			statem.Define(func(*lamp, *statem.Context, statem.Event) (statem.State[*lamp], error) { return nil, nil })
		}, "want a method"},
		"generic":      {func() { statem.Define((*generic[int]).one) }, "want a method"},
		"another Init": {func() { statem.Define(wrongInit.one) }, "want (statem.State"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() { assert.Contains(t, fmt.Sprint(recover()), c.says) }()
			c.f()
		})
	}
	assert.NotPanics(t, func() { statem.Define(other, (*lamp).on) })
}

func TestStartMonitor(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		var ref node.Ref
		pid, err := node.SpawnWait(s.Context(), s.me, node.Options{Monitor: &ref}, lamps.New(&lamp{}))
		require.NoError(t, err)
		require.NoError(t, sys.Stop(s.Context(), s.me, pid, node.Shutdown))
		assert.Equal(t, node.Down{Ref: ref, PID: pid, Reason: node.Shutdown}, node.ReceiveOf[node.Down](s.me))
		pid, err = node.SpawnWait(context.Background(), s.n, node.Options{}, lamps.New(&lamp{}))
		require.NoError(t, err)
		info, err := s.n.Info(pid)
		require.NoError(t, err)
		assert.Equal(t, "*statem_test.lamp", info.Behaviour)
	})
}

// BenchmarkCall is a call that changes the state. Budget: 2 allocations, 56 B.
func BenchmarkCall(b *testing.B) {
	n := nodetest.Start(b, node.Config{})
	me := nodetest.NewProbe(b, n)
	pid, err := flips.Start(b.Context(), me, &flip{}, node.Options{})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := genserver.Call(b.Context(), me, pid, Flip{}); err != nil {
			b.Fatal(err)
		}
	}
}

type flip struct{ count int }

type Flip struct{ genserver.Returns[int] }

func (f *flip) heads(c *statem.Context, e statem.Event) (statem.State[*flip], error) {
	f.count++
	return (*flip).tails, statem.Reply(c, e.Content.(Flip), f.count)
}

func (f *flip) tails(c *statem.Context, e statem.Event) (statem.State[*flip], error) {
	f.count++
	return (*flip).heads, statem.Reply(c, e.Content.(Flip), f.count)
}

var flips = statem.Define((*flip).heads, (*flip).tails)

// bare is a machine with nothing but its states, which calls itself to order.
type bare struct{ Count int }

func (b *bare) only(c *statem.Context, e statem.Event) (statem.State[*bare], error) {
	if e.Content == "stop" {
		c.Stop(wire.Tuple{node.Shutdown, 1})
	}
	return nil, nil
}

var bares = statem.Define((*bare).only)

func TestBare(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		var ref node.Ref
		pid, err := node.SpawnWait(s.Context(), s.me, node.Options{Monitor: &ref, Name: "bare"}, bares.New(&bare{3}))
		require.NoError(t, err)
		state, err := sys.GetState(s.Context(), s.me, pid)
		require.NoError(t, err)
		assert.Equal(t, wire.Tuple{node.Atom("only"), "*statem_test.bare"}, state)
		replace := func(data any) error {
			_, err := sys.ReplaceState(s.Context(), s.me, pid, func(any) (any, error) { return wire.Tuple{wire.Atom("only"), data}, nil })
			return err
		}
		require.NoError(t, replace("*statem_test.bare"))
		require.NoError(t, replace(&bare{4}))
		assert.Error(t, replace("other"))
		require.NoError(t, sys.Suspend(s.Context(), s.me, pid))
		require.NoError(t, sys.ChangeCode(s.Context(), s.me, pid, "m", 1, 2))
		require.NoError(t, sys.Resume(s.Context(), s.me, pid))
		text := wire.Format(must(sys.GetStatus(s.Context(), s.me, pid)))
		assert.Contains(t, text, "Status for state machine bare")
		assert.Contains(t, text, "*statem_test.bare")
		require.NoError(t, genserver.Cast(s.n, pid, "stop"))
		assert.Equal(t, ref, node.ReceiveOf[node.Down](s.me).Ref)
		assert.Empty(t, s.log.String(), "{shutdown, _} is no failure")
	})
}

// shy panics when somebody looks at its state.
type shy struct{ bare }

func (*shy) State() any { panic("not my data") }

func (y *shy) only2(*statem.Context, statem.Event) (statem.State[*shy], error) { panic("bad cake") }

func TestShownWhatItCan(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		pid, err := statem.Define((*shy).only2).Start(s.Context(), s.me, &shy{}, node.Options{})
		require.NoError(t, err)
		s.me.Monitor(pid)
		s.n.Send(pid, node.Down{Name: "x", Node: "y@z"})
		assert.Equal(t, "panic: bad cake", node.ReceiveOf[node.Down](s.me).Reason.(*node.Crash).Error())
		assert.Contains(t, s.log.String(), "not my data")
		assert.Contains(t, s.log.String(), "{x,y@z}")
	})
}

// A machine whose mailbox is full of messages that it does not take now: postponed events do not count.
func TestBoundedMailbox(t *testing.T) {
	onStage(t, func(s *scriptNode) {
		pid, err := lamps.Start(s.Context(), s.me, &lamp{}, node.Options{Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Refuse}})
		require.NoError(t, err)
		postpone := do(func(c *statem.Context) (statem.State[*lamp], error) { c.Postpone(); return nil, nil })
		for range 3 {
			require.NoError(t, genserver.Cast(s.me, pid, postpone))
			synctest.Wait()
		}
		assert.Contains(t, wire.Format(must(sys.GetStatus(s.Context(), s.me, pid))), `{"Postponed",[{cast,`)
	})
}

// Ways to ask for events and timeouts in vain, in an enter call.
func TestEnterCallAsksForTooMuch(t *testing.T) {
	for name, f := range map[string]func(c *statem.Context){
		"Postpone":   func(c *statem.Context) { c.Postpone() },
		"Internal":   func(c *statem.Context) { c.Insert(statem.Event{Type: statem.TypeInternal, Content: 1}) },
		"Insert":     func(c *statem.Context) { c.Insert(statem.Event{Type: statem.TypeCast}) },
		"SetTimeout": func(c *statem.Context) { c.SetTimeout(statem.TypeInfo, 1, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(s *scriptNode) {
				var ref node.Ref
				pid, err := node.SpawnWait(s.Context(), s.me, node.Options{Monitor: &ref}, greedies.New(&greedy{f}))
				require.NoError(t, err, "the start is over before")
				down := node.ReceiveOf[node.Down](s.me)
				assert.Equal(t, ref, down.Ref)
				if crash, ok := down.Reason.(*node.Crash); assert.True(t, ok, "%v", down.Reason) {
					assert.ErrorIs(t, crash.Unwrap(), statem.ErrBadAction)
				}
				assert.False(t, s.n.IsAlive(pid))
			})
		})
	}
}

type greedy struct{ f func(c *statem.Context) }

func (g *greedy) first(c *statem.Context, e statem.Event) (statem.State[*greedy], error) {
	if e.Type == statem.TypeEnter {
		g.f(c)
	}
	return nil, nil
}

var greedies = statem.Define((*greedy).first).EnterCalls()

// A machine that never takes from its mailbox again can still be killed.
func TestKilledInALoop(t *testing.T) {
	for name, f := range map[string]do{
		"events": func(c *statem.Context) (statem.State[*lamp], error) {
			c.Insert(statem.Event{Type: statem.TypeInternal, Content: c.Node()})
			return nil, nil
		},
		"zero timeouts": func(c *statem.Context) (statem.State[*lamp], error) {
			c.SetTimeout(statem.Named("n"), 0, c.Node())
			return nil, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			onStage(t, func(s *scriptNode) {
				w := &wheel{f: f, turning: make(chan struct{})}
				pid, err := wheels.Start(s.Context(), s.me, w, node.Options{})
				require.NoError(t, err)
				require.NoError(t, genserver.Cast(s.me, pid, 0))
				<-w.turning
				s.n.Exit(pid, node.Kill)
				synctest.Wait()
				assert.Zero(t, s.n.Stats().Lingering)
			})
		})
	}
}

type wheel struct {
	lamp
	f       do
	turning chan struct{}
	once    sync.Once
}

func (w *wheel) turn(c *statem.Context, _ statem.Event) (statem.State[*wheel], error) {
	w.once.Do(func() { close(w.turning) })
	_, err := w.f(c)
	return nil, err
}

func (w *wheel) Init(*statem.Context) (statem.State[*wheel], error) { return nil, nil }

var wheels = statem.Define((*wheel).turn)

// counterShop is a shop that keeps customers waiting until it opens.
type counterShop struct{ served []int }

func (s *counterShop) closed(c *statem.Context, e statem.Event) (statem.State[*counterShop], error) {
	if e.Type == statem.TypeCast {
		return (*counterShop).open, nil
	}
	if e.Content == "hello" {
		_ = c.Reply(c.From(), []int(nil))
		return nil, nil
	}
	c.Postpone()
	return nil, nil
}

func (s *counterShop) open(c *statem.Context, e statem.Event) (statem.State[*counterShop], error) {
	if n, ok := e.Content.(int); ok {
		s.served = append(s.served, n)
	}
	_ = c.Reply(c.From(), s.served) // the customer may have gone
	return nil, nil
}

// A postponed request whose caller has given up meanwhile is not handled, unless the kind says so.
func TestPostponedIsGivenUp(t *testing.T) {
	for late, want := range map[bool][]int{false: {2}, true: {1, 2}} {
		kind := statem.Define((*counterShop).closed, (*counterShop).open)
		if late {
			kind.Late()
		}
		n := nodetest.Start(t, node.Config{})
		pid, err := n.Spawn(kind.New(&counterShop{}))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		first, second := node.Async[[]int](n, pid, 1), node.Async[[]int](n, pid, 2)
		_, err = node.Call[[]int](testkit.Context(t), n, pid, "hello") // both are postponed now
		require.NoError(t, err)
		cancel()
		_, err = node.Await(ctx, n, first)
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, genserver.Cast(n, pid, "open"))
		served, err := node.Await(testkit.Context(t), n, second)
		require.NoError(t, err)
		require.Equal(t, want, served, "late: %v", late)
	}
}
