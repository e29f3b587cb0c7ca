package supervisor_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// oracleNode is a node in a bubble, and a process on it that traps exits.
type oracleNode struct {
	*testing.T
	n    *node.Node
	self *node.Process
}

var background = context.Background()

func inBubble(t *testing.T, log *slog.Logger, f func(s *oracleNode)) {
	synctest.Test(t, func(t *testing.T) {
		n, err := node.Start(node.Config{Workers: 2, Log: log})
		require.NoError(t, err)
		self := nodetest.NewProbe(t, n)
		self.TrapExit(true)
		f(&oracleNode{t, n, self.Process})
		self.Close(nil)
		require.NoError(t, n.Stop())
	})
}

// start starts a linked supervisor, which must succeed.
func (s *oracleNode) start(spec supervisor.Spec) node.PID {
	s.Helper()
	sup, err := supervisor.Start(background, s.self, spec, node.Options{Link: true})
	require.NoError(s, err)
	return sup
}

// refuse starts a supervisor, which must fail, and returns the reason.
func (s *oracleNode) refuse(spec supervisor.Spec) any {
	s.Helper()
	_, err := supervisor.Start(background, s.self, spec, node.Options{Link: true})
	var e *node.ExitError
	require.ErrorAs(s, err, &e)
	require.Equal(s, 1, s.n.Stats().Processes, "nothing is left")
	return e.Reason
}

// end ends the supervisor, and returns how long that took.
func (s *oracleNode) end(sup node.PID) time.Duration {
	s.Helper()
	began := time.Now()
	s.self.Exit(sup, node.Shutdown)
	require.Equal(s, node.Exited{From: sup, Reason: node.Shutdown}, s.self.Receive())
	require.Equal(s, 1, s.n.Stats().Processes, "nothing is left")
	return time.Since(began)
}

// infos returns the children of a supervisor by id.
func (s *oracleNode) infos(sup node.PID) map[any]supervisor.ChildInfo {
	s.Helper()
	kids, err := supervisor.WhichChildren(background, s.n, sup)
	require.NoError(s, err)
	all := make(map[any]supervisor.ChildInfo)
	for _, k := range kids {
		all[k.ID] = k
	}
	return all
}

// crash makes a child exit with a reason.
func (s *oracleNode) crash(sup node.PID, id, reason any) {
	s.Helper()
	require.NoError(s, s.n.Send(s.infos(sup)[id].PID, reason))
	synctest.Wait()
}

// echo exits with the reason that it is sent.
func echo(...any) (node.Actor, error) {
	return node.ActorFunc(func(_ *node.Context, m any) error { return node.ExitWith(m) }), nil
}

// startFuncs is a behaviour of two functions, for Init and Receive.
type startFuncs struct {
	init    func(c *node.Context) error
	receive func(c *node.Context, m any) error
}

func (b startFuncs) Init(c *node.Context) error { return b.init(c) }

func (b startFuncs) Receive(c *node.Context, m any) error {
	if b.receive == nil {
		return node.ExitWith(m)
	}
	return b.receive(c, m)
}

func initially(init func(c *node.Context) error) func(...any) (node.Actor, error) {
	return func(...any) (node.Actor, error) { return startFuncs{init: init}, nil }
}

func tuple(of ...any) wire.Tuple { return of }

var (
	atomA = wire.Atom("a")
	atomB = wire.Atom("b")
)

