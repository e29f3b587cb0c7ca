package application_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
)

// run runs a test on a node with a controller, in a bubble.
func run(t *testing.T, cfg node.Config, test func(t *testing.T, n *node.Node, c *application.Controller)) {
	synctest.Test(t, func(t *testing.T) {
		n, err := node.Start(cfg)
		require.NoError(t, err)
		c, err := application.Start(t.Context(), n)
		require.NoError(t, err)
		defer func() {
			require.NoError(t, n.Stop())
			<-c.Done()
		}()
		test(t, n, c)
	})
}

// sleeper is an application whose top process waits for its exit.
func sleeper(name wire.Atom, depends ...wire.Atom) application.Spec {
	return application.Spec{Name: name, Depends: depends, Start: func(_ context.Context, p *node.Process) (node.PID, error) {
		return p.SpawnOpt(node.Options{Link: true}, node.ActorFunc(func(_ *node.Context, m any) error { return node.ExitWith(m) }))
	}}
}

func names(t *testing.T, c *application.Controller) (l []wire.Atom) {
	all, err := c.Which(t.Context())
	require.NoError(t, err)
	for _, a := range all {
		l = append(l, a.Name)
	}
	return l
}

func TestCheck(t *testing.T) {
	for _, x := range []struct {
		spec application.Spec
		want string
	}{
		{application.Spec{}, "{invalid_name,''}"},
		{application.Spec{Name: wire.Atom(strings.Repeat("x", 256))}, "{invalid_name," + strings.Repeat("x", 256) + "}"},
		{application.Spec{Name: "a", Type: "often"}, "{invalid_restart_type,often}"},
		{application.Spec{Name: "a", StopTimeout: -time.Second}, "{invalid_stop_timeout,-1000}"},
		{application.Spec{Name: "a", Depends: []wire.Atom{"b", "b"}}, "{duplicate_application,b}"},
		{application.Spec{Name: "a", Depends: []wire.Atom{"b", "a"}}, "{cycle,[a,a]}"},
		{application.Spec{Name: "a", Optional: []wire.Atom{"b"}}, "{optional_application_not_in_applications,b}"},
		{application.Spec{Name: "a", Top: &supervisor.Spec{}, Start: sleeper("a").Start},
			`{badstartspec,<<"Top and Start cannot be combined">>}`},
		{application.Spec{Name: "a", Depends: []wire.Atom{"b", "c"}, Optional: []wire.Atom{"c"}}, ""},
	} {
		err := x.spec.Check()
		if x.want == "" {
			require.NoError(t, err)
			continue
		}
		require.Error(t, err)
		require.Equal(t, x.want, wire.Format(values.ErrorTerm(err)))
	}
}

func TestStartAll(t *testing.T) {
	run(t, node.Config{}, func(t *testing.T, n *node.Node, c *application.Controller) {
		for _, s := range []application.Spec{sleeper("d", "b", "c"), sleeper("c", "a"), sleeper("b", "a"), sleeper("a"),
			{Name: "lib"}} {
			require.NoError(t, c.Load(s))
		}
		require.NoError(t, c.StartAll(t.Context()))
		require.Equal(t, []wire.Atom{"lib", "d", "c", "b", "a"}, names(t, c))
		require.NoError(t, c.StartAll(t.Context()))
		require.NoError(t, c.StopAll(t.Context()))
		require.Empty(t, names(t, c))
		require.ErrorContains(t, c.Stop(t.Context(), "a"), "not_started: a")
		require.NoError(t, c.StartAll(t.Context()))
	})
}

func TestCycle(t *testing.T) {
	run(t, node.Config{}, func(t *testing.T, n *node.Node, c *application.Controller) {
		for _, s := range []application.Spec{sleeper("a", "x", "b"), sleeper("b", "c"), sleeper("c", "b"), sleeper("x")} {
			require.NoError(t, c.Load(s))
		}
		_, err := c.EnsureAllStarted(t.Context(), "a", application.Temporary)
		var cycle *application.Error
		require.ErrorAs(t, err, &cycle)
		require.Equal(t, []wire.Atom{"b", "c", "b"}, cycle.Reason)
		require.EqualError(t, err, "application: starting b: application: the dependencies form a cycle: b -> c -> b")
		require.Empty(t, names(t, c)) // x has been stopped again
		answer, err := rpc.Apply(t.Context(), n, "application", "ensure_all_started", []any{wire.Atom("a")})
		require.NoError(t, err)
		require.Equal(t, "{error,{b,{cycle,[b,c,b]}}}", wire.Format(answer))
	})
}

