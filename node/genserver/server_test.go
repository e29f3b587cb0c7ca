package genserver_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// TestWhatEndsAServer has every row of the table in doc.go.
func TestWhatEndsAServer(t *testing.T) {
	asked := wire.Atom("asked")
	type f = func(p *probe, c *genserver.Context) error
	ways := map[string]func(h *node.Process, pid node.PID, f f) error{
		"call": func(h *node.Process, pid node.PID, f f) error {
			_, err := actortest.CallWithin[string](testkit.Limit, h, pid,
				do(func(p *probe, c *genserver.Context) (string, error) { return "done", f(p, c) }))
			return err
		},
		"cast":    func(h *node.Process, pid node.PID, f f) error { return genserver.Cast(h, pid, tell(f)) },
		"message": func(h *node.Process, pid node.PID, f f) error { return h.Send(pid, hint(f)) },
		"continuation": func(h *node.Process, pid node.PID, f f) error {
			return genserver.Cast(h, pid, tell(func(p *probe, c *genserver.Context) error {
				c.Continue(func(c *genserver.Context) error { return f(p, c) })
				return nil
			}))
		},
	}
	none := errors.New("no error")
	for _, row := range []struct {
		what   string
		f      f
		reason any // of the exit
		caller error
	}{
		{"ExitWith", func(*probe, *genserver.Context) error { return node.ExitWith(asked) }, asked, &node.ExitError{Reason: asked}},
		{"ExitWith wrapped", func(*probe, *genserver.Context) error { return fmt.Errorf("so: %w", node.ExitWith(asked)) }, asked,
			&node.ExitError{Reason: asked}},
		{"ExitWith normal", func(*probe, *genserver.Context) error { return node.ExitWith(node.Normal) }, node.Normal,
			&node.ExitError{Reason: node.Normal}},
		{"Stop", func(_ *probe, c *genserver.Context) error { c.Stop(asked); return nil }, asked, none},
		{"panic", func(*probe, *genserver.Context) error { panic("tea") }, "panic: tea", &node.ExitError{Reason: "panic: tea"}},
		{"error", func(*probe, *genserver.Context) error { return errTea }, "error: the tea is cold", nil},
		{"goexit", func(*probe, *genserver.Context) error { runtime.Goexit(); return nil }, "panic: runtime.Goexit was called",
			&node.ExitError{Reason: "panic: runtime.Goexit was called"}},
	} {
		for way, send := range ways {
			t.Run(row.what+"/"+way, func(t *testing.T) {
				n := nodetest.Start(t, node.Config{})
				h := nodetest.NewProbe(t, n)
				p := &probe{}
				var ref node.Ref
				pid, err := node.SpawnWait(testkit.Context(t), h, node.Options{Monitor: &ref}, probes.New(p))
				require.NoError(t, err)
				err = send(h.Process, pid, row.f)
				if row.what == "error" && way == "call" {
					assert.ErrorIs(t, err, errTea)
					ask(t, h, pid, Notes{}) // it is alive
					return
				}
				assert.Equal(t, row.reason, watch(t, h, ref))
				assert.Equal(t, []string{fmt.Sprint("terminate ", row.reason)}, p.noted())
				if e := (*node.ExitError)(nil); way != "call" || row.caller == none {
					assert.NoError(t, err)
				} else if assert.ErrorAs(t, err, &e) {
					assert.Equal(t, row.caller.(*node.ExitError).Reason, gone(t, node.Down{Reason: e.Reason}))
				}
				h.ExpectNone()
			})
		}
	}
}