// badChildren are children that every supervisor refuses, and OTP's error for each.
var badChildren = map[string]struct {
	child  supervisor.Child
	auto   supervisor.AutoShutdown
	reason any
}{
	"nothing":  {supervisor.Child{}, "", wire.Atom("missing_id")},
	"no id":    {supervisor.Child{Start: echo}, "", wire.Atom("missing_id")},
	"no start": {supervisor.Child{ID: 1}, "", wire.Atom("missing_start")},
	"half a start": {supervisor.Child{ID: 1, Named: supervisor.Named{Module: "m"}}, "",
		tuple(wire.Atom("invalid_mfa"), tuple(wire.Atom("m"), wire.Atom(""), wire.List(nil)))},
	"restart": {supervisor.Child{ID: 1, Start: echo, Restart: "often"}, "",
		tuple(wire.Atom("invalid_restart_type"), wire.Atom("often"))},
	"shutdown": {supervisor.Child{ID: 1, Start: echo, Shutdown: -time.Millisecond}, "", tuple(wire.Atom("invalid_shutdown"), -1)},
	"type":     {supervisor.Child{ID: 1, Start: echo, Type: "boss"}, "", tuple(wire.Atom("invalid_child_type"), wire.Atom("boss"))},
	"significant, where nothing is": {supervisor.Child{ID: 1, Start: echo, Restart: supervisor.Temporary, Significant: true}, "",
		tuple(wire.Atom("bad_combination"), wire.List{tuple(wire.Atom("auto_shutdown"), wire.Atom("never")),
			tuple(wire.Atom("significant"), wire.AtomTrue)})},
	"significant and permanent": {supervisor.Child{ID: 1, Start: echo, Significant: true}, supervisor.AnySignificant,
		tuple(wire.Atom("bad_combination"), wire.List{tuple(wire.Atom("restart"), wire.Atom("permanent")),
			tuple(wire.Atom("significant"), wire.AtomTrue)})},
}

func TestBadChildren(t *testing.T) {
	for name, c := range badChildren {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(s *oracleNode) {
				var e *supervisor.SpecError
				require.ErrorAs(s, supervisor.CheckSpecs([]supervisor.Child{{ID: 0, Start: echo}, c.child}, c.auto), &e)
				assert.Equal(s, c.reason, e.Reason)
				spec := supervisor.Spec{AutoShutdown: c.auto, Children: []supervisor.Child{{ID: 0, Start: echo}, c.child}}
				assert.Equal(s, tuple(wire.Atom("start_spec"), c.reason), s.refuse(spec))
				spec.Strategy, spec.Children = supervisor.SimpleOneForOne, spec.Children[1:]
				assert.Equal(s, tuple(wire.Atom("start_spec"), c.reason), s.refuse(spec))

				sup := s.start(supervisor.Spec{AutoShutdown: c.auto})
				_, err := supervisor.StartChild(background, s.n, sup, c.child)
				require.ErrorAs(s, err, &e)
				assert.Equal(s, c.reason, e.Reason)
				assert.Empty(s, s.infos(sup))
				s.end(sup)
			})
		})
	}
}

func TestBadBackoff(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		sup := s.start(supervisor.Spec{})
		_, err := supervisor.StartChild(background, s.n, sup,
			supervisor.Child{ID: 1, Start: echo, Backoff: supervisor.Backoff{Factor: 2}})
		var e *supervisor.SpecError
		require.ErrorAs(s, err, &e)
		assert.Equal(s, wire.Atom("invalid_backoff"), e.Reason.(wire.Tuple)[0])
		s.end(sup)
	})
}

// TestIgnoreWrapped: an error of Start that wraps ErrIgnore is not a failure.
func TestIgnoreWrapped(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		sup := s.start(supervisor.Spec{})
		ignore := func(...any) (node.Actor, error) { return nil, fmt.Errorf("not today: %w", node.ErrIgnore) }
		pid, err := supervisor.StartChild(background, s.n, sup, supervisor.Child{ID: 1, Start: ignore})
		require.NoError(s, err)
		assert.Zero(s, pid)
		s.end(sup)
	})
}

