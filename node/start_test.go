package node_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// starter is an Actor whose Init does what a test says.
type starter struct {
	init func(c *node.Context) error
	msg  func(c *node.Context, msg any) error
}

func (s starter) Init(c *node.Context) error { return s.init(c) }

func (s starter) Receive(c *node.Context, m any) error {
	if s.msg != nil {
		return s.msg(c, m)
	}
	return nil
}

func begins(init func(c *node.Context) error) node.Actor { return starter{init: init} }

// Whatever Init does, SpawnWait returns, reports the result and leaves the caller neither link nor message.
func TestSpawnWaitErrors(t *testing.T) {
	for _, c := range []struct {
		what string
		b    node.Actor
		o    node.Options
		want any // an error, or the reason of a *node.ExitError as text; nil: none
	}{
		{"Init returns", begins(func(*node.Context) error { return nil }), node.Options{}, nil},
		{"no Init", node.ActorFunc(func(*node.Context, any) error { return nil }), node.Options{}, nil},
		{"a Process", node.ProcessFunc(func(s *node.Process) error { s.Receive(); return nil }), node.Options{}, nil},
		{"a coroutine", node.ProcessFunc(func(s *node.Process) error { s.Receive(); return nil }), node.Options{Coroutine: true}, nil},
		{"Ignore", begins(func(*node.Context) error { return node.ErrIgnore }), node.Options{}, node.ErrIgnore},
		{"Ignore wrapped", begins(func(*node.Context) error { return fmt.Errorf("so: %w", node.ErrIgnore) }), node.Options{},
			node.ErrIgnore},
		{"Stop is not Ignore", begins(func(*node.Context) error { return node.ErrStop }), node.Options{}, "normal"},
		{"error", begins(func(*node.Context) error { return errSpoiled }), node.Options{}, "error: spoiled"},
		{"ExitWith", begins(func(*node.Context) error { return node.ExitWith(wire.Tuple{1, 2}) }), node.Options{}, "{1,2}"},
		{"panic", begins(func(*node.Context) error { panicsHere(); return nil }), node.Options{}, "panic: bad cake"},
		{"goexit", begins(func(*node.Context) error { goexitsHere(); return nil }), node.Options{}, "panic: runtime.Goexit was called"},
		{"ends itself by a signal", begins(func(c *node.Context) error { c.Exit(c.Self(), wire.Atom("tired")); return nil }), node.Options{}, "tired"},
		{"never returns", begins(func(c *node.Context) error { <-c.Context().Done(); return nil }), node.Options{}, context.DeadlineExceeded},
		{"Pending for ever", begins(func(*node.Context) error { return node.ErrPending }), node.Options{}, context.DeadlineExceeded},
		{"Pending, then Announce", starter{
			func(c *node.Context) error { c.Send(c.Self(), 1); return node.ErrPending },
			func(c *node.Context, _ any) error { c.Announce(); return nil },
		}, node.Options{}, nil},
		{"Pending wrapped, then Announce", starter{
			func(c *node.Context) error { c.Send(c.Self(), 1); return fmt.Errorf("soon: %w", node.ErrPending) },
			func(c *node.Context, _ any) error { c.Announce(); return nil },
		}, node.Options{}, nil},
		{"Pending, then the end", starter{
			func(c *node.Context) error { c.Send(c.Self(), 1); return node.ErrPending },
			func(*node.Context, any) error { return node.ExitWith("tired") },
		}, node.Options{}, "tired"},
		{"bad option", begins(nil), node.Options{Place: node.OnStage(1 << 20)}, node.ErrArgument},
		{"nil", nil, node.Options{}, node.ErrArgument},
		{"name taken", begins(nil), node.Options{Name: "taken"}, node.ErrNameTaken},
	} {
		for _, place := range []node.Options{{}, {Place: node.Detached()}} {
			for _, link := range []bool{false, true} {
				for _, monitor := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/detached=%v/link=%v/monitor=%v", c.what, place.Place != node.Place{}, link, monitor), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							n, err := node.Start(node.Config{Workers: 2})
							require.NoError(t, err)
							h := nodetest.NewProbe(t, n)
							h.TrapExit(true)
							require.NoError(t, n.Register("taken", h.Self()))
							ctx, cancel := context.WithTimeout(t.Context(), time.Second)
							defer cancel()
							o := c.o
							if _, process := c.b.(node.ProcessFunc); !process && o.Place == (node.Place{}) {
								o.Place = place.Place
							}
							o.Link = link
							var pid node.PID
							var ref node.Ref
							if monitor {
								o.Monitor = &ref
							}
							pid, err = node.SpawnWait(ctx, h, o, c.b)
							switch want := c.want.(type) {
							case nil:
								require.NoError(t, err)
								assert.True(t, n.IsAlive(pid))
								assert.Equal(t, monitor, !ref.IsZero())
							case error:
								assert.ErrorIs(t, err, want)
							case string:
								e := (*node.ExitError)(nil)
								require.ErrorAs(t, err, &e)
								text := fmt.Sprint(e.Reason)
								assert.Equal(t, want, text)
							}
							synctest.Wait()
							h.ExpectNone()
							if c.want != nil {
								assert.Zero(t, pid)
								assert.Zero(t, ref)
								i, err := n.Info(h.Self())
								require.NoError(t, err)
								assert.Empty(t, i.Links)
								assert.Empty(t, i.Monitors)
								assert.Equal(t, 1, n.Stats().Processes)
								assert.Zero(t, n.Stats().Lingering)
							}
							require.NoError(t, n.Stop())
						})
					})
				}
			}
		}
	}
}

