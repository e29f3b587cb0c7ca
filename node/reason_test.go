package node_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// Failures that Erlang does not have: panics, errors, and functions that cannot be stopped. All tests run in synctest
// bubbles, in which synctest.Wait waits until nothing goes on any more.

// bubble runs f in a bubble with a node and a handle that watches.
func bubble(t *testing.T, f func(t *testing.T, n *node.Node, watch *nodetest.Probe)) {
	actortest.InBubble(t, func(t *testing.T, n *node.Node, watch *nodetest.Probe, _ *logtest.Text) {
		t.Cleanup(func() {
			synctest.Wait()
			assert.Zero(t, n.Stats().Lingering)
		})
		f(t, n, watch)
	})
}

var errSpoiled = errors.New("spoiled")

func panicsHere()        { panic("bad cake") }
func panicsWithError()   { panic(fmt.Errorf("wrapped: %w", errSpoiled)) }
func goexitsHere()       { runtime.Goexit() }
func dividesBy(zero int) { _ = fmt.Sprint(1 / zero) }

// crashers are the ways to run a function that ends by itself: as the handler of a message, or as a whole Process.
var crashers = []struct {
	name  string
	spawn func(n *node.Node, f func() error) (node.PID, error)
}{
	{"Actor", func(n *node.Node, f func() error) (node.PID, error) {
		return n.Spawn(node.ActorFunc(func(*node.Context, any) error { return f() }))
	}},
	{"Init", func(n *node.Node, f func() error) (node.PID, error) { return n.Spawn(waiter(f)) }},
	{"Process", func(n *node.Node, f func() error) (node.PID, error) {
		return n.Spawn(node.ProcessFunc(func(s *node.Process) error { s.Receive(); return f() }))
	}},
	{"Coroutine", func(n *node.Node, f func() error) (node.PID, error) {
		return n.SpawnOpt(node.Options{Coroutine: true}, node.ProcessFunc(func(s *node.Process) error { s.Receive(); return f() }))
	}},
	{"Detached", func(n *node.Node, f func() error) (node.PID, error) {
		return n.SpawnOpt(node.Options{Place: node.Detached()}, node.ActorFunc(func(*node.Context, any) error { return f() }))
	}},
}

// waiter is an actor whose Init makes it become one that calls the waiter for each message.
type waiter func() error

func (w waiter) Init(c *node.Context) error {
	c.Become(node.ActorFunc(func(*node.Context, any) error { return w() }))
	return nil
}

func (w waiter) Receive(*node.Context, any) error { panic("it has become another") }

func TestCrash(t *testing.T) {
	for _, crash := range []struct {
		name   string
		f      func() error
		panics bool
		says   string
		stack  string
		is     error
	}{
		{"panic", func() error { panicsHere(); return nil }, true, "panic: bad cake", "panicsHere", nil},
		{"panic with an error", func() error { panicsWithError(); return nil }, true, "panic: wrapped: spoiled", "panicsWithError", errSpoiled},
		{"runtime error", func() error { dividesBy(0); return nil }, true, "panic: runtime error: integer divide by zero", "dividesBy", nil},
		{"error", func() error { return fmt.Errorf("wrapped: %w", errSpoiled) }, false, "error: wrapped: spoiled", "", errSpoiled},
		{"ErrExited", func() error { return node.ErrExited }, false, "error: " + node.ErrExited.Error(), "", node.ErrExited},
	} {
		for _, way := range crashers {
			t.Run(crash.name+"/"+way.name, func(t *testing.T) {
				bubble(t, func(t *testing.T, n *node.Node, watch *nodetest.Probe) {
					pid, err := way.spawn(n, crash.f)
					require.NoError(t, err)
					watch.TrapExit(true)
					watch.Link(pid)
					require.NoError(t, n.Register("oven", pid))
					require.NoError(t, watch.Send(pid, "go"))
					exit := node.ReceiveOf[node.Exited](watch.Process)
					assert.Equal(t, pid, exit.From)
					reason, ok := exit.Reason.(*node.Crash)
					require.True(t, ok, "%T", exit.Reason)
					assert.Equal(t, crash.panics, reason.Panic)
					assert.Equal(t, crash.says, reason.Error())
					assert.Contains(t, string(reason.Stack), crash.stack)
					if crash.is != nil {
						assert.ErrorIs(t, reason.Unwrap(), crash.is)
					}
					_, named := n.Whereis("oven")
					assert.False(t, named)
					assert.False(t, n.IsAlive(pid))
				})
			})
		}
	}
}

