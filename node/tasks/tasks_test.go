package tasks_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/tasks"
	"github.com/actornode/actornode/supervisor"
)

// inBubble runs a test with a supervisor of tasks.
func inBubble(t *testing.T, o tasks.Options, f func(t *testing.T, n *node.Node, h *nodetest.Probe, sup node.PID)) {
	actortest.InBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe, _ *logtest.Text) {
		sup, err := tasks.Start(t.Context(), n, o, node.Options{Name: "tasks"})
		require.NoError(t, err)
		f(t, n, h, sup)
	})
}

func active(t *testing.T, n *node.Node, sup node.Dest) int {
	t.Helper()
	synctest.Wait()
	c, err := supervisor.CountChildren(t.Context(), n, sup)
	require.NoError(t, err)
	require.Equal(t, c.Specs, c.Active)
	require.Equal(t, c.Specs, c.Workers)
	return c.Active
}

// forever is a task that ends with its context.
func forever(p *node.Process) (int, error) {
	<-p.Context().Done()
	return 0, nil
}

// What a function does, what its future gets, and that nothing else ends: from each caller, linked or not if it is no crash.
func TestGo(t *testing.T) {
	n := nodetest.Start(t, node.Config{Log: (&logtest.Text{}).Logger()})
	_, err := tasks.Start(t.Context(), n, tasks.Options{}, node.Options{Name: "tasks"})
	require.NoError(t, err)
	sup := node.Atom("tasks")
	actortest.EachCaller(t, func(t *testing.T, c actortest.Caller) {
		for k, what := range fates {
			for name, run := range map[string]func(node.Caller, node.Dest, func(*node.Process) (int, error)) *node.Future[int]{
				"Go": tasks.Go[int], "GoLinked": tasks.GoLinked[int],
			} {
				if name == "GoLinked" && k > 2 {
					continue // it ends the caller
				}
				c.Do(t, n, func(me node.Caller) {
					f := run(me, sup, func(p *node.Process) (int, error) { return what.do(p, 21) })
					v, err := node.Await(testkit.Context(t), me, f)
					what.check(t, err)
					if err == nil {
						assert.Equal(t, 42, v)
					}
				})
			}
		}
		c.Do(t, n, func(me node.Caller) {
			for want, sup := range map[error]node.Dest{
				node.ErrNoName: node.Atom("nosuch"), tasks.ErrNotLocal: node.At{Name: "tasks", Node: "other@host"},
			} {
				_, err := node.Await(testkit.Context(t), me, tasks.Go(me, sup, forever))
				assert.ErrorIs(t, err, want)
			}
		})
	})
	testkit.UntilTrue(t, func() bool {
		c, err := supervisor.CountChildren(t.Context(), n, sup)
		return err == nil && c == supervisor.Counts{}
	}, "no task is left")
}

// Values of any type come through, nil as well, also on a node that copies its messages.
func TestGoTypes(t *testing.T) {
	n := nodetest.Start(t, node.Config{Isolation: isolation.Config{Copy: true}})
	sup, err := tasks.Start(t.Context(), n, tasks.Options{}, node.Options{})
	require.NoError(t, err)
	for _, want := range []any{nil, 1, []string{"a"}, map[string]int{"a": 1}, struct{}{}} {
		v, err := node.Await(testkit.Context(t), n, tasks.Go(n, sup, func(*node.Process) (any, error) { return want, nil }))
		require.NoError(t, err)
		require.Equal(t, want, v)
	}
	none, err := node.Await(testkit.Context(t), n, tasks.Go(n, sup, func(*node.Process) (error, error) { return nil, nil }))
	require.NoError(t, err)
	require.NoError(t, none)
}

// A supervisor that has ended, and one that is a process of another kind.
func TestGoNoSupervisor(t *testing.T) {
	inBubble(t, tasks.Options{}, func(t *testing.T, n *node.Node, h *nodetest.Probe, sup node.PID) {
		ended := tasks.Go(h, sup, forever)
		require.Equal(t, 1, active(t, n, sup))
		h.Exit(sup, node.Kill)
		_, err := node.Await(t.Context(), h, ended)
		require.Equal(t, node.Killed, exitOf(t, err))
		_, err = node.Await(t.Context(), h, tasks.Go(h, sup, forever))
		require.ErrorIs(t, err, node.ErrNoProcess)
		pid := actortest.Actor.Spawn(t, n, func(self actortest.Self, m any) error {
			self.(*node.Context).Unknown(m)
			return nil
		})
		_, err = node.Await(t.Context(), h, tasks.Go(h, pid, forever))
		require.ErrorIs(t, err, node.ErrUnhandled)
	})
}

