package tasks_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/node/tasks"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// elixir plays the part of Task.Supervisor's callers.
type elixir struct {
	*testing.T
	n   *node.Node
	h   *nodetest.Probe
	sup node.PID
}

func inElixir(t *testing.T, o tasks.Options, f func(e *elixir)) {
	inBubble(t, o, func(t *testing.T, n *node.Node, h *nodetest.Probe, sup node.PID) {
		e := &elixir{t, n, h, sup}
		for name, f := range map[wire.Atom]rpc.Function{
			"id":    func(_ context.Context, args []any) (any, error) { return args[0], nil },
			"error": func(_ context.Context, args []any) (any, error) { return nil, rpc.Raise(args[0]) },
			"throw": func(_ context.Context, args []any) (any, error) { return nil, rpc.Throw(args[0]) },
			"exit":  func(_ context.Context, args []any) (any, error) { return nil, node.ExitWith(args[0]) },
			"sleep": func(ctx context.Context, _ []any) (any, error) { <-ctx.Done(); return nil, nil },
			"tell": func(_ context.Context, args []any) (any, error) {
				return nil, n.Send(args[0].(node.PID), "told")
			},
		} {
			require.NoError(t, rpc.Export(n, wire.Export{Module: "m", Function: name, Arity: 1}, f))
		}
		f(e)
	})
}

func (e *elixir) term(text string) any {
	v, err := wire.Parse(text)
	require.NoError(e, err, text)
	return v
}

// call is GenServer.call: it returns the answer as text, and itself.
func (e *elixir) call(request any) (string, any) {
	e.Helper()
	ref := e.n.MakeRef()
	require.NoError(e, e.h.Send(e.sup, wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{e.h.Self(), ref}, request}))
	m, err := e.h.ReceiveWithin(time.Hour, func(m any) bool {
		t, ok := m.(wire.Tuple)
		return ok && len(t) == 2 && t[0] == any(ref)
	})
	require.NoError(e, err)
	answer := m.(wire.Tuple)[1]
	return wire.Format(answer), answer
}

// start is {start_task, [Owner | args], restart, shutdown} of a caller.
func (e *elixir) start(owner node.PID, restart, shutdown any, args ...any) any {
	from := wire.Tuple{e.n.Name(), owner, owner}
	return wire.Tuple{wire.Atom("start_task"), append(wire.List{from}, args...), restart, shutdown}
}

const (
	null      = wire.Atom("nil")
	temporary = wire.Atom("temporary")
	monitor   = wire.Atom("monitor")
)

// task starts a task and returns its process.
func (e *elixir) task(restart, shutdown any, args ...any) node.PID {
	e.Helper()
	text, answer := e.call(e.start(e.h.Self(), restart, shutdown, args...))
	t, ok := answer.(wire.Tuple)
	require.True(e, ok && t[0] == wire.AtomOK, text)
	return t[1].(node.PID)
}

func (e *elixir) exit(pid node.PID) string {
	e.Helper()
	return wire.Format(e.h.ExpectDown(e.h.Monitor(pid)).Reason)
}

// mfa is {m, function, args}.
func mfa(function wire.Atom, args ...any) any {
	return wire.Tuple{wire.Atom("m"), function, wire.List(args)}
}

// ask sends the message of Task.Supervisor.async, async_nolink, async_stream and, in newer versions, start_child.
func (e *elixir) ask(pid node.PID, mfa any) node.Ref {
	ref := e.n.MakeRef()
	require.NoError(e, e.h.Send(pid, wire.Tuple{e.h.Self(), ref, e.h.Self(), wire.List{}, mfa}))
	return ref
}