func TestBadSpecs(t *testing.T) {
	data := func(what wire.Atom, value any) any {
		return tuple(wire.Atom("supervisor_data"), tuple(what, value))
	}
	child := supervisor.Child{ID: atomA, Start: echo}
	for name, c := range map[string]struct {
		spec   supervisor.Spec
		reason any
	}{
		"strategy":      {supervisor.Spec{Strategy: "all"}, data("invalid_strategy", wire.Atom("all"))},
		"intensity":     {supervisor.Spec{Intensity: -2}, data("invalid_intensity", -2)},
		"period":        {supervisor.Spec{Period: -3 * time.Second}, data("invalid_period", -3)},
		"auto shutdown": {supervisor.Spec{AutoShutdown: "some"}, data("invalid_auto_shutdown", wire.Atom("some"))},
		"flags first":   {supervisor.Spec{Period: -3 * time.Second, Children: []supervisor.Child{{}}}, data("invalid_period", -3)},
		"no model":      {supervisor.Spec{Strategy: supervisor.SimpleOneForOne}, tuple(wire.Atom("bad_start_spec"), wire.List{})},
		"two models": {supervisor.Spec{Strategy: supervisor.SimpleOneForOne, Children: []supervisor.Child{child, child}},
			tuple(wire.Atom("bad_start_spec"), wire.List{termOf(child), termOf(child)})},
		"the same id twice": {supervisor.Spec{Children: []supervisor.Child{child, {ID: atomB, Start: echo}, child}},
			tuple(wire.Atom("start_spec"), tuple(wire.Atom("duplicate_child_name"), atomA))},
		"the same id, spelt in another way": {supervisor.Spec{Children: []supervisor.Child{
			{ID: wire.Tuple{1, "x"}, Start: echo}, {ID: wire.Tuple{int64(1), []byte("x")}, Start: echo}}},
			tuple(wire.Atom("start_spec"), tuple(wire.Atom("duplicate_child_name"), wire.Tuple{int64(1), []byte("x")}))},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(s *oracleNode) { assert.Equal(s, c.reason, s.refuse(c.spec)) })
		})
	}
}

// An id can be any term.
func TestIDs(t *testing.T) {
	ids := []any{0, 1.0, "x", wire.Tuple{}, wire.List{1}, atomA, wire.NewMap(1, 2), wire.Tuple{"a", wire.List{}}, wire.List{}}
	inBubble(t, nil, func(s *oracleNode) {
		sup := s.start(supervisor.Spec{})
		for _, id := range ids {
			pid, err := supervisor.StartChild(background, s.n, sup, supervisor.Child{ID: id, Start: echo})
			require.NoError(s, err, "%v", id)
			var e *supervisor.AlreadyStartedError
			_, err = supervisor.StartChild(background, s.n, sup, supervisor.Child{ID: id, Start: echo})
			require.ErrorAs(s, err, &e)
			assert.Equal(s, pid, e.PID)
		}
		for _, id := range ids {
			require.NoError(s, supervisor.TerminateChild(background, s.n, sup, id))
			require.NoError(s, supervisor.DeleteChild(background, s.n, sup, id))
		}
		assert.Empty(s, s.infos(sup))
		s.end(sup)
	})
}

// The ways in which an Init can fail, and the error for each.
func TestBadInit(t *testing.T) {
	oops := errors.New("oops")
	isCrash := func(of any) func(t *testing.T, reason any) {
		return func(t *testing.T, reason any) {
			c, ok := reason.(*node.Crash)
			require.True(t, ok, "%v", reason)
			assert.Equal(t, of, c.Reason)
		}
	}
	is := func(want any) func(t *testing.T, reason any) {
		return func(t *testing.T, reason any) { assert.Equal(t, want, reason) }
	}
	caught := func(of any) func(t *testing.T, reason any) {
		return func(t *testing.T, reason any) {
			assert.Equal(t, wire.Atom("EXIT"), reason.(wire.Tuple)[0])
			isCrash(of)(t, reason.(wire.Tuple)[1])
		}
	}
	for name, c := range map[string]struct {
		start func(...any) (node.Actor, error)
		check func(t *testing.T, reason any)
	}{
		"Init exits":         {initially(func(*node.Context) error { return node.ExitWith(atomA) }), is(atomA)},
		"Init errors":        {initially(func(*node.Context) error { return oops }), isCrash(oops)},
		"Init panics":        {initially(func(*node.Context) error { panic("ouch") }), isCrash("ouch")},
		"Init kills itself":  {initially(func(c *node.Context) error { c.Exit(c.Self(), node.Kill); return nil }), is(node.Killed)},
		"Init exits later":   {later(node.ExitWith(atomA)), is(atomA)},
		"Init ends normally": {later(node.ErrStop), is(node.Normal)},
		"Start errors":       {func(...any) (node.Actor, error) { return nil, oops }, is(oops)},
		"Start exits":        {func(...any) (node.Actor, error) { return nil, node.ExitWith(atomA) }, is(atomA)},
		"Start panics":       {func(...any) (node.Actor, error) { panic("ouch") }, caught("ouch")},
		"Start returns nil": {func(...any) (node.Actor, error) { return nil, nil },
			is(errors.New("supervisor: Start of child a returned neither a behaviour nor an error"))},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(s *oracleNode) {
				kid := supervisor.Child{ID: atomA, Start: c.start}
				reason := s.refuse(supervisor.Spec{Children: []supervisor.Child{{ID: atomB, Start: echo}, kid}}).(wire.Tuple)
				assert.Equal(s, node.Shutdown, reason[0])
				failed := reason[1].(wire.Tuple)
				assert.Equal(s, tuple(wire.Atom("failed_to_start_child"), atomA), failed[:2])
				c.check(s.T, failed[2])

				sup := s.start(supervisor.Spec{})
				_, err := supervisor.StartChild(background, s.n, sup, kid)
				var e *supervisor.StartError
				require.ErrorAs(s, err, &e)
				c.check(s.T, e.Reason)
				assert.Empty(s, s.infos(sup))
				s.end(sup)

				sup = s.start(supervisor.Spec{Strategy: supervisor.SimpleOneForOne, Children: []supervisor.Child{kid}})
				_, err = supervisor.StartDynamic(background, s.n, sup)
				require.ErrorAs(s, err, &e)
				c.check(s.T, e.Reason)
				s.end(sup)
			})
		})
	}
}