// A process that takes too long to stop is killed, and so is the tree.
func TestStopTimeout(t *testing.T) {
	run(t, node.Config{}, func(t *testing.T, n *node.Node, c *application.Controller) {
		var top node.PID
		stubborn := application.Spec{Name: "stubborn", StopTimeout: 7 * time.Second,
			Start: func(_ context.Context, p *node.Process) (pid node.PID, err error) {
				top, err = p.SpawnOpt(node.Options{Link: true}, node.ProcessFunc(func(p *node.Process) error {
					p.TrapExit(true)
					for {
						p.Receive()
					}
				}))
				return top, err
			}}
		hanging := sleeper("hanging")
		hanging.StopTimeout = 2 * time.Second
		hanging.PrepStop = func() { time.Sleep(time.Minute) }
		require.NoError(t, c.Load(stubborn))
		require.NoError(t, c.Load(hanging))
		require.NoError(t, c.StartAll(t.Context()))
		began := time.Now()
		require.NoError(t, c.StopAll(t.Context()))
		require.Equal(t, 9*time.Second, time.Since(began))
		require.False(t, n.IsAlive(top))
		time.Sleep(time.Minute) // the hook returns
	})
}

func TestConcurrentStarts(t *testing.T) {
	run(t, node.Config{}, func(t *testing.T, n *node.Node, c *application.Controller) {
		slow := sleeper("slow")
		start := slow.Start
		times := 0
		slow.Start = func(ctx context.Context, p *node.Process) (node.PID, error) {
			times++
			time.Sleep(time.Second)
			return start(ctx, p)
		}
		require.NoError(t, c.Load(slow))
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { require.NoError(t, c.Start(t.Context(), "slow", application.Temporary)) })
		}
		synctest.Wait()
		require.Empty(t, names(t, c)) // other requests are answered meanwhile
		require.ErrorContains(t, c.Stop(t.Context(), "slow"), "not_started")
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		require.ErrorIs(t, c.Start(short, "slow", application.Temporary), context.DeadlineExceeded)
		cancel()
		wg.Wait()
		require.Equal(t, 1, times)
		require.ErrorContains(t, c.Start(t.Context(), "slow", application.Temporary), "already_started")
	})
}

func TestTop(t *testing.T) {
	run(t, node.Config{}, func(t *testing.T, n *node.Node, c *application.Controller) {
		failing := supervisor.Child{ID: wire.Atom("x"), Start: func(...any) (node.Actor, error) { return nil, errors.New("no disk") }}
		require.NoError(t, c.Load(application.Spec{Name: "good", Top: &supervisor.Spec{}, TopOptions: node.Options{Name: "top"}}))
		require.NoError(t, c.Load(application.Spec{Name: "bad", Top: &supervisor.Spec{Children: []supervisor.Child{failing}}}))
		require.NoError(t, c.Start(t.Context(), "good", application.Permanent))
		answer, err := rpc.Apply(t.Context(), n, "application", "start", []any{wire.Atom("bad")})
		require.NoError(t, err)
		require.Equal(t, `{error,{{shutdown,{failed_to_start_child,x,#Go<*errors.errorString no disk>}},{bad,start,[normal,[]]}}}`, wire.Format(answer))

		// The requests of OTP's observer.
		top, _ := n.Whereis("top")
		master, err := rpc.Apply(t.Context(), n, "application_controller", "get_master", []any{wire.Atom("good")})
		require.NoError(t, err)
		child, err := rpc.Apply(t.Context(), n, "application_master", "get_child", []any{master})
		require.NoError(t, err)
		require.Equal(t, wire.Tuple{top, wire.Atom("supervisor")}, child)
		info, err := rpc.Apply(t.Context(), n, "application", "info", nil)
		require.NoError(t, err)
		require.Equal(t, `[{loaded,[{bad,[],[]},{good,[],[]}]},{loading,[]},{started,[{good,permanent}]},{start_p_false,[]},`+
			`{running,[{good,`+master.(node.PID).String()+`}]},{starting,[]}]`, wire.Format(info))
		state, err := sys.GetState(t.Context(), n, wire.Atom("application_controller"))
		require.NoError(t, err)
		require.True(t, wire.Equal(info, state))
	})
}