func TestExitSignals(t *testing.T) {
	boss := func(t *testing.T, h *node.Process, trap bool, o node.Options) (parent, child node.PID, p *probe) {
		p = &probe{init: func(_ *probe, c *genserver.Context) error { c.TrapExit(trap); return nil }}
		pids := make(chan node.PID, 1)
		parent, err := h.Node().Spawn(node.ProcessFunc(func(s *node.Process) error {
			pid, err := probes.Start(context.Background(), s, p, o)
			if err != nil {
				return err
			}
			pids <- pid
			for {
				switch m := s.Receive().(type) {
				case func(s *node.Process):
					m(s)
				default:
					return node.ExitWith(m)
				}
			}
		}))
		require.NoError(t, err)
		return parent, testkit.Receive(t, pids), p
	}
	for _, c := range []struct {
		what       string
		trap, link bool
		signal     func(h *node.Process, parent, child node.PID)
		reason     any
		notes      []string
		lives      bool
	}{
		{"the parent exits", false, true, func(h *node.Process, parent, _ node.PID) { h.Send(parent, wire.Atom("tired")) },
			wire.Atom("tired"), []string{}, false},
		{"the parent exits, trapped", true, true, func(h *node.Process, parent, _ node.PID) { h.Send(parent, wire.Atom("tired")) },
			wire.Atom("tired"), []string{"terminate tired"}, false},
		{"the parent ends normally, trapped", true, true, func(h *node.Process, parent, _ node.PID) { h.Send(parent, node.Normal) },
			node.Normal, []string{"terminate normal"}, false},
		{"a parent without link exits", true, false, func(h *node.Process, parent, _ node.PID) { h.Send(parent, wire.Atom("tired")) },
			nil, []string{}, true},
		{"a parent without link sends a signal, trapped", true, false,
			func(h *node.Process, parent, child node.PID) {
				h.Send(parent, func(s *node.Process) { s.Exit(child, wire.Atom("tired")) })
			},
			nil, []string{"exited tired"}, true},
		{"the parent sends a signal, trapped", true, true,
			func(h *node.Process, parent, child node.PID) {
				h.Send(parent, func(s *node.Process) { s.Exit(child, wire.Atom("tired")) })
			},
			wire.Atom("tired"), []string{"terminate tired"}, false},
		{"a stranger's signal", false, true, func(h *node.Process, _, child node.PID) { h.Exit(child, wire.Atom("away")) },
			wire.Atom("away"), []string{}, false},
		{"a stranger's signal, trapped", true, true, func(h *node.Process, _, child node.PID) { h.Exit(child, wire.Atom("away")) },
			nil, []string{"exited away"}, true},
		{"kill, trapped", true, true, func(h *node.Process, _, child node.PID) { h.Exit(child, node.Kill) }, node.Killed, []string{},
			false},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, err := node.Start(node.Config{Workers: 2})
				require.NoError(t, err)
				h := nodetest.NewProbe(t, n)
				parent, child, p := boss(t, h.Process, c.trap, node.Options{Link: c.link})
				ref := h.Monitor(child)
				c.signal(h.Process, parent, child)
				synctest.Wait()
				assert.Equal(t, c.notes, p.noted())
				if assert.Equal(t, c.lives, n.IsAlive(child)); !c.lives {
					assert.Equal(t, c.reason, watch(t, h, ref))
				}
				require.NoError(t, n.Stop())
			})
		})
	}
}

func TestOrderOfCallbacks(t *testing.T) {
	eachPlace(t, func(t *testing.T, o node.Options) {
		n := nodetest.Start(t, node.Config{})
		initiated, queued := make(chan struct{}), make(chan struct{})
		p := &probe{init: func(p *probe, c *genserver.Context) error {
			close(initiated)
			<-queued
			p.note("init")
			c.Continue(func(c *genserver.Context) error {
				p.note("continue 1")
				c.Continue(func(*genserver.Context) error { p.note("continue 2"); return nil })
				return nil
			})
			return nil
		}}
		o.Name = "it"
		go func() {
			<-initiated
			for _, s := range []string{"a", "b"} {
				n.Send(node.Atom("it"), saying(s))
			}
			close(queued)
		}()
		pid := start(t, n, p, o)
		assert.Equal(t, []string{"init", "continue 1", "continue 2", "a", "b"}, ask(t, n, pid, Notes{}))
	})
}

// Start returns when Init has returned, not when its continuation has.
func TestStartDoesNotWaitForContinue(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	release := make(chan struct{})
	h := nodetest.NewProbe(t, n)
	pid := start(t, h, &probe{init: func(p *probe, c *genserver.Context) error {
		c.Continue(func(c *genserver.Context) error { <-release; return node.ExitWith(wire.Atom("over")) })
		return nil
	}}, node.Options{})
	ref := h.Monitor(pid)
	close(release)
	assert.Equal(t, wire.Atom("over"), watch(t, h, ref))
}

// A server whose continuation of Init fails has started, and ends: Terminate is called.
func TestInitContinueFails(t *testing.T) {
	for what, f := range map[string]func(*genserver.Context) error{
		"terminate error: the tea is cold":           func(*genserver.Context) error { return errTea },
		"terminate panic: tea":                       func(*genserver.Context) error { panic("tea") },
		"terminate panic: runtime.Goexit was called": func(*genserver.Context) error { runtime.Goexit(); return nil },
		"terminate asked":                            func(c *genserver.Context) error { c.Stop(wire.Atom("asked")); return nil },
	} {
		t.Run(what, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{})
			h := nodetest.NewProbe(t, n)
			p := &probe{init: func(p *probe, c *genserver.Context) error { c.Continue(f); return nil }}
			var ref node.Ref
			_, err := node.SpawnWait(testkit.Context(t), h, node.Options{Monitor: &ref}, probes.New(p))
			require.NoError(t, err)
			assert.Equal(t, what, fmt.Sprint("terminate ", watch(t, h, ref)))
			assert.Equal(t, []string{what}, p.noted())
		})
	}
}