// An exit that the process chose is no crash, however it is wrapped.
func TestExitWith(t *testing.T) {
	for _, way := range crashers {
		t.Run(way.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *node.Node, watch *nodetest.Probe) {
				for reason, err := range map[any]error{
					node.Normal: node.ErrStop,
					"mine":      node.ExitWith("mine"),
					7:           fmt.Errorf("because: %w", node.ExitWith(7)),
				} {
					pid, e := way.spawn(n, func() error { return err })
					require.NoError(t, e)
					watch.Monitor(pid)
					require.NoError(t, n.Send(pid, "go"))
					assert.Equal(t, reason, node.ReceiveOf[node.Down](watch.Process).Reason)
				}
			})
		})
	}
}

// runtime.Goexit ends a process and nobody else: its stage goes on.
func TestGoexit(t *testing.T) {
	for _, way := range crashers {
		t.Run(way.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *node.Node, watch *nodetest.Probe) {
				pid, err := way.spawn(n, func() error { goexitsHere(); return nil })
				require.NoError(t, err)
				watch.Monitor(pid)
				require.NoError(t, n.Send(pid, "go"))
				reason := node.ReceiveOf[node.Down](watch.Process).Reason
				require.IsType(t, &node.Crash{}, reason)
				assert.Contains(t, fmt.Sprint(reason), "runtime.Goexit")
				for k := range n.Stats().Scheduler.Stages {
					next, err := n.SpawnOpt(node.Options{Place: node.OnStage(k)}, node.ActorFunc(func(*node.Context, any) error { return node.ErrStop }))
					require.NoError(t, err)
					watch.Monitor(next)
					require.NoError(t, n.Send(next, "go"))
					assert.Equal(t, node.Normal, node.ReceiveOf[node.Down](watch.Process).Reason)
				}
			})
		})
	}
}

// stubborn spawns a process that runs f, which does not end when the process is killed.
func stubborn(t *testing.T, n *node.Node, s actortest.Style, f func(self actortest.Self)) node.PID {
	return s.Spawn(t, n, func(self actortest.Self, _ any) error { f(self); return nil })
}

// A killed process is dead to everybody at once, even while its function runs.
func TestKilledWhileItRuns(t *testing.T) {
	for _, s := range styles {
		t.Run(s.Name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *node.Node, watch *nodetest.Probe) {
				resume := make(chan struct{})
				var cause, sent error
				var cancelled bool
				heir, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
				require.NoError(t, err)
				pid := stubborn(t, n, s, func(a actortest.Self) {
					ctx := a.Context()
					<-resume
					cancelled = ctx.Err() != nil
					cause = context.Cause(ctx)
					sent = a.Send(watch.Self(), "too late")
				})
				require.NoError(t, n.Register("old", pid))
				watch.TrapExit(true)
				watch.Link(pid)
				ref := watch.Monitor(pid)
				require.NoError(t, n.Send(pid, "go"))
				synctest.Wait()
				require.Zero(t, n.Stats().Lingering)

				watch.Exit(pid, node.Kill)

				var got []any
				for m, err := watch.ReceiveWithin(0, nil); err == nil; m, err = watch.ReceiveWithin(0, nil) {
					got = append(got, m)
				}
				assert.ElementsMatch(t, []any{
					node.Exited{From: pid, Reason: node.Killed},
					node.Down{Ref: ref, PID: pid, Reason: node.Killed},
				}, got)
				assert.False(t, n.IsAlive(pid))
				_, named := n.Whereis("old")
				assert.False(t, named)
				assert.NoError(t, n.Register("old", heir))
				assert.Equal(t, 1, n.Stats().Lingering)

				watch.Exit(pid, node.Kill) // the process is gone already
				assert.Equal(t, 1, n.Stats().Lingering)
				close(resume)
				synctest.Wait()
				assert.Zero(t, n.Stats().Lingering)
				assert.True(t, cancelled)
				var exit *node.ExitError
				require.ErrorAs(t, cause, &exit)
				assert.Equal(t, node.Killed, exit.Reason)
				assert.ErrorIs(t, sent, node.ErrExited)
				_, err = watch.ReceiveWithin(0, nil)
				assert.ErrorIs(t, err, node.ErrTimeout, "what the dead sent has arrived")
				who, _ := n.Whereis("old")
				assert.Equal(t, heir, who)
			})
		})
	}
}