// More tasks than Max fail; there is space again when one ends.
func TestMax(t *testing.T) {
	for _, limit := range []int{-1, 0, 1, 3} {
		inBubble(t, tasks.Options{Max: limit}, func(t *testing.T, n *node.Node, h *nodetest.Probe, sup node.PID) {
			const started = 5
			var all []*node.Future[int]
			for range started {
				all = append(all, tasks.Go(h, sup, forever))
			}
			fit := started
			if limit != 0 {
				fit = max(0, limit)
			}
			require.Equal(t, fit, active(t, n, sup))
			for i, f := range all {
				_, done, err := f.Result()
				require.Equal(t, i >= fit, done)
				if done {
					require.ErrorIs(t, err, tasks.ErrFull)
				}
			}
			if limit > 0 {
				all[0].Cancel()
				synctest.Wait()
				again := tasks.Go(h, sup, forever)
				require.Equal(t, fit, active(t, n, sup))
				_, done, _ := again.Result()
				require.False(t, done)
			}
		})
	}
}

// A caller that knows the result of a task, whichever it is, can start the next one. So can another process that it tells.
func TestMaxAwaited(t *testing.T) {
	n := nodetest.Start(t, node.Config{Log: (&logtest.Text{}).Logger()})
	h, ctx := nodetest.NewProbe(t, n), testkit.Context(t)
	sup, err := tasks.Start(ctx, n, tasks.Options{Max: 1}, node.Options{})
	require.NoError(t, err)
	for k := range 10_000 {
		what := fates[0]
		if k%10 == 9 {
			what = fates[2+k/10%(len(fates)-2)] // these crash, or end from outside
		}
		caller := node.Caller(n)
		if k%2 == 0 {
			caller = h
		}
		_, err := node.Await(ctx, caller, tasks.Go(caller, sup, func(p *node.Process) (int, error) { return what.do(p, k) }))
		require.NotErrorIs(t, err, tasks.ErrFull, k)
		what.check(t, err)
	}
}

// Tasks that are killed at any time, also when they have told their supervisor that they are done, leave no trace in what
// it counts.
func TestMaxKilled(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	ctx := testkit.Context(t)
	sup, err := tasks.Start(ctx, n, tasks.Options{Max: 1}, node.Options{})
	require.NoError(t, err)
	for range testkit.By(2000, 10_000, 100_000) {
		pids := make(chan node.PID, 1)
		f := tasks.Go(n, sup, func(p *node.Process) (int, error) { pids <- p.Self(); return 1, nil })
		n.Exit(<-pids, node.Kill)
		_, err := node.Await(ctx, n, f)
		require.NotErrorIs(t, err, tasks.ErrFull)
	}
	testkit.UntilTrue(t, func() bool {
		c, err := supervisor.CountChildren(ctx, n, sup)
		return err == nil && c == supervisor.Counts{}
	}, "no task is left")
	first := tasks.Go(n, sup, forever)
	_, err = node.Await(ctx, n, tasks.Go(n, sup, forever))
	require.ErrorIs(t, err, tasks.ErrFull)
	first.Cancel()
}

// Who gives up on a linked task ends it, and is not ended by that.
func TestGiveUpLinked(t *testing.T) {
	inBubble(t, tasks.Options{}, func(t *testing.T, n *node.Node, h *nodetest.Probe, sup node.PID) {
		for k := range 100 {
			f := tasks.GoLinked(h, sup, func(p *node.Process) (int, error) {
				if k%3 == 0 {
					return forever(p)
				}
				p.TrapExit(k%3 == 1)
				return 0, nil
			})
			if k%2 == 0 {
				synctest.Wait()
			}
			f.Cancel()
			require.Zero(t, active(t, n, sup))
			require.True(t, n.IsAlive(h.Self()))
		}
		h.ExpectNone()
	})
}

// Who gives up on a future ends the task; who only forgets it, or ends, does not.
func TestGiveUp(t *testing.T) {
	inBubble(t, tasks.Options{}, func(t *testing.T, n *node.Node, h *nodetest.Probe, sup node.PID) {
		f := tasks.Go(h, sup, forever)
		require.Equal(t, 1, active(t, n, sup))
		require.True(t, f.Cancel())
		require.Zero(t, active(t, n, sup))

		f = tasks.Go(n, sup, forever)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := node.Await(ctx, n, f)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Zero(t, active(t, n, sup))

		tasks.Go(h, sup, forever).Cancel() // perhaps before it has begun
		require.Zero(t, active(t, n, sup))

		_, err = n.Spawn(node.ProcessFunc(func(p *node.Process) error {
			tasks.Go(p, sup, forever).Done()
			return nil
		}))
		require.NoError(t, err)
		require.Equal(t, 1, active(t, n, sup))
		all, err := supervisor.WhichChildren(t.Context(), n, sup)
		require.NoError(t, err)
		require.Equal(t, supervisor.Worker, all[0].Type)
		require.NoError(t, supervisor.TerminateChild(t.Context(), n, sup, all[0].PID))
		require.ErrorIs(t, supervisor.TerminateChild(t.Context(), n, sup, all[0].PID), supervisor.ErrNotFound)
		require.Zero(t, active(t, n, sup))
	})
}