func TestReplyBeforeContinue(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	pid := start(t, n, &probe{}, node.Options{})
	release := make(chan struct{})
	r := ask(t, n, pid, do(func(p *probe, c *genserver.Context) (string, error) {
		c.Continue(func(*genserver.Context) error { <-release; p.note("continued"); return nil })
		return "first", nil
	}))
	assert.Equal(t, "first", r)
	n.Send(pid, saying("queued"))
	close(release)
	assert.Equal(t, []string{"continued", "queued"}, ask(t, n, pid, Notes{}))
}

func TestTerminateBeforeReply(t *testing.T) {
	for what, err := range map[string]error{"value": nil, "error": errTea} {
		t.Run(what, func(t *testing.T) {
			n := nodetest.Start(t, node.Config{})
			entered, release := make(chan struct{}), make(chan struct{})
			pid := start(t, n, &probe{terminate: func(*probe, *genserver.Context, any) { close(entered); <-release }}, node.Options{})
			f := genserver.Async(n, pid, do(func(p *probe, c *genserver.Context) (string, error) {
				c.Stop(wire.Atom("asked"))
				return "bye", err
			}))
			testkit.Receive(t, entered)
			select {
			case <-f.Done():
				t.Fatal("the reply came before Terminate had returned")
			default:
			}
			close(release)
			r, got := node.Await(testkit.Context(t), n, f)
			assert.Equal(t, err, got)
			if err == nil {
				assert.Equal(t, "bye", r)
			}
		})
	}
}

// ErrReplyLater and Stop: the caller gets no reply, but the exit.
func TestStopLater(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	pid := start(t, n, &probe{}, node.Options{})
	_, err := genserver.Call(testkit.Context(t), n, pid, do(func(p *probe, c *genserver.Context) (string, error) {
		c.Stop(wire.Atom("asked"))
		return "", genserver.ErrReplyLater
	}))
	assert.Equal(t, &node.ExitError{Reason: wire.Atom("asked")}, err)
}

func TestLater(t *testing.T) {
	eachPlace(t, func(t *testing.T, o node.Options) {
		n := nodetest.Start(t, node.Config{})
		dead := n.DeadLetters(4)
		pid := start(t, n, &probe{}, o)
		froms := make(chan node.From, 1)
		late := do(func(p *probe, c *genserver.Context) (string, error) {
			froms <- c.From()
			return "", fmt.Errorf("wait: %w", genserver.ErrReplyLater)
		})

		f := genserver.Async(n, pid, late) // answered by a goroutine, twice
		from := testkit.Receive(t, froms)
		assert.True(t, from.Pending())
		ask(t, n, pid, Notes{}) // the server goes on meanwhile
		go func() { assert.NoError(t, from.Reply("there")) }()
		r, err := node.Await(testkit.Context(t), n, f)
		require.NoError(t, err)
		assert.Equal(t, "there", r)
		assert.ErrorIs(t, from.Reply("again"), node.ErrReplied)
		assert.Equal(t, deadletter.LateReply, testkit.Receive(t, dead.C).Cause)

		f = genserver.Async(n, pid, late) // answered with the wrong type
		require.NoError(t, testkit.Receive(t, froms).Reply(1))
		_, err = node.Await(testkit.Context(t), n, f)
		assert.ErrorIs(t, err, node.ErrReplyType)

		f = genserver.Async(n, pid, late) // answered by the server, in a cast
		from = testkit.Receive(t, froms)
		require.NoError(t, genserver.Cast(n, pid, tell(func(_ *probe, c *genserver.Context) error {
			assert.ErrorIs(t, c.From().Reply("x"), node.ErrReplied, "a cast has no From")
			return c.Reply(from, "self")
		})))
		r, err = node.Await(testkit.Context(t), n, f)
		require.NoError(t, err)
		assert.Equal(t, "self", r)

		f = genserver.Async(n, pid, late) // answered after the server's exit
		from = testkit.Receive(t, froms)
		require.NoError(t, sys.Stop(testkit.Context(t), n, pid, node.Normal))
		_, err = node.Await(testkit.Context(t), n, f)
		assert.Equal(t, &node.ExitError{Reason: node.Normal}, err)
		assert.ErrorIs(t, from.Reply("too late"), node.ErrReplied)
		assert.False(t, from.Pending())
	})
}