// A permanent application whose supervisor gives up takes all others down.
func TestPermanent(t *testing.T) {
	run(t, node.Config{}, func(t *testing.T, n *node.Node, c *application.Controller) {
		crash := supervisor.Child{ID: wire.Atom("x"), Options: node.Options{Name: "x"}, Start: func(...any) (node.Actor, error) {
			return node.ActorFunc(func(*node.Context, any) error { return errors.New("crash") }), nil
		}}
		require.NoError(t, c.Load(sleeper("other")))
		require.NoError(t, c.Load(application.Spec{Name: "vital", Type: application.Permanent, Depends: []wire.Atom{"other"},
			Top: &supervisor.Spec{Intensity: supervisor.NoRestarts, Children: []supervisor.Child{crash}}}))
		require.NoError(t, c.StartAll(t.Context()))
		require.NoError(t, c.Err())
		require.NoError(t, n.Send(node.Atom("x"), 1))
		<-c.Done()
		var ended *application.Error
		require.ErrorAs(t, c.Err(), &ended)
		require.Equal(t, []any{wire.Atom("application_terminated"), wire.Atom("vital"), node.Shutdown}, []any{ended.Code, ended.Name, ended.Reason})
		require.EqualError(t, c.Err(), "application: the permanent application vital ended: shutdown")
		require.Empty(t, n.Registered())
		require.Error(t, c.StartAll(t.Context()))
	})
}

func TestStartPanics(t *testing.T) {
	run(t, node.Config{}, func(t *testing.T, n *node.Node, c *application.Controller) {
		s := sleeper("a")
		s.Start = func(context.Context, *node.Process) (node.PID, error) { panic("oops") }
		require.NoError(t, c.Load(s))
		err := c.Start(t.Context(), "a", application.Temporary)
		var failed *application.Error
		require.ErrorAs(t, err, &failed)
		require.Equal(t, "oops", failed.Reason.(*node.Crash).Reason)
		s = sleeper("b")
		s.Start = func(context.Context, *node.Process) (pid node.PID, err error) { return pid, nil }
		require.NoError(t, c.Load(s))
		require.ErrorContains(t, c.Start(t.Context(), "b", application.Temporary), "neither a process nor an error")
	})
}

// A hook that panics is reported, and the stop goes on.
func TestHookPanics(t *testing.T) {
	var log strings.Builder
	var mu sync.Mutex
	run(t, node.Config{Log: slog.New(slog.NewTextHandler(lockedWriter{&mu, &log}, nil))},
		func(t *testing.T, n *node.Node, c *application.Controller) {
			s := sleeper("a")
			stopped := false
			s.PrepStop = func() { panic("oops") }
			s.Stop = func() { stopped = true }
			require.NoError(t, c.Load(s))
			require.NoError(t, c.StartAll(t.Context()))
			require.NoError(t, c.Stop(t.Context(), "a"))
			require.True(t, stopped)
		})
	require.Contains(t, log.String(), "hook=PrepStop panic=oops")
}