// A linked task and its caller end together, except after normal ends. A caller that traps exits is told.
func TestGoLinked(t *testing.T) {
	inBubble(t, tasks.Options{}, func(t *testing.T, n *node.Node, h *nodetest.Probe, sup node.PID) {
		for _, traps := range []bool{false, true} {
			told := make(chan any, 2)
			var ref node.Ref
			_, err := h.SpawnOpt(node.Options{Monitor: &ref}, node.ProcessFunc(func(p *node.Process) error {
				p.TrapExit(traps)
				f := tasks.GoLinked(p, sup, func(*node.Process) (int, error) { panic("oh") })
				m := p.Receive()
				told <- m.(node.Exited).Reason.(*node.Crash).Reason
				_, err := node.Await(p.Context(), p, f)
				told <- exitOf(t, err).(*node.Crash).Reason
				return nil
			}))
			require.NoError(t, err)
			reason := h.ExpectDown(ref).Reason
			if traps {
				require.Equal(t, node.Normal, reason)
				require.Equal(t, "oh", <-told)
			} else {
				require.Equal(t, "oh", reason.(*node.Crash).Reason)
				require.Empty(t, told)
			}
		}
		for _, reason := range []any{node.Normal, "why", node.Kill} {
			pid, err := n.Spawn(node.ProcessFunc(func(p *node.Process) error {
				tasks.GoLinked(p, sup, forever).Done()
				p.Receive()
				return node.ExitWith(node.Normal)
			}))
			require.NoError(t, err)
			require.Equal(t, 1, active(t, n, sup))
			if reason == node.Normal {
				require.NoError(t, n.Send(pid, "end"))
				require.Equal(t, 1, active(t, n, sup))
				all, err := supervisor.WhichChildren(t.Context(), n, sup)
				require.NoError(t, err)
				require.NoError(t, supervisor.TerminateChild(t.Context(), n, sup, all[0].PID))
			} else {
				h.Exit(pid, reason)
			}
			require.Zero(t, active(t, n, sup))
		}
		// A caller that ends, perhaps before the task begins:
		pid, err := n.Spawn(node.ProcessFunc(func(p *node.Process) error {
			tasks.GoLinked(p, sup, forever).Done()
			return node.ExitWith("gone")
		}))
		require.NoError(t, err)
		_, err = node.AwaitExit(t.Context(), n, pid)
		require.NoError(t, err)
		require.Zero(t, active(t, n, sup))
		f := tasks.GoLinked(n, sup, func(*node.Process) (int, error) { panic("oh") }) // a goroutine has no links
		_, err = node.Await(t.Context(), n, f)
		require.Equal(t, "oh", exitOf(t, err).(*node.Crash).Reason)
	})
}

// A supervisor that ends gives all tasks the time of Stop together; then it kills those that ignore the signal, which trap
// exits or do not look at their context.
func TestStop(t *testing.T) {
	for stop, takes := range map[time.Duration]time.Duration{
		0: 5 * time.Second, time.Second: time.Second, supervisor.BrutalKill: 0, node.Infinity: time.Minute,
	} {
		inBubble(t, tasks.Options{Stop: stop}, func(t *testing.T, n *node.Node, h *nodetest.Probe, sup node.PID) {
			release := make(chan struct{})
			var stubborn []*node.Future[int]
			for range 100 {
				stubborn = append(stubborn, tasks.Go(h, sup, func(p *node.Process) (int, error) {
					p.TrapExit(true)
					if stop != node.Infinity {
						<-release
					} else {
						time.Sleep(takes)
					}
					return 7, nil
				}))
			}
			easy := tasks.Go(h, sup, func(p *node.Process) (int, error) { <-release; return 7, nil }) // never, but is not in the way
			require.Equal(t, 101, active(t, n, sup))
			begin := time.Now()
			h.Exit(sup, node.Shutdown) // a process that is not its parent
			require.Equal(t, 101, active(t, n, sup))
			n.Exit(sup, node.Shutdown)
			reason, err := node.AwaitExit(t.Context(), n, sup)
			require.NoError(t, err)
			require.Equal(t, node.Shutdown, reason)
			require.Equal(t, takes, time.Since(begin))
			for _, f := range append(stubborn, easy) {
				v, done, err := f.Result()
				require.True(t, done)
				switch {
				case f == easy && stop != supervisor.BrutalKill:
					require.Equal(t, node.Shutdown, exitOf(t, err))
				case stop == node.Infinity:
					require.Equal(t, 7, v)
				default:
					require.Equal(t, node.Killed, exitOf(t, err))
				}
			}
			close(release)
		})
	}
}