// What a task calls, and how it ends.
func TestElixirCalls(t *testing.T) {
	inElixir(t, tasks.Options{}, func(e *elixir) {
		for _, watch := range []wire.Atom{"monitor", "nomonitor"} {
			pid := e.task(null, null, watch)
			ref := e.ask(pid, mfa("id", 21))
			require.Equal(t, wire.Tuple{ref, 21}, e.h.Receive())
			require.Zero(t, active(e.T, e.n, e.sup))
		}
		for call, want := range map[string]string{
			"{m,error,[a]}": "{a,[]}", "{m,throw,[a]}": "{{nocatch,a},[]}", "{m,exit,[a]}": "a", "{m,exit,[{shutdown,a}]}": "{shutdown,a}",
			"{m,none,[]}": "{undef,[]}", "{m,id,[]}": "{undef,[]}", "{erlang,halt,[]}": "{undef,[]}", "x": "{undef,[]}",
			"{x}": "{undef,[]}", "{1,2,3}": "{undef,[]}",
		} {
			pid := e.task(temporary, wire.AtomUndefined, monitor)
			ref := e.h.Monitor(pid)
			e.ask(pid, e.term(call))
			require.Equal(t, want, wire.Format(e.h.ExpectDown(ref).Reason), call)
			pid = e.task(temporary, null, wire.List{}, mfa("sleep", 1))
			e.h.Exit(pid, "x")
			require.Equal(t, "noproc", e.exit(pid))
		}
		e.task(null, null, wire.List{e.h.Self()}, mfa("tell", e.h.Self()))
		require.Equal(t, "told", e.h.Receive())
		require.Zero(t, active(e.T, e.n, e.sup))

		pid := e.task(null, null, monitor) // there is nobody to reply to
		ref := e.h.Monitor(pid)
		require.NoError(t, e.h.Send(pid, wire.Tuple{e.h.Self(), 1, "x", wire.List{}, mfa("id", 1)}))
		require.Equal(t, wire.Atom("badarg"), e.h.ExpectDown(ref).Reason)
		e.h.ExpectNone()
	})
}

// A task waits for its function 5 s, or until its owner ends; without monitor, for ever.
func TestElixirOwner(t *testing.T) {
	inElixir(t, tasks.Options{}, func(e *elixir) {
		begin := time.Now()
		require.Equal(t, "timeout", e.exit(e.task(temporary, null, monitor)))
		require.Equal(t, 5*time.Second, time.Since(begin))
		owner := nodetest.NewProbe(t, e.n)
		for _, watch := range []wire.Atom{"monitor", "nomonitor"} {
			e.call(e.start(owner.Self(), temporary, null, watch))
		}
		require.Equal(t, 2, active(e.T, e.n, e.sup))
		owner.Close("why")
		require.Equal(t, 1, active(e.T, e.n, e.sup))
		time.Sleep(time.Hour)
		require.Equal(t, 1, active(e.T, e.n, e.sup))
		text, _ := e.call(e.start(owner.Self(), temporary, null, monitor))
		require.Contains(t, text, "{ok,")
		require.Equal(t, 1, active(e.T, e.n, e.sup))
	})
}