func TestUnhandled(t *testing.T) {
	log := &logtest.Records{}
	n := nodetest.Start(t, node.Config{Log: slog.New(log)})
	pid := start(t, n, &probe{}, node.Options{Name: "probe"})

	_, err := genserver.Call(testkit.Context(t), n, pid, Nobody{})
	var u *genserver.UnhandledError
	require.ErrorAs(t, err, &u)
	assert.Equal(t, Nobody{}, u.Request)
	assert.EqualError(t, err, "genserver: *genserver_test.probe does not handle calls of type genserver_test.Nobody; "+
		"it handles those of genserver_test.Do, genserver_test.Notes, int, wire.Atom")
	_, err = node.Call[int](testkit.Context(t), n, pid, 1.5)
	require.ErrorAs(t, err, &u)

	require.NoError(t, genserver.Cast(n, pid, 1.5))
	require.NoError(t, n.Send(pid, 1.5))
	require.NoError(t, n.Send(pid, nil))
	ask(t, n, pid, Notes{})
	assert.Len(t, log.With("unexpected cast"), 1)
	assert.Equal(t, "probe", log.With("unexpected cast")[0]["server"])
	assert.Len(t, log.With("unexpected message"), 2)
}

// node.Call finds its method, also if the type of the request is an interface.
func TestCallOfNode(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	pid := start(t, n, &probe{}, node.Options{})
	for _, q := range []any{Notes{}, wire.Atom("hi")} {
		_, err := node.Call[any](testkit.Context(t), n, pid, q)
		require.NoError(t, err)
	}
	require.NoError(t, genserver.Cast[any](n, pid, wire.Atom("hi")))
	assert.Equal(t, []string{"call hi", "cast hi"}, ask(t, n, pid, Notes{}))
}

func TestDestinations(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	var ref node.Ref
	pid := start(t, n, &probe{init: func(_ *probe, c *genserver.Context) error { ref = c.Alias(); return nil }},
		node.Options{Name: "it"})
	_, err := genserver.Call(testkit.Context(t), n, node.Atom("it"), Notes{})
	require.NoError(t, err)
	_, err = genserver.Call(testkit.Context(t), n, ref, Notes{})
	require.NoError(t, err)
	require.NoError(t, genserver.Cast(n, node.Atom("it"), wire.Atom("by name")))
	require.NoError(t, genserver.Cast(n, ref, wire.Atom("by alias")))
	assert.Equal(t, []string{"cast by name", "cast by alias"}, ask(t, n, pid, Notes{}))
	assert.ErrorIs(t, genserver.Cast(n, node.Atom("nobody"), 1), node.ErrNoName)
	_, err = genserver.Call(testkit.Context(t), n, node.Atom("nobody"), Notes{})
	assert.ErrorIs(t, err, node.ErrNoName)
	assert.ErrorIs(t, sys.Stop(testkit.Context(t), n, node.Atom("nobody"), node.Normal), node.ErrNoProcess)
	require.NoError(t, sys.Stop(testkit.Context(t), n, ref, wire.Atom("enough")))
	_, err = genserver.Call(testkit.Context(t), n, pid, Notes{})
	assert.ErrorIs(t, err, node.ErrNoProcess)
	assert.ErrorIs(t, sys.Stop(testkit.Context(t), n, pid, node.Normal), node.ErrNoProcess)
}