// A function that has been killed and ends by runtime.Goexit has returned.
func TestGoexitOfTheDead(t *testing.T) {
	for _, s := range styles {
		t.Run(s.Name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *node.Node, watch *nodetest.Probe) {
				resume := make(chan struct{})
				pid := stubborn(t, n, s, func(actortest.Self) {
					<-resume
					goexitsHere()
				})
				require.NoError(t, n.Send(pid, "go"))
				synctest.Wait()
				watch.Exit(pid, node.Kill)
				assert.Equal(t, 1, n.Stats().Lingering)
				close(resume)
				synctest.Wait()
				assert.Zero(t, n.Stats().Lingering)
			})
		})
	}
}

// No signal of a dead process reaches anybody.
func TestTheDeadDoNothing(t *testing.T) {
	for _, s := range styles {
		for name, deed := range map[string]func(a actortest.Self, to node.PID){
			"Exit":    func(a actortest.Self, to node.PID) { a.Exit(to, "late") },
			"Kill":    func(a actortest.Self, to node.PID) { a.Exit(to, node.Kill) },
			"Link":    func(a actortest.Self, to node.PID) { a.Link(to) },
			"Monitor": func(a actortest.Self, to node.PID) { a.Monitor(to) },
			"Unlink":  func(a actortest.Self, to node.PID) { a.Unlink(to) },
		} {
			t.Run(s.Name+"/"+name, func(t *testing.T) {
				bubble(t, func(t *testing.T, n *node.Node, watch *nodetest.Probe) {
					resume := make(chan struct{})
					other, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
					require.NoError(t, err)
					pid := stubborn(t, n, s, func(a actortest.Self) {
						<-resume
						deed(a, other)
					})
					require.NoError(t, n.Send(pid, "go"))
					synctest.Wait()
					watch.Exit(pid, node.Kill)
					close(resume)
					synctest.Wait()
					info, err := n.Info(other)
					require.NoError(t, err, "%s of the dead has had an effect", name)
					assert.Empty(t, info.Links)
					assert.Empty(t, info.Watchers)
				})
			})
		}
	}
}

// The death of one end of a long chain needs neither a deep stack nor a long time.
func TestChainOfLinks(t *testing.T) {
	length := testkit.By(20_000, 100_000, 1_000_000)
	n, err := node.Start(node.Config{StopTimeout: testkit.Limit})
	require.NoError(t, err)
	watch := nodetest.NewProbe(t, n)
	var first, last node.PID
	linked := make(chan struct{}, length)
	link := node.ActorFunc(func(c *node.Context, to any) error {
		c.Link(to.(node.PID))
		linked <- struct{}{}
		return nil
	})
	for range length {
		pid, err := n.Spawn(link)
		require.NoError(t, err)
		if first.IsZero() {
			first = pid
		} else {
			require.NoError(t, n.Send(pid, last))
		}
		last = pid
	}
	for range length - 1 {
		<-linked
	}
	watch.Monitor(last)
	watch.Exit(first, "cut")
	assert.Equal(t, "cut", node.ReceiveOf[node.Down](watch.Process).Reason)
	assert.Equal(t, 1, n.Stats().Processes)
	require.NoError(t, n.Stop())
}