func TestSpawnWaitFrom(t *testing.T) {
	actortest.EachCaller(t, func(t *testing.T, c actortest.Caller) {
		n := nodetest.Start(t, node.Config{})
		c.Do(t, n, func(me node.Caller) {
			pid, err := node.SpawnWait(t.Context(), me, node.Options{}, begins(func(*node.Context) error { return nil }))
			assert.NoError(t, err)
			assert.True(t, n.IsAlive(pid))
			_, err = node.SpawnWait(t.Context(), me, node.Options{}, begins(func(*node.Context) error { return errSpoiled }))
			assert.Error(t, err)
			var ref node.Ref
			_, err = node.SpawnWait(t.Context(), me, node.Options{Monitor: &ref}, begins(func(*node.Context) error { return nil }))
			if c.Name == "goroutine" {
				assert.ErrorIs(t, err, node.ErrArgument)
			} else {
				assert.NoError(t, err)
				assert.False(t, ref.IsZero())
			}
		})
	})
}

// The exit reason of a process that is ignored is normal, not killed.
func TestIgnoreIsNormal(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	for range 200 {
		refs := make(chan node.Ref, 1)
		_, err := node.SpawnWait(t.Context(), n, node.Options{Name: "it"}, begins(func(c *node.Context) error {
			refs <- h.Monitor(c.Self()) // h waits in SpawnWait
			return node.ErrIgnore
		}))
		require.ErrorIs(t, err, node.ErrIgnore)
		_, taken := n.Whereis("it")
		require.False(t, taken, "the name of an ignored process is free at once")
		d := nodetest.Expect[node.Down](h)
		require.Equal(t, node.Down{Ref: <-refs, PID: d.PID, Reason: node.Normal}, d)
	}
}

// The messages that the parent gets about a start that it does not wait for.
func TestAnnounce(t *testing.T) {
	for _, c := range []struct {
		what string
		b    node.Actor
		want []any
	}{
		{"Init returns", begins(func(*node.Context) error { return nil }), []any{node.Started{}}},
		{"Ignore", begins(func(*node.Context) error { return node.ErrIgnore }), []any{node.Started{Ignored: true}, node.Exited{Reason: node.Normal}}},
		{"ExitWith", begins(func(*node.Context) error { return node.ExitWith(wire.Atom("no")) }), []any{node.Exited{Reason: wire.Atom("no")}}},
		{"announced in Init", begins(func(c *node.Context) error { c.Announce(); c.Announce(); return nil }), []any{node.Started{}}},
		{"announced, then failed", begins(func(c *node.Context) error { c.Announce(); return node.ExitWith(wire.Atom("no")) }),
			[]any{node.Started{}, node.Exited{Reason: wire.Atom("no")}}},
		{"Pending", begins(func(*node.Context) error { return node.ErrPending }), nil},
		{"Pending, announced later", starter{
			func(c *node.Context) error { c.Send(c.Self(), 1); return node.ErrPending },
			func(c *node.Context, _ any) error { c.Announce(); c.Announce(); return nil },
		}, []any{node.Started{}}},
		{"no Init", node.ActorFunc(func(*node.Context, any) error { return nil }), nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe) {
				h.TrapExit(true)
				pid, err := h.SpawnOpt(node.Options{Link: true, Announce: true}, c.b)
				require.NoError(t, err)
				synctest.Wait()
				for _, want := range c.want {
					switch w := want.(type) {
					case node.Started:
						w.PID = pid
						want = w
					case node.Exited:
						w.From = pid
						want = w
					}
					assert.Equal(t, want, nodetest.Expect[any](h))
				}
				h.ExpectNone()
			})
		})
	}
}