func TestTimeout(t *testing.T) {
	type step struct {
		at time.Duration
		do func(n *node.Node, pid node.PID)
	}
	setting := func(d time.Duration) step {
		return step{0, func(n *node.Node, pid node.PID) {
			genserver.Cast(n, pid, tell(func(_ *probe, c *genserver.Context) error { c.Timeout(d); return nil }))
		}}
	}
	at := func(d time.Duration, do func(n *node.Node, pid node.PID)) step { return step{d, do} }
	const s = time.Second
	msg := func(n *node.Node, pid node.PID) { n.Send(pid, "msg") }
	for _, c := range []struct {
		what  string
		steps []step
		want  []string
		init  int // 1: the time begins in Init; 2: and there is a continuation
	}{
		{"comes once", []step{setting(5 * s)}, []string{"timeout 5s"}, 0},
		{"0 comes at once", []step{setting(0)}, []string{"timeout 0s"}, 0},
		{"negative comes at once", []step{setting(-s)}, []string{"timeout 0s"}, 0},
		{"infinity never", []step{setting(node.Infinity)}, nil, 0},
		{"a message cancels", []step{setting(5 * s), at(4*s, msg)}, []string{"msg 4s"}, 0},
		{"a cast cancels", []step{setting(5 * s),
			at(4*s, func(n *node.Node, pid node.PID) { genserver.Cast(n, pid, wire.Atom("x")) })}, []string{"cast x 4s"}, 0},
		//actornode:ignore lostfuture the server notes what it gets
		{"a call cancels", []step{setting(5 * s), at(4*s, func(n *node.Node, pid node.PID) { genserver.Async(n, pid, Notes{}) })}, nil,
			0},
		{"an unexpected message cancels", []step{setting(5 * s), at(4*s, func(n *node.Node, pid node.PID) { n.Send(pid, 1.5) })}, nil,
			0},
		{"set anew", []step{setting(5 * s), at(4*s, setting(5*s).do)}, []string{"timeout 9s"}, 0},
		{"a system message begins it anew", []step{setting(5 * s), at(4*s, func(n *node.Node, pid node.PID) {
			sys.GetState(context.Background(), n, pid)
		})}, []string{"timeout 9s"}, 0},
		{"does not run while suspended, begins anew with resume", []step{setting(5 * s),
			at(4*s, func(n *node.Node, pid node.PID) { sys.Suspend(context.Background(), n, pid) }),
			at(20*s, func(n *node.Node, pid node.PID) { sys.GetState(context.Background(), n, pid) }),
			at(30*s, func(n *node.Node, pid node.PID) { sys.Resume(context.Background(), n, pid) })}, []string{"timeout 35s"}, 0},
		{"what has waited during the suspension cancels", []step{setting(5 * s),
			at(4*s, func(n *node.Node, pid node.PID) { sys.Suspend(context.Background(), n, pid) }),
			at(20*s, msg),
			at(30*s, func(n *node.Node, pid node.PID) { sys.Resume(context.Background(), n, pid) })}, []string{"msg 30s"}, 0},
		{"suspended twice, resumed once", []step{setting(5 * s),
			at(1*s, func(n *node.Node, pid node.PID) { sys.Suspend(context.Background(), n, pid) }),
			at(2*s, func(n *node.Node, pid node.PID) { sys.Suspend(context.Background(), n, pid) }),
			at(3*s, func(n *node.Node, pid node.PID) { sys.Resume(context.Background(), n, pid) }),
			at(4*s, func(n *node.Node, pid node.PID) { sys.Resume(context.Background(), n, pid) })}, []string{"timeout 9s"}, 0},
		{"in init", nil, []string{"timeout 5s"}, 1},
		{"in init, and a continuation", nil, []string{"continue 0s", "timeout 5s"}, 2},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, err := node.Start(node.Config{Workers: 2})
				require.NoError(t, err)
				began := time.Now()
				var got []string
				log := func(what string) {
					got = append(got, fmt.Sprint(what, " ", time.Since(began).Truncate(time.Millisecond)))
				}
				k := genserver.Define(
					genserver.OnCast(func(p *probe, c *genserver.Context, t Tell) error { return t.F(p, c) }),
					genserver.OnCast(func(_ *probe, _ *genserver.Context, a wire.Atom) error { log("cast " + string(a)); return nil }),
					genserver.OnInfo(func(*probe, *genserver.Context, genserver.Timeout) error { log("timeout"); return nil }),
					genserver.OnInfo(func(_ *probe, _ *genserver.Context, m string) error { log(m); return nil }),
					genserver.OnCall(func(*probe, *genserver.Context, Notes) ([]string, error) { return nil, nil }),
				)
				pid, err := k.Start(t.Context(), n, &probe{init: func(p *probe, gc *genserver.Context) error {
					if c.init > 0 {
						gc.Timeout(5 * s)
					}
					if c.init > 1 {
						gc.Continue(func(*genserver.Context) error { log("continue"); return nil })
					}
					return nil
				}}, node.Options{})
				require.NoError(t, err)
				for _, st := range c.steps {
					time.Sleep(st.at - time.Since(began)) // by the bubble's clock
					st.do(n, pid)
					synctest.Wait()
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.Equal(t, c.want, got)
				require.NoError(t, n.Stop())
			})
		})
	}
}

// A server with a running timeout leaves nothing behind when it ends.
func TestTimeoutEndsWithServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, err := node.Start(node.Config{Workers: 2})
		require.NoError(t, err)
		pid := start(t, n, &probe{init: func(_ *probe, c *genserver.Context) error { c.Timeout(time.Second); return nil }}, node.Options{})
		require.NoError(t, sys.Stop(t.Context(), n, pid, node.Normal))
		time.Sleep(time.Minute)
		assert.Empty(t, n.Stats().DeadLetters)
		require.NoError(t, n.Stop())
	})
}