// A node that stops does not wait for ever for a task, or a loop over Map, that ignores its end.
func TestNodeStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, err := node.Start(node.Config{})
		require.NoError(t, err)
		sup, err := tasks.Start(t.Context(), n, tasks.Options{Stop: time.Hour}, node.Options{})
		require.NoError(t, err)
		release := make(chan struct{})
		stubborn := func(p *node.Process, _ int) (int, error) {
			p.TrapExit(true)
			<-release
			return 0, nil
		}
		f := tasks.Go(n, sup, func(p *node.Process) (int, error) { return stubborn(p, 0) })
		ended := make(chan error, 2)
		go func() {
			for _, err := range tasks.Map(context.Background(), n, 2, numbers(2), stubborn) {
				ended <- err
			}
			close(ended)
		}()
		synctest.Wait()
		begin := time.Now()
		require.ErrorContains(t, n.Stop(), "3 handlers and functions of killed processes have not returned")
		require.LessOrEqual(t, time.Since(begin), time.Minute)
		_, done, err := f.Result()
		require.True(t, done)
		require.Error(t, err)
		close(release)
		for err := range ended {
			require.Error(t, err)
		}
	})
}

// As a child of a supervisor, it ends with that, and is started again.
func TestChild(t *testing.T) {
	actortest.InBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe, _ *logtest.Text) {
		top, err := supervisor.Start(t.Context(), h, supervisor.Spec{Children: []supervisor.Child{
			tasks.Child("tasks", tasks.Options{Max: 1})}}, node.Options{Link: true})
		require.NoError(t, err)
		c, err := supervisor.CountChildren(t.Context(), n, top)
		require.NoError(t, err)
		require.Equal(t, supervisor.Counts{Specs: 1, Active: 1, Supervisors: 1}, c)
		sup := node.Atom("tasks")
		f := tasks.Go(h, sup, forever)
		require.Equal(t, 1, active(t, n, sup))
		pid, _ := n.Whereis(sup)
		h.Exit(pid, node.Kill)
		_, err = node.Await(t.Context(), h, f)
		require.Equal(t, node.Killed, exitOf(t, err))
		require.Zero(t, active(t, n, sup))
		f = tasks.Go(h, sup, forever)
		require.Equal(t, 1, active(t, n, sup))
		_, err = node.Await(t.Context(), h, tasks.Go(h, sup, forever))
		require.ErrorIs(t, err, tasks.ErrFull)
		h.TrapExit(true)
		h.Exit(top, node.Shutdown)
		require.Equal(t, node.Exited{From: top, Reason: node.Shutdown}, h.Receive())
		_, err = node.Await(t.Context(), h, f)
		require.Equal(t, node.Shutdown, exitOf(t, err))
	})
}

// Many goroutines start tasks, give up on some, and tasks crash; every future is completed, and no task is left.
func TestMany(t *testing.T) {
	n := nodetest.Start(t, node.Config{Log: (&logtest.Text{}).Logger()})
	sup, err := tasks.Start(t.Context(), n, tasks.Options{Max: 20}, node.Options{})
	require.NoError(t, err)
	seen := 0
	for _, err := range tasks.MapUnordered(t.Context(), n, 8, numbers(2000), func(p *node.Process, i int) (int, error) {
		f := tasks.Go(p, sup, func(p *node.Process) (int, error) {
			switch i % 4 {
			case 0:
				panic(i)
			case 1:
				<-p.Context().Done()
			case 2:
				runtime.Gosched()
			}
			return i, nil
		})
		if i%4 == 1 {
			f.Cancel()
		}
		v, err := node.Await(p.Context(), p, f)
		var exit *node.ExitError
		switch {
		case errors.Is(err, tasks.ErrFull):
		case i%4 == 0 && errors.As(err, &exit):
		case i%4 == 1 && errors.Is(err, context.Canceled):
		case i%4 > 1 && err == nil && v == i:
		default:
			return 0, errors.Join(errOdd, err)
		}
		return 0, nil
	}) {
		require.NoError(t, err)
		seen++
	}
	require.Equal(t, 2000, seen)
	testkit.UntilTrue(t, func() bool {
		c, err := supervisor.CountChildren(t.Context(), n, sup)
		return err == nil && c == supervisor.Counts{}
	}, "no task is left")
}