type lockedWriter struct {
	mu *sync.Mutex
	b  *strings.Builder
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// Node.Stop ends everything, including hooks, in no particular order.
func TestNodeStops(t *testing.T) {
	stopped := false
	run(t, node.Config{}, func(t *testing.T, n *node.Node, c *application.Controller) {
		s := sleeper("a")
		s.Stop = func() { stopped = true }
		require.NoError(t, c.Load(s))
		require.NoError(t, c.StartAll(t.Context()))
		require.NoError(t, n.Stop())
		<-c.Done()
		require.NoError(t, c.Err())
	})
	require.True(t, stopped)
}

// A controller that ends while an application starts does not leave the application behind.
func TestEndWhileStarting(t *testing.T) {
	run(t, node.Config{}, func(t *testing.T, n *node.Node, c *application.Controller) {
		ended := make(chan error, 1)
		s := sleeper("a")
		s.Start = func(ctx context.Context, p *node.Process) (pid node.PID, err error) {
			<-ctx.Done()
			ended <- ctx.Err()
			return pid, ctx.Err()
		}
		require.NoError(t, c.Load(s))
		require.NoError(t, c.Load(sleeper("b")))
		require.NoError(t, c.Start(t.Context(), "b", application.Permanent))
		go c.Start(t.Context(), "a", application.Temporary) // ends when the controller does
		synctest.Wait()
		n.Exit(wire.Atom("application_controller"), wire.Atom("shutdown"))
		require.ErrorIs(t, <-ended, context.Canceled)
		<-c.Done()
		require.NoError(t, c.Err())
	})
}

func TestEnv(t *testing.T) {
	run(t, node.Config{}, func(t *testing.T, n *node.Node, c *application.Controller) {
		type limits struct{ Max int }
		c.SetEnv("a", "early", 1)
		c.SetEnv("a", "port", 1)
		require.NoError(t, c.Load(application.Spec{Name: "a", Env: map[wire.Atom]any{"port": 8080, "limits": limits{5}}}))
		require.Equal(t, map[wire.Atom]any{"early": 1, "port": 8080, "limits": limits{5}}, c.AllEnv("a"))
		v, ok := c.Env("a", "limits")
		require.True(t, ok)
		require.Equal(t, limits{5}, v) // from Go as it is, from Erlang as a term
		answer, err := rpc.Apply(t.Context(), n, "application", "get_env", []any{wire.Atom("a"), wire.Atom("limits")})
		require.NoError(t, err)
		require.Equal(t, wire.AtomOK, answer.(wire.Tuple)[0])
		require.NotContains(t, wire.Format(answer), "#Go")
		c.UnsetEnv("a", "limits")
		_, ok = c.Env("a", "limits")
		require.False(t, ok)
		require.Nil(t, c.AllEnv("b"))
		answer, err = rpc.Apply(t.Context(), n, "application", "get_key", []any{wire.Atom("a"), wire.Atom("colour")})
		require.NoError(t, err)
		require.Equal(t, wire.AtomUndefined, answer)
	})
}

func TestOneController(t *testing.T) {
	run(t, node.Config{}, func(t *testing.T, n *node.Node, _ *application.Controller) {
		_, err := application.Start(t.Context(), n)
		require.ErrorIs(t, err, node.ErrNameTaken)
		_, err = application.Start(t.Context(), nodetest.NewProbe(t, n))
		require.ErrorIs(t, err, node.ErrNameTaken)
	})
}

// Requests that Erlang can send and no Go caller can.
func TestBadArguments(t *testing.T) {
	run(t, node.Config{}, func(t *testing.T, n *node.Node, c *application.Controller) {
		for _, x := range []struct{ function, args, want string }{
			{"which_applications", "[soon]", "badarg"},
			{"which_applications", "[-1]", "badarg"},
			{"ensure_all_started", "[5]", "badarg"},
			{"set_env", "[a, 5, 6]", "badarg"},
			{"which_applications", "[5000]", "[]"},
			{"ensure_all_started", "[[]]", "{ok,[]}"},
			{"load", "[5]", "{error,{bad_application,5}}"},
			{"unload", "[5]", "{error,{not_loaded,5}}"},
			{"get_all_key", "[5]", "undefined"},
			{"set_env", "[a, b, 6, [{persistent, true}]]", "ok"},
			{"unset_env", "[a, b, 5000]", "ok"},
		} {
			args, err := wire.Parse(x.args)
			require.NoError(t, err)
			v, err := rpc.Apply(t.Context(), n, "application", wire.Atom(x.function), args.(wire.List))
			if err != nil {
				v = values.ErrorTerm(err)
			}
			require.Equal(t, x.want, wire.Format(v), x.function)
		}
	})
}