// later is an Init that takes a second and then returns err.
func later(err error) func(...any) (node.Actor, error) {
	return func(...any) (node.Actor, error) {
		return startFuncs{func(c *node.Context) error {
			c.SendAfter(time.Second, c.Self(), "now")
			return node.ErrPending
		}, func(*node.Context, any) error { return err }}, nil
	}
}

func TestUnknownBehaviour(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		kid := supervisor.Child{ID: atomA, Named: supervisor.Named{Module: "m", Function: "f", Args: []any{1}}}
		undef := tuple(wire.Atom("EXIT"), tuple(wire.Atom("undef"),
			wire.List{tuple(wire.Atom("m"), wire.Atom("f"), wire.List{1}, wire.List{})}))
		assert.Equal(s, tuple(node.Shutdown, tuple(wire.Atom("failed_to_start_child"), atomA, undef)),
			s.refuse(supervisor.Spec{Children: []supervisor.Child{kid}}))
		sup := s.start(supervisor.Spec{})
		_, err := supervisor.StartChild(background, s.n, sup, kid)
		var e *supervisor.StartError
		require.ErrorAs(s, err, &e)
		assert.Equal(s, undef, e.Reason)
		require.NoError(s, rpc.ExportBehaviour(s.n, wire.Export{Module: "m", Function: "f", Arity: 1}, func(args []any) (node.Actor, error) {
			assert.Equal(s, []any{1}, args)
			return echo()
		}))
		_, err = supervisor.StartChild(background, s.n, sup, kid)
		require.NoError(s, err)
		s.end(sup)
	})
}

// A taken name is detected at the start, and the failed start leaves nothing behind.
func TestNameIsTaken(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		require.NoError(s, s.n.Register("taken", s.self.Self()))
		sup := s.start(supervisor.Spec{})
		kid := supervisor.Child{ID: atomA, Start: echo, Options: node.Options{Name: "taken"}}
		_, err := supervisor.StartChild(background, s.n, sup, kid)
		var e *supervisor.StartError
		var already *supervisor.AlreadyStartedError
		require.ErrorAs(s, err, &e)
		require.ErrorAs(s, err, &already)
		assert.Equal(s, s.self.Self(), already.PID)
		assert.Equal(s, tuple(wire.Atom("already_started"), s.self.Self()), e.Reason)
		assert.Empty(s, s.infos(sup))
		s.end(sup)
	})
}

// A child that is being killed is dead for its supervisor before its end is complete: its name must be free by then.
func TestNameOfTheDying(t *testing.T) {
	records := new(logtest.Records)
	n, err := node.Start(node.Config{Workers: 2, Log: slog.New(records)})
	require.NoError(t, err)
	sup, err := supervisor.Start(background, n,
		supervisor.Spec{Strategy: supervisor.OneForAll, Intensity: 1 << 30, Children: []supervisor.Child{
			{ID: 1, Start: echo, Options: node.Options{Name: "a"}}, {ID: 2, Start: echo, Options: node.Options{Name: "b"}},
		}}, node.Options{})
	require.NoError(t, err)
	for range 5000 {
		a, _ := n.Whereis("a")
		b, _ := n.Whereis("b")
		_ = n.Send(a, atomA)
		n.Exit(b, node.Kill)
		_, err := supervisor.CountChildren(background, n, sup)
		require.NoError(t, err)
	}
	for _, r := range records.Take("supervisor report") {
		assert.NotEqual(t, "start_error", r["context"], r["reason"])
	}
	require.NoError(t, n.Stop())
}