func TestInitFails(t *testing.T) {
	type result struct {
		err      error
		name     bool // free again
		messages []any
	}
	never := func(_ *probe, c *genserver.Context) error { <-c.Context().Done(); return nil }
	for _, c := range []struct {
		what   string
		init   func(*probe, *genserver.Context) error
		reason any // of the exit; a crash as text
		check  func(t *testing.T, err error)
	}{
		{"error", func(*probe, *genserver.Context) error { return errTea }, "error: the tea is cold", nil},
		{"ExitWith", func(*probe, *genserver.Context) error { return node.ExitWith(wire.Atom("no")) }, wire.Atom("no"), nil},
		{"Stop", func(_ *probe, c *genserver.Context) error { c.Stop(wire.Atom("no")); return nil }, wire.Atom("no"), nil},
		{"Stop normal", func(_ *probe, c *genserver.Context) error { c.Stop(node.Normal); return nil }, node.Normal, nil},
		{"panic", func(*probe, *genserver.Context) error { panic("tea") }, "panic: tea", nil},
		{"goexit", func(*probe, *genserver.Context) error { runtime.Goexit(); return nil }, "panic: runtime.Goexit was called", nil},
		{"Ignore", func(*probe, *genserver.Context) error { return node.ErrIgnore }, node.Normal, func(t *testing.T, err error) {
			assert.ErrorIs(t, err, node.ErrIgnore)
		}},
		{"Ignore wrapped", func(*probe, *genserver.Context) error { return fmt.Errorf("so: %w", node.ErrIgnore) }, node.Normal, func(t *testing.T, err error) {
			assert.ErrorIs(t, err, node.ErrIgnore)
		}},
		{"never", never, node.Killed, func(t *testing.T, err error) { assert.ErrorIs(t, err, context.DeadlineExceeded) }},
	} {
		for _, link := range []bool{false, true} {
			for _, trap := range []bool{false, true} {
				for _, style := range []actortest.Style{handle, actortest.Actor, actortest.Process, actortest.Coroutine} {
					t.Run(fmt.Sprintf("%s/link=%v/trap=%v/%s", c.what, link, trap, style.Name), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							n, err := node.Start(node.Config{Workers: 2})
							require.NoError(t, err)
							p := &probe{init: c.init}
							var got *result
							body := func(in actortest.Self) {
								in.TrapExit(trap)
								ctx, cancel := context.WithTimeout(context.Background(), time.Second)
								defer cancel()
								_, err := probes.Start(ctx, in, p, node.Options{Link: link, Name: "it"})
								_, taken := n.Whereis("it")
								got = &result{err: err, name: !taken}
							}
							caller := spawn(t, n, style, body, func(m any) { got.messages = append(got.messages, m) })
							w := nodetest.NewProbe(t, n)
							ref := w.Monitor(caller)
							n.Send(caller, "go")
							time.Sleep(time.Minute)
							synctest.Wait()
							assert.Empty(t, p.noted(), "Terminate after an Init that failed")
							_, taken := n.Whereis("it")
							assert.False(t, taken)
							// As in Erlang, the caller goes down with the server only by the link, not for the reason
							// normal, and not when it had given up before.
							dies := link && !trap && c.reason != node.Normal && c.what != "never"
							assert.Equal(t, !dies, n.IsAlive(caller))
							if dies {
								assert.Equal(t, c.reason, watch(t, w, ref))
							} else if assert.NotNil(t, got) {
								assert.True(t, got.name, "the name is not free")
								assert.Empty(t, got.messages)
								if c.check != nil {
									c.check(t, got.err)
								} else if e := (*node.ExitError)(nil); assert.ErrorAs(t, got.err, &e) {
									assert.Equal(t, c.reason, gone(t, node.Down{Reason: e.Reason}))
								}
							}
							assert.Zero(t, n.Stats().Lingering)
							require.NoError(t, n.Stop())
						})
					})
				}
			}
		}
	}
}

// handle marks the style for which spawn makes a handle that a goroutine runs.
var handle = actortest.Style{Name: "handle", Blocking: true}

// spawn makes a process that runs body at its first message and gives the others to more.
func spawn(t *testing.T, n *node.Node, s actortest.Style, body func(in actortest.Self), more func(any)) node.PID {
	t.Helper()
	if s.Name == handle.Name {
		h := nodetest.NewProbe(t, n)
		go func() {
			h.Receive()
			body(h)
			for m := h.Receive(); n.IsAlive(h.Self()); m = h.Receive() {
				more(m)
			}
		}()
		return h.Self()
	}
	first := true
	return s.Spawn(t, n, func(self actortest.Self, m any) error {
		if first {
			first = false
			body(self)
		} else {
			more(m)
		}
		return nil
	})
}