// The other requests, those that are refused, and those that are none.
func TestElixirRequests(t *testing.T) {
	inElixir(t, tasks.Options{Max: 2}, func(e *elixir) {
		pids := []node.PID{e.task(null, null, wire.Atom("nomonitor")), e.task(null, null, monitor)}
		for _, c := range []struct{ request, want string }{
			{"count_children", "[{specs,2},{active,2},{supervisors,0},{workers,2}]"},
			{"which_children", fmt.Sprintf("[{undefined,%v,worker,['Elixir.Task.Supervised']},"+
				"{undefined,%v,worker,['Elixir.Task.Supervised']}]",
				wire.Format(pids[1]), wire.Format(pids[0]))},
		} {
			text, _ := e.call(e.term(c.request))
			require.Equal(t, c.want, text)
		}
		full, _ := e.call(e.start(e.h.Self(), null, null, monitor))
		require.Equal(t, "{error,max_children}", full)
		stop := wire.Tuple{wire.Atom("terminate_child"), pids[0]}
		ref := e.h.Monitor(pids[0])
		text, _ := e.call(stop)
		require.Equal(t, "ok", text)
		require.Equal(t, node.Shutdown, e.h.ExpectDown(ref).Reason)
		text, _ = e.call(stop)
		require.Equal(t, "{error,not_found}", text)
		for _, c := range []struct{ restart, shutdown, want string }{
			{"always", "nil", "{error,{invalid_restart_type,always}}"},
			{"1", "nil", "{error,{invalid_restart_type,1}}"},
			{"permanent", "soon", "{error,{invalid_shutdown,soon}}"}, {"permanent", "-5", "{error,{invalid_shutdown,-5}}"},
			{"permanent", "99999999999999999999999", "{error,{invalid_shutdown,"},
		} {
			text, _ := e.call(e.start(e.h.Self(), e.term(c.restart), e.term(c.shutdown), monitor))
			require.Contains(t, text, c.want)
		}
		me := e.h.Self()
		for _, request := range []any{
			e.term("x"), e.term("{start_task,x,y,z}"), e.term("{start_task,[{a,b,c},monitor],y,z}"), e.term("{start_task,[1,2],y,z}"),
			e.start(me, null, null), e.start(me, null, null, wire.Atom("x")), e.start(me, null, null, wire.List{}, "x"),
			e.start(me, null, null, monitor, mfa("id", 1), 1), e.start(me, null, null, monitor).(wire.Tuple)[:3],
		} {
			text, _ := e.call(request)
			require.Equal(t, "{error,{unhandled_request,"+wire.Format(request)+"}}", text)
		}
		require.Equal(t, 1, active(e.T, e.n, e.sup))
	})
}

// The restarts of start_child: after which exits, with the same function. More than 3 within 5 s end the supervisor.
func TestElixirRestarts(t *testing.T) {
	for _, c := range []struct {
		restart wire.Atom
		reason  string
		again   bool
	}{
		{"temporary", "normal", false}, {"temporary", "bad", false},
		{"transient", "normal", false}, {"transient", "shutdown", false}, {"transient", "{shutdown,x}", false},
		{"transient", "bad", true},
		{"permanent", "normal", true}, {"permanent", "shutdown", true}, {"permanent", "bad", true},
	} {
		inElixir(t, tasks.Options{Max: 1}, func(e *elixir) {
			next := make(chan struct{})
			require.NoError(t, rpc.Export(e.n, wire.Export{Module: "m", Function: "end", Arity: 1},
				func(ctx context.Context, args []any) (any, error) {
					select {
					case <-next:
					case <-ctx.Done():
					}
					return nil, node.ExitWith(args[0])
				}))
			pid := e.task(c.restart, null, wire.List{}, mfa("end", e.term(c.reason)))
			for restarts := 1; restarts <= 3; restarts++ {
				next <- struct{}{}
				synctest.Wait()
				all, err := supervisor.WhichChildren(e.Context(), e.n, e.sup)
				require.NoError(t, err)
				if !c.again {
					require.Empty(t, all)
					return
				}
				require.Len(t, all, 1)
				require.NotEqual(t, pid, all[0].PID)
				require.Equal(t, restarts, all[0].Restarts)
				pid = all[0].PID
				full, _ := e.call(e.start(e.h.Self(), null, null, monitor))
				require.Equal(t, "{error,max_children}", full)
			}
			ref := e.h.Monitor(e.sup)
			next <- struct{}{}
			require.Equal(t, node.Shutdown, e.h.ExpectDown(ref).Reason)
		})
	}
}