// Invalid spawn options are a failure to start.
func TestBadOptions(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		assert.Contains(s, wire.Format(s.refuse(supervisor.Spec{Children: []supervisor.Child{
			{ID: atomA, Start: echo, Options: node.Options{Place: node.OnStage(1 << 20)}}}})), "invalid argument: Options")
	})
}

// never is an Init that does not end: by not announcing, or by blocking.
var never = map[string]struct {
	start   func(...any) (node.Actor, error)
	options node.Options
}{
	"pending":  {initially(func(*node.Context) error { return node.ErrPending }), node.Options{}},
	"blocking": {initially(func(c *node.Context) error { <-c.Context().Done(); return nil }), node.Options{Place: node.Detached()}},
}

// A child whose Init never returns holds up its supervisor, as in OTP, but not
// its end.
func TestInitNeverReturns(t *testing.T) {
	for name, c := range never {
		kid := supervisor.Child{ID: atomB, Start: c.start, Options: c.options}
		start := func(s *oracleNode) (sup node.PID) {
			sup = s.start(supervisor.Spec{Children: []supervisor.Child{{ID: atomA, Start: echo}}})
			go func() {
				_, err := supervisor.StartChild(background, s.n, sup, kid)
				var e *node.ExitError
				assert.ErrorAs(s, err, &e)
			}()
			synctest.Wait()
			_, err := actortest.CallWithin[any](time.Hour, s.n, sup, "anything")
			assert.ErrorIs(s, err, node.ErrTimeout)
			return sup
		}
		t.Run(name+"/the parent ends it", func(t *testing.T) {
			inBubble(t, nil, func(s *oracleNode) { assert.Zero(s, s.end(start(s))) })
		})
		t.Run(name+"/a request that came before", func(t *testing.T) {
			inBubble(t, nil, func(s *oracleNode) {
				sup := s.start(supervisor.Spec{Children: []supervisor.Child{{ID: atomA, Start: slow(2 * time.Second)}}})
				go func() { assert.NoError(s, supervisor.TerminateChild(background, s.n, sup, atomA)) }()
				synctest.Wait()
				go func() {
					_, err := supervisor.StartChild(background, s.n, sup, kid)
					assert.Equal(s, &node.ExitError{Reason: atomB}, err)
				}()
				synctest.Wait()
				began := time.Now()
				s.self.Exit(sup, atomB)
				s.self.Exit(sup, node.Shutdown) // has no effect
				assert.Equal(s, node.Exited{From: sup, Reason: atomB}, s.self.Receive())
				assert.Equal(s, 2*time.Second, time.Since(began))
				assert.Equal(s, 1, s.n.Stats().Processes)
			})
		})
		t.Run(name+"/the node ends", func(t *testing.T) {
			inBubble(t, nil, func(s *oracleNode) {
				start(s)
				began := time.Now()
				s.self.Close(nil)
				require.NoError(s, s.n.Stop())
				assert.Less(s, time.Since(began), time.Second)
			})
		})
		t.Run(name+"/whoever starts it gives up", func(t *testing.T) {
			inBubble(t, nil, func(s *oracleNode) {
				ctx, cancel := context.WithTimeout(background, time.Minute)
				defer cancel()
				_, err := supervisor.Start(ctx, s.self, supervisor.Spec{Children: []supervisor.Child{{ID: atomA, Start: echo}, kid}},
					node.Options{Link: true})
				require.ErrorIs(s, err, context.DeadlineExceeded)
				synctest.Wait()
				assert.Equal(s, 1, s.n.Stats().Processes)
			})
		})
		t.Run(name+"/in a tree, told while it stops others", func(t *testing.T) {
			inBubble(t, nil, func(s *oracleNode) {
				started := false // b is stuck at its restart
				stuck := func(...any) (node.Actor, error) {
					if !started {
						started = true
						return echo()
					}
					return c.start()
				}
				sup := s.start(supervisor.Spec{Children: []supervisor.Child{{ID: atomA, Type: supervisor.Supervisor,
					Start: func(...any) (node.Actor, error) {
						return supervisor.New(supervisor.Spec{Strategy: supervisor.OneForAll, Children: []supervisor.Child{
							{ID: atomA, Start: echo},
							{ID: atomB, Start: stuck, Options: c.options},
							{ID: wire.Atom("slow"), Start: slow(2 * time.Second)},
						}}), nil
					}}}})
				inner := s.infos(sup)[atomA].PID
				s.crash(inner, atomA, atomA)
				time.Sleep(time.Second) // slow is being stopped
				assert.Equal(s, time.Second, s.end(sup))
			})
		})
	}
}