// An Init that never returns, with every way to end it: Start returns, the name is free.
func TestInitHangs(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	release := make(chan struct{})
	ctx, cancel := context.WithCancelCause(context.Background())
	h := nodetest.NewProbe(t, n)
	entered := make(chan struct{})
	go func() { <-entered; cancel(errTea) }()
	var ref node.Ref
	_, err := node.SpawnWait(ctx, h, node.Options{Monitor: &ref, Name: "it", Link: true},
		probes.New(&probe{init: func(*probe, *genserver.Context) error { close(entered); <-release; return nil }}))
	assert.ErrorIs(t, err, errTea)
	assert.Zero(t, ref)
	h.ExpectNone()
	assert.Equal(t, 1, n.Stats().Lingering)
	pid := start(t, h, &probe{}, node.Options{Name: "it"})
	ask(t, h, pid, Notes{})
	close(release)
	testkit.UntilTrue(t, func() bool { return n.Stats().Lingering == 0 }, "the abandoned start is over")
	h.ExpectNone()
}

func TestStartOptions(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	pid := start(t, h, &probe{}, node.Options{Name: "it", Link: true})
	_, err := probes.Start(testkit.Context(t), h, &probe{}, node.Options{Name: "it"})
	assert.ErrorIs(t, err, node.ErrNameTaken)
	_, err = probes.Start(testkit.Context(t), n, &probe{}, node.Options{Link: true})
	assert.ErrorIs(t, err, node.ErrArgument)
	_, err = node.SpawnWait(testkit.Context(t), n, node.Options{Monitor: new(node.Ref)}, probes.New(&probe{}))
	assert.ErrorIs(t, err, node.ErrArgument)
	i, err := n.Info(pid)
	require.NoError(t, err)
	assert.Equal(t, []node.PID{h.Self()}, i.Links)
	assert.Equal(t, "*genserver_test.probe", i.Behaviour)
	var ref node.Ref
	two, err := node.SpawnWait(testkit.Context(t), h, node.Options{Monitor: &ref}, probes.New(&probe{}))
	require.NoError(t, err)
	require.NoError(t, sys.Stop(testkit.Context(t), h, two, wire.Atom("enough")))
	assert.Equal(t, node.Down{Ref: ref, PID: two, Reason: wire.Atom("enough")}, nodetest.Expect[any](h))
	h.ExpectNone()
}

func TestTerminateCrashes(t *testing.T) {
	for _, c := range []struct {
		what      string
		terminate func(*probe, *genserver.Context, any)
		reason    any
	}{
		{"panic", func(*probe, *genserver.Context, any) { panic("mop") }, "panic: mop"},
		{"goexit", func(*probe, *genserver.Context, any) { runtime.Goexit() }, "panic: runtime.Goexit was called"},
		{"stop", func(_ *probe, c *genserver.Context, _ any) { c.Stop(1); c.Continue(nil) }, wire.Atom("asked")},
	} {
		for what, end := range map[string]func(h *node.Process, pid node.PID) error{
			"system": func(h *node.Process, pid node.PID) error {
				return sys.Stop(context.Background(), h, pid, wire.Atom("asked"))
			},
			"call": func(h *node.Process, pid node.PID) error {
				_, err := actortest.CallWithin[string](testkit.Limit, h, pid, do(func(_ *probe, c *genserver.Context) (string, error) { c.Stop(wire.Atom("asked")); return "", nil }))
				return err
			},
			"cast": func(h *node.Process, pid node.PID) error {
				return genserver.Cast(h, pid, tell(func(*probe, *genserver.Context) error { return node.ExitWith(wire.Atom("asked")) }))
			},
			"panic": func(h *node.Process, pid node.PID) error {
				return genserver.Cast(h, pid, tell(func(_ *probe, c *genserver.Context) error { c.Stop(wire.Atom("asked")); return nil }))
			},
		} {
			t.Run(c.what+"/"+what, func(t *testing.T) {
				log := &logtest.Records{}
				n := nodetest.Start(t, node.Config{Log: slog.New(log)})
				h := nodetest.NewProbe(t, n)
				p := &probe{terminate: c.terminate}
				var ref node.Ref
				pid, err := node.SpawnWait(testkit.Context(t), h, node.Options{Monitor: &ref}, probes.New(p))
				require.NoError(t, err)
				err = end(h.Process, pid)
				assert.Equal(t, c.reason, watch(t, h, ref))
				if e := (*node.ExitError)(nil); what == "system" && c.what != "stop" && assert.ErrorAs(t, err, &e) {
					assert.Equal(t, c.reason, gone(t, node.Down{Reason: e.Reason}), "Stop must say what the server ended with")
				} else {
					assert.NoError(t, err)
				}
				assert.Len(t, p.noted(), 1, "Terminate is called once")
				assert.Equal(t, 1, len(log.With("server terminating"))+len(log.With("crash report")), "one report")
			})
		}
	}
}