// A task has the time that its caller has chosen.
func TestElixirShutdown(t *testing.T) {
	inElixir(t, tasks.Options{}, func(e *elixir) {
		for _, shutdown := range []any{wire.Atom("brutal_kill"), wire.Atom("infinity"), 0, 7000, null} {
			pid := e.task(null, shutdown, wire.List{}, mfa("sleep", 1))
			ref := e.h.Monitor(pid)
			text, _ := e.call(wire.Tuple{wire.Atom("terminate_child"), pid})
			require.Equal(t, "ok", text)
			want := node.Shutdown
			if shutdown == wire.Atom("brutal_kill") {
				want = node.Killed
			}
			require.Equal(t, want, e.h.ExpectDown(ref).Reason)
		}
		require.Zero(t, active(e.T, e.n, e.sup))
	})
}

// A caller on another node that has the result of a task, or its exit, can start the next one.
func TestElixirMaxAwaited(t *testing.T) {
	cluster := clustertest.NewCluster(t)
	far, near := cluster.Start("far"), cluster.Start("near")
	for name, f := range map[wire.Atom]rpc.Function{
		"id":    func(_ context.Context, args []any) (any, error) { return args[0], nil },
		"error": func(_ context.Context, args []any) (any, error) { return nil, rpc.Raise(args[0]) },
	} {
		require.NoError(t, rpc.Export(far, wire.Export{Module: "m", Function: name, Arity: 1}, f))
	}
	pid, err := tasks.Start(t.Context(), far, tasks.Options{Max: 1}, node.Options{})
	require.NoError(t, err)
	h := nodetest.NewProbe(t, near)
	e := &elixir{t, near, h, pid}
	for k := range 10_000 {
		task := e.task(null, null, monitor)
		if k%100 == 0 {
			ref := h.Monitor(task)
			e.ask(task, mfa("error", k))
			require.Equal(t, fmt.Sprintf("{%d,[]}", k), wire.Format(h.ExpectDown(ref).Reason))
			continue
		}
		ref := e.ask(task, mfa("id", k))
		require.Equal(t, wire.Tuple{ref, k}, nodetest.Expect[wire.Tuple](h))
	}
}

// A task of another node calls only what that node may call, whichever way it names the function, and counts towards what
// it may have started here.
func TestElixirRights(t *testing.T) {
	cluster := clustertest.NewCluster(t)
	far := cluster.StartWith("far", node.Distribution{
		Access: node.Access{Allow: func(peer node.Atom, e wire.Export) bool { return e.Function == "yes" }}})
	near := cluster.Start("near")
	for _, name := range []wire.Atom{"yes", "no"} {
		require.NoError(t, rpc.Export(far, wire.Export{Module: "m", Function: name, Arity: 1},
			func(_ context.Context, args []any) (any, error) { return args[0], nil }))
	}
	pid, err := tasks.Start(t.Context(), far, tasks.Options{}, node.Options{Name: "tasks"})
	require.NoError(t, err)
	h := nodetest.NewProbe(t, near)
	e := &elixir{t, near, h, pid}
	task := e.task(null, null, monitor)
	ref := e.ask(task, mfa("yes", 21))
	require.Equal(t, wire.Tuple{ref, 21}, nodetest.Expect[wire.Tuple](h))
	for _, args := range [][]any{{monitor}, {wire.List{}, mfa("no", 21)}} {
		require.NoError(t, h.Send(pid, wire.Tuple{wire.Atom("$gen_call"), wire.Tuple{h.Self(), near.MakeRef()},
			e.start(h.Self(), null, null, args...)}))
		task := nodetest.Expect[wire.Tuple](h)[1].(wire.Tuple)[1].(node.PID)
		ref := h.Monitor(task)
		if len(args) == 1 {
			e.ask(task, mfa("no", 21))
			require.Equal(t, "{undef,[]}", wire.Format(h.ExpectDown(ref).Reason))
		} else {
			require.Contains(t, []string{"{undef,[]}", "noproc"}, wire.Format(h.ExpectDown(ref).Reason))
		}
	}
	// A function does not go there.
	_, err = node.Await(t.Context(), near, tasks.Go(near, pid, forever))
	require.ErrorIs(t, err, tasks.ErrNotLocal)
	require.ErrorContains(t, err, "far@127.0.0.1")
}