// slow takes d to obey.
func slow(d time.Duration) func(...any) (node.Actor, error) {
	return func(...any) (node.Actor, error) {
		return startFuncs{
			func(c *node.Context) error { c.TrapExit(true); return nil },
			func(c *node.Context, m any) error {
				if _, told := m.(node.Exited); told {
					_, err := c.SendAfter(d, c.Self(), node.Shutdown)
					return err
				}
				return node.ExitWith(m)
			}}, nil
	}
}

// What a child may do when it is told to exit: ignore it, crash, block.
func TestBadShutdown(t *testing.T) {
	trap := func(told func(c *node.Context) error) func(...any) (node.Actor, error) {
		return func(...any) (node.Actor, error) {
			return startFuncs{
				func(c *node.Context) error { c.TrapExit(true); return nil },
				func(c *node.Context, m any) error {
					if _, exited := m.(node.Exited); exited {
						return told(c)
					}
					return nil
				}}, nil
		}
	}
	for name, c := range map[string]struct {
		start func(...any) (node.Actor, error)
		takes time.Duration
		says  string
	}{
		"ignores it":              {trap(func(*node.Context) error { return nil }), 3 * time.Second, "killed"},
		"panics":                  {trap(func(*node.Context) error { panic("farewell") }), 0, "panic: farewell"},
		"errors":                  {trap(func(*node.Context) error { return errors.New("farewell") }), 0, "error: farewell"},
		"blocks":                  {trap(func(c *node.Context) error { <-c.Context().Done(); return nil }), 3 * time.Second, "killed"},
		"slow":                    {slow(2 * time.Second), 2 * time.Second, ""},
		"unlinks, and ignores it": {trap(func(c *node.Context) error { c.Unlink(c.Parent()); return nil }), 3 * time.Second, "killed"},
	} {
		t.Run(name, func(t *testing.T) {
			records := new(logtest.Records)
			inBubble(t, slog.New(records), func(s *oracleNode) {
				kid := supervisor.Child{ID: atomA, Start: c.start, Shutdown: 3 * time.Second, Options: node.Options{Place: node.Detached()}}
				said := func() {
					s.Helper()
					crashes := records.With("crash report")
					reports := records.Take("supervisor report")
					for _, r := range crashes { // one report: the one of the crash
						if r["context"] != nil {
							reports = append(reports, r)
						}
					}
					if c.says == "" {
						assert.Empty(s, reports)
						return
					}
					require.Len(s, reports, 1)
					assert.Equal(s, "shutdown_error", reports[0]["context"])
					assert.Equal(s, c.says, reports[0]["reason"])
				}
				sup := s.start(supervisor.Spec{Children: []supervisor.Child{kid, {ID: atomB, Start: echo}}})
				began := time.Now()
				require.NoError(s, supervisor.TerminateChild(background, s.n, sup, atomA))
				assert.Equal(s, c.takes, time.Since(began))
				said()
				_, err := supervisor.RestartChild(background, s.n, sup, atomA)
				require.NoError(s, err)
				assert.Equal(s, c.takes, s.end(sup))
				said()

				sup = s.start(supervisor.Spec{Strategy: supervisor.SimpleOneForOne, Children: []supervisor.Child{kid}})
				for range 3 {
					_, err := supervisor.StartDynamic(background, s.n, sup)
					require.NoError(s, err)
				}
				assert.Equal(s, c.takes, s.end(sup), "all have their time together")
			})
		})
	}
}