// The context of Stop bounds its wait for a server that hangs in Terminate.
func TestStopHangs(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	entered, release := make(chan struct{}), make(chan struct{})
	pid := start(t, n, &probe{terminate: func(*probe, *genserver.Context, any) { close(entered); <-release }}, node.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-entered; cancel() }()
	assert.ErrorIs(t, sys.Stop(ctx, n, pid, node.Normal), context.Canceled)
	assert.True(t, n.IsAlive(pid), "Stop does not kill")
	close(release)
	_, err := node.AwaitExit(testkit.Context(t), n, pid)
	require.NoError(t, err)
}

// The end of the context is not mistaken for the server's, even if both give the same reason.
func TestStopFromDyingProcess(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	release := make(chan struct{})
	defer close(release)
	pid := start(t, n, &probe{terminate: func(*probe, *genserver.Context, any) { <-release }}, node.Options{})
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(&node.ExitError{Reason: node.Normal})
	assert.Error(t, sys.Stop(ctx, n, pid, node.Normal))
}

// A killed server does not run Terminate when its method returns.
func TestKilledInMethod(t *testing.T) {
	for what, err := range map[string]error{"nil": nil, "error": errTea, "exit": node.ExitWith(1)} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &logtest.Records{}
				n, e := node.Start(node.Config{Workers: 2, Log: slog.New(log)})
				require.NoError(t, e)
				p := &probe{}
				pid := start(t, n, p, node.Options{})
				release := make(chan struct{})
				genserver.Cast(n, pid, tell(func(_ *probe, c *genserver.Context) error { <-release; c.Stop(1); return err }))
				synctest.Wait()
				n.Exit(pid, node.Kill)
				close(release)
				synctest.Wait()
				assert.Empty(t, p.noted())
				assert.Empty(t, log.With("server terminating"))
				require.NoError(t, n.Stop())
			})
		})
	}
}

// The log of a server that ends: which reasons are not logged.
func TestReport(t *testing.T) {
	for _, c := range []struct {
		reason any
		logged bool
	}{
		{node.Normal, false}, {node.Shutdown, false}, {wire.Tuple{node.Shutdown, 1}, false}, {wire.Atom("odd"), true}, {wire.Tuple{node.Shutdown}, true},
	} {
		log := &logtest.Records{}
		n := nodetest.Start(t, node.Config{Log: slog.New(log)})
		pid := start(t, n, &probe{value: func() any { panic("no state") }}, node.Options{Name: "probe"})
		sys.Stop(testkit.Context(t), n, pid, c.reason)
		got := log.With("server terminating")
		require.Equal(t, c.logged, len(got) == 1, "%v", c.reason)
		if c.logged {
			assert.Equal(t, "probe", got[0]["server"])
			assert.Contains(t, got[0]["state"], "no state")
			assert.Equal(t, "[]", got[0]["last_message"], "of a system message, as in OTP")
		}
		assert.Empty(t, log.With("crash report"), "%v is no crash", c.reason)
	}
}

func TestNodeStopEndsServers(t *testing.T) {
	before := testkit.Goroutines()
	log := &logtest.Records{}
	n, err := node.Start(node.Config{Log: slog.New(log)})
	require.NoError(t, err)
	p := &probe{init: func(_ *probe, c *genserver.Context) error {
		c.TrapExit(true)
		c.Timeout(time.Hour)
		return nil
	}}
	h := nodetest.NewProbe(t, n)
	start(t, h, p, node.Options{Link: true})
	for _, pl := range places {
		pid := start(t, n, &probe{}, pl.o)
		ask(t, n, pid, Notes{})
	}
	require.NoError(t, n.Stop())
	assert.Contains(t, p.noted(), "terminate shutdown", "by the exit of the parent")
	assert.Empty(t, log.With("crash report"))
	testkit.UntilTrue(t, func() bool { return testkit.Goroutines() <= before }, "all goroutines have ended")
	_, err = probes.Start(testkit.Context(t), n, &probe{}, node.Options{})
	assert.ErrorIs(t, err, node.ErrNodeStopped)
}