// A process that crashes by its own doing is reported, once; one that a link takes down, or that chooses to end, is
// not.
func TestCrashReport(t *testing.T) {
	for _, way := range crashers {
		for _, c := range []struct {
			what   string
			f      func() error
			reason any // nil: no report
		}{
			{"panic", func() error { panicsHere(); return nil }, "panic: bad cake"},
			{"goexit", func() error { goexitsHere(); return nil }, "panic: runtime.Goexit was called"},
			{"error", func() error { return errSpoiled }, "error: spoiled"},
			{"ExitWith", func() error { return node.ExitWith(wire.Atom("odd")) }, nil},
			{"Stop", func() error { return node.ErrStop }, nil},
		} {
			t.Run(way.name+"/"+c.what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					log := &logtest.Records{}
					n, err := node.Start(node.Config{Workers: 2, Log: slog.New(log)})
					require.NoError(t, err)
					pid, err := way.spawn(n, func() error { return c.f() })
					require.NoError(t, err)
					n.Send(pid, "go")
					synctest.Wait()
					assert.False(t, n.IsAlive(pid))
					got := log.With("crash report")
					if c.reason == nil {
						assert.Empty(t, got)
					} else if assert.Len(t, got, 1) {
						assert.Equal(t, pid.String(), got[0]["process"])
						assert.Equal(t, c.reason, got[0]["reason"])
						assert.NotEmpty(t, got[0]["behaviour"])
						assert.NotContains(t, got[0], "name")
						assert.NotContains(t, got[0], "label")
						assert.NotContains(t, got[0], "parent")
						if c.what == "panic" {
							assert.Contains(t, got[0]["stack"], "panicsHere", "the stack of the panic")
						}
					}
					require.NoError(t, n.Stop())
				})
			})
		}
	}
}

// What a report says about a process that has every property, and which processes it does not mention.
func TestCrashReportSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logtest.Records{}
		n, err := node.Start(node.Config{Workers: 2, Log: slog.New(log)})
		require.NoError(t, err)
		h := nodetest.NewProbe(t, n)
		h.TrapExit(true)
		middle, err := h.SpawnOpt(node.Options{Link: true}, node.ActorFunc(func(c *node.Context, m any) error {
			_, err := c.SpawnOpt(node.Options{Link: true, Name: "baker", Label: "cakes"},
				begins(func(*node.Context) error { panicsHere(); return nil }))
			return err
		}))
		require.NoError(t, err)
		n.Send(middle, "go")
		e := nodetest.Expect[node.Exited](h)
		assert.Equal(t, middle, e.From)
		synctest.Wait()
		got := log.With("crash report")
		require.Len(t, got, 1, "those that a link takes down are not reported")
		assert.Equal(t, "baker", got[0]["name"])
		assert.Equal(t, "cakes", got[0]["label"])
		assert.Equal(t, middle.String(), got[0]["parent"])
		assert.Equal(t, "node_test.starter", got[0]["behaviour"])
		assert.Equal(t, "panic: bad cake", got[0]["reason"])

		// A crash as the reason of a signal is not the target's own crash.
		pid, err := n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
		require.NoError(t, err)
		n.Exit(pid, e.Reason)
		h.Exit(middle, e.Reason)
		synctest.Wait()
		assert.Len(t, log.With("crash report"), 1)
		require.NoError(t, n.Stop())
	})
}

// A node without a log does not collect what a report would say.
func TestCrashWithoutLog(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	var ref node.Ref
	pid, err := h.SpawnOpt(node.Options{Monitor: &ref}, node.ActorFunc(func(*node.Context, any) error { panic(1) }))
	require.NoError(t, err)
	n.Send(pid, 1)
	d := nodetest.Expect[node.Down](h)
	assert.Equal(t, ref, d.Ref)
	assert.Equal(t, 1, d.Reason.(*node.Crash).Reason)
}

// A node without its own logger uses the program's: a panic is not swallowed.
func TestDefaultLog(t *testing.T) {
	var log logtest.Text
	old := slog.Default()
	defer slog.SetDefault(old)
	slog.SetDefault(log.Logger())
	n, err := node.Start(node.Config{})
	require.NoError(t, err)
	pid, err := n.Spawn(node.ProcessFunc(func(*node.Process) error { panic("a defect") }))
	require.NoError(t, err)
	_, err = node.AwaitExit(testkit.Context(t), n, pid)
	require.NoError(t, err)
	require.NoError(t, n.Stop())
	assert.Contains(t, log.String(), "crash report")
	assert.Contains(t, log.String(), "a defect")
}