// A supervisor answers an unknown request, which does no harm.
func TestUnknownRequests(t *testing.T) {
	inBubble(t, nil, func(s *oracleNode) {
		sup := s.start(supervisor.Spec{Children: []supervisor.Child{{ID: atomA, Start: echo}}})
		_, err := node.Call[any](background, s.n, sup, 17)
		assert.ErrorContains(s, err, "unknown request")
		for _, m := range []any{nil, "m", 17, node.Down{}, node.Started{}, node.Exited{From: s.n.Inside(process.Key{}).Origin().PID(99)},
			tuple(wire.Atom("$gen_call"), 1, 2),
			tuple(wire.Atom("$gen_cast"), 1), tuple(wire.Atom("system"), 1, 2), node.Result{}} {
			require.NoError(s, s.n.Send(sup, m))
		}
		synctest.Wait()
		assert.False(s, s.infos(sup)[atomA].PID.IsZero())
		for _, request := range []any{nil, 17, atomA, tuple(), tuple(atomA, 1), tuple(wire.Atom("start_child")),
			tuple(wire.Atom("start_child"), 1, 2)} {
			ref := s.n.MakeRef()
			require.NoError(s, s.self.Send(sup, tuple(wire.Atom("$gen_call"), tuple(s.self.Self(), ref), request)))
			reply := s.self.Receive().(wire.Tuple)
			assert.Equal(s, ref, reply[0])
			assert.Equal(s, tuple(wire.AtomError, tuple(wire.Atom("unhandled_request"), request)), reply[1])
		}
		s.end(sup)
	})
}

func TestParseSpec(t *testing.T) {
	child := wire.NewMap(wire.Atom("id"), 1, wire.Atom("start"), tuple(wire.Atom("m"), wire.Atom("f"), wire.List{}))
	spec, err := supervisor.ParseSpec(wire.NewMap(), wire.List{child})
	require.NoError(t, err)
	assert.Equal(t, supervisor.Spec{Strategy: supervisor.OneForOne, Intensity: 1, Period: 5 * time.Second,
		AutoShutdown: supervisor.Never, Children: []supervisor.Child{{ID: 1, Restart: supervisor.Permanent, Type: supervisor.Worker,
			Named: supervisor.Named{Module: "m", Function: "f", Args: []any{}}}}}, spec)
	spec, err = supervisor.ParseSpec(tuple(wire.Atom("rest_for_one"), 0, int64(1<<62)), nil)
	require.NoError(t, err)
	assert.Equal(t, supervisor.Spec{Strategy: supervisor.RestForOne, Intensity: supervisor.NoRestarts, Period: spec.Period,
		AutoShutdown: supervisor.Never}, spec)
	assert.Greater(t, spec.Period, 250*365*24*time.Hour)
	_, err = supervisor.ParseSpec(wire.NewMap(), atomA)
	var e *supervisor.SpecError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, tuple(wire.Atom("bad_start_spec"), atomA), e.Reason)

	// The old form of a child, shutdown 0, and an id that Go might mistake for none.
	k, err := supervisor.ParseChild(tuple(wire.List(nil), tuple(wire.Atom("m"), wire.Atom("f"), wire.Charlist("x")),
		wire.Atom("transient"), 0, wire.Atom("worker"), wire.List{atomA, atomB}))
	require.NoError(t, err)
	require.NoError(t, supervisor.CheckSpecs([]supervisor.Child{k}, supervisor.Never))
	assert.Equal(t, "#{id => [],modules => [a,b],restart => transient,shutdown => 0,significant => false,start => "+
		"{m,f,\"x\"},type => worker}",
		text(sysmsg.Term(k)))
	k, err = supervisor.ParseChild(wire.NewMap(wire.Atom("id"), nil, wire.Atom("start"), tuple(wire.Atom("m"), wire.Atom("f"), nil)))
	require.NoError(t, err)
	assert.NoError(t, supervisor.CheckSpecs([]supervisor.Child{k}, supervisor.Never))
}

// termOf returns the term that a value of this package stands for.
func termOf(v any) any {
	t, _ := termof.Of(v)
	return t
}