func TestAnnounceNeedsParent(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	_, err := n.SpawnOpt(node.Options{Announce: true}, begins(nil))
	assert.ErrorIs(t, err, node.ErrArgument)
}

// The caller is killed while it waits: the spawned process is not told, and dies with the caller if it is linked.
func TestSpawnWaitCallerKilled(t *testing.T) {
	for _, link := range []bool{false, true} {
		bubble(t, func(t *testing.T, n *node.Node, watch *nodetest.Probe) {
			release := make(chan struct{})
			children := make(chan node.PID, 1)
			caller, err := n.Spawn(node.ProcessFunc(func(s *node.Process) error {
				_, err := node.SpawnWait(context.Background(), s, node.Options{Link: link}, begins(func(c *node.Context) error {
					children <- c.Self()
					<-release
					return nil
				}))
				t.Error("SpawnWait has returned to the dead", err)
				return nil
			}))
			require.NoError(t, err)
			synctest.Wait()
			n.Exit(caller, node.Kill)
			synctest.Wait()
			assert.Equal(t, !link, n.IsAlive(<-children))
			close(release)
		})
	}
}

func TestAwaitExit(t *testing.T) {
	actortest.EachCaller(t, func(t *testing.T, c actortest.Caller) {
		n := nodetest.Start(t, node.Config{})
		c.Do(t, n, func(me node.Caller) {
			var alias node.Ref
			pid, err := node.SpawnWait(t.Context(), me, node.Options{Name: "it"}, starter{
				func(c *node.Context) error { alias = c.Alias(); return nil },
				func(_ *node.Context, m any) error { return node.ExitWith(m) },
			})
			assert.NoError(t, err)
			for _, found := range []func() (node.PID, bool){
				func() (node.PID, bool) { return me.Inside(process.Key{}).Resolve(pid) },
				func() (node.PID, bool) { return me.Inside(process.Key{}).Resolve(node.Atom("it")) },
				func() (node.PID, bool) { return me.Inside(process.Key{}).Resolve(alias) },
			} {
				got, ok := found()
				assert.True(t, ok)
				assert.Equal(t, pid, got)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errSpoiled)
			_, err = node.AwaitExit(ctx, me, pid)
			assert.ErrorIs(t, err, errSpoiled)

			waits := []func() (any, error){
				func() (any, error) { return node.AwaitExit(t.Context(), n, pid) },
				func() (any, error) { return node.AwaitExit(t.Context(), n, node.Atom("it")) },
				func() (any, error) { return node.AwaitExit(t.Context(), n, alias) },
			}
			type result struct {
				reason any
				err    error
			}
			results := make(chan result, len(waits))
			for _, w := range waits {
				go func() { r, err := w(); results <- result{r, err} }()
			}
			n.Send(pid, wire.Atom("tired"))
			reason, err := node.AwaitExit(t.Context(), me, pid)
			assert.NoError(t, err)
			assert.Contains(t, []any{wire.Atom("tired"), node.NoProc}, reason)
			for range waits {
				r := <-results
				assert.NoError(t, r.err)
				assert.Contains(t, []any{wire.Atom("tired"), node.NoProc}, r.reason)
			}
			reason, err = node.AwaitExit(t.Context(), me, pid)
			assert.NoError(t, err)
			assert.Equal(t, node.NoProc, reason)
			reason, err = node.AwaitExit(t.Context(), me, node.Atom("it"))
			assert.NoError(t, err)
			assert.Equal(t, node.NoProc, reason)
			_, ok := me.Inside(process.Key{}).Resolve(node.Atom("it"))
			assert.False(t, ok)
			_, ok = me.Inside(process.Key{}).Resolve(alias)
			assert.False(t, ok)
		})
	})
}
