package node_test

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/statem"
)

// fromKeeper keeps the Froms of its requests.
func fromKeeper(c chan<- node.From) node.ActorFunc {
	return func(c2 *node.Context, msg any) error {
		if r, ok := c2.Node().AsRequest(msg); ok {
			c <- r.From
		}
		return nil
	}
}

// callersThatGiveUp are calls of a process by callers that give up when told to, in each way that there is.
func callersThatGiveUp(f *failures, pid node.PID) map[string]func() (giveUp func()) {
	return map[string]func() (giveUp func()){
		"a context": func() func() {
			ctx, cancel := context.WithCancel(f.ctx)
			go func() { _, _ = node.Call[int](ctx, f.here, pid, 1) }() // ended by cancel
			return cancel
		},
		"a future": func() func() {
			future := node.Async[int](f.me, pid, 1)
			return func() { future.Cancel() }
		},
		"a process that is killed": func() func() {
			caller, err := f.here.Spawn(node.ProcessFunc(func(p *node.Process) error {
				_, err := node.Call[int](p.Context(), p, pid, 1)
				return err
			}))
			require.NoError(f, err)
			return func() { f.here.Exit(caller, node.Kill) }
		},
		"an actor that is killed": func() func() {
			caller, err := f.here.Spawn(node.ActorFunc(func(c *node.Context, _ any) error {
				_, err := node.Call[int](context.Background(), c, pid, 1)
				return err
			}))
			require.NoError(f, err)
			require.NoError(f, f.here.Send(caller, "go"))
			return func() { f.here.Exit(caller, node.Kill) }
		},
	}
}

// A server can find out that its caller has given up, on whichever node the caller is.
func TestPending(t *testing.T) {
	overEachPlace(t, func(f *failures) {
		froms := make(chan node.From, 1)
		pid, err := f.there.Spawn(fromKeeper(froms))
		require.NoError(f, err)
		for way, ask := range callersThatGiveUp(f, pid) {
			giveUp := ask()
			from := testkit.Receive(f, froms)
			assert.True(f, from.Pending(), way)
			giveUp()
			testkit.UntilTrue(f, func() bool { return !from.Pending() }, "the caller has given up: "+way)
		}
		if f.here != f.there {
			node.SendRequest(f.me, pid, 1, 1)
			from := testkit.Receive(f, froms)
			assert.True(f, from.Pending())
			f.here.Disconnect(f.there.Name())
			testkit.UntilTrue(f, func() bool { return !from.Pending() }, "the connection is over")
		}
	})
}

// turnstile is a server whose first call holds it up.
type turnstile struct {
	open  chan struct{}
	begun chan int
}

type passage struct {
	genserver.Returns[int]
	N int
}

func (g *turnstile) pass(_ *genserver.Context, p passage) (int, error) {
	g.begun <- p.N
	<-g.open
	return p.N, nil
}

func (g *turnstile) any(_ *genserver.Context, n int) (int, error) { return g.pass(nil, passage{N: n}) }

// turnstileMachine is the same as a state machine.
type turnstileMachine struct{ turnstile }

func (g *turnstileMachine) state(c *statem.Context, e statem.Event) (statem.State[*turnstileMachine], error) {
	n, ok := e.Content.(int)
	if !ok {
		return nil, nil
	}
	v, err := g.pass(nil, passage{N: n})
	_ = c.Reply(c.From(), v) // the caller may have given up
	return nil, err
}

// Requests whose callers gave up while the requests waited in the mailbox are not handled, unless the kind of server
// says so.
func TestRequestsOfNobody(t *testing.T) {
	servers := func() *genserver.Kind[*turnstile] {
		return genserver.Define(genserver.OnCall((*turnstile).pass), genserver.OnAnyCall((*turnstile).any))
	}
	machines := func() *statem.Kind[*turnstileMachine] { return statem.Define((*turnstileMachine).state) }
	overEachPlace(t, func(f *failures) {
		for kind, c := range map[string]struct {
			make func(g turnstile) node.Actor
			late bool
		}{
			"server":       {func(g turnstile) node.Actor { return servers().New(&g) }, false},
			"late server":  {func(g turnstile) node.Actor { return servers().Late().New(&g) }, true},
			"machine":      {func(g turnstile) node.Actor { return machines().New(&turnstileMachine{g}) }, false},
			"late machine": {func(g turnstile) node.Actor { return machines().Late().New(&turnstileMachine{g}) }, true},
		} {
			g := turnstile{make(chan struct{}), make(chan int, 100)}
			pid, err := f.there.Spawn(c.make(g))
			require.NoError(f, err)
			first := node.Async[int](f.here, pid, 0)
			require.Equal(f, 0, testkit.Receive(f, g.begun), kind)
			ctx, cancel := context.WithCancel(f.ctx)
			done := make(chan struct{})
			for range 3 {
				go func() { // until cancel
					_, err := node.Call[int](ctx, f.here, pid, 1)
					assert.ErrorIs(f, err, context.Canceled)
					done <- struct{}{}
				}()
			}
			testkit.UntilTrue(f, func() bool { i, err := f.there.Info(pid); return err == nil && i.Mailbox == 4 }, "4 messages wait")
			cancel()
			for range 3 {
				testkit.Receive(f, done)
			}
			require.NoError(f, f.here.Send(pid, "behind what the callers have said"))
			last := node.Async[int](f.here, pid, 2)
			testkit.UntilTrue(f, func() bool { i, err := f.there.Info(pid); return err == nil && i.Mailbox == 6 }, "6 messages wait")
			close(g.open)
			for n, future := range map[int]*node.Future[int]{0: first, 2: last} {
				v, err := node.Await(f.ctx, f.here, future)
				require.NoError(f, err, kind)
				require.Equal(f, n, v)
			}
			handled := len(g.begun)
			if c.late {
				require.Equal(f, 4, handled, kind)
			} else {
				require.Equal(f, 1, handled, kind)
			}
		}
	})
}

// A process that sends to itself while its mailbox is full is told at once: only itself could make space.
func TestOwnMailboxIsFull(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{})
		for name, send := range map[string]func(p actortest.Self) error{
			"Send": func(p actortest.Self) error { return p.Send(p.Self(), 1) },
			"Deliver": func(p actortest.Self) error {
				return node.Deliver(testkit.Context(t), p.(node.Caller), p.Self(), 1)
			},
			"Cast": func(p actortest.Self) error { return genserver.Cast(p.(node.Caller), p.Self(), 1) },
			"Async": func(p actortest.Self) error {
				_, _, err := node.Async[int](p.(node.Caller), p.Self(), 1).Result()
				return err
			},
		} {
			errs := make(chan error, 1)
			pid := s.With(node.Options{Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Block}}).Spawn(t, n,
				func(p actortest.Self, _ any) error {
					var err error
					for range 3 { // a blocking process has taken the message by now
						if err = send(p); err != nil && err != node.ErrTimeout {
							break
						}
					}
					errs <- err
					return node.ErrStop
				})
			require.NoError(t, n.Send(pid, "go"))
			require.ErrorIs(t, testkit.Receive(t, errs), node.ErrMailboxFull, name)
		}
	})
}

// A timer to a name or an alias sends to the process that has it when the message is due.
func TestTimersToNames(t *testing.T) {
	inBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe) {
		began := time.Now()
		start := func() node.PID {
			pid, err := n.SpawnOpt(node.Options{Name: "timed"}, actortest.Actor.Actor(clock(h.Self(), began)))
			require.NoError(t, err)
			return pid
		}
		_, err := n.SendAfter(time.Second, node.Atom("timed"), "one") // no process has it yet
		require.NoError(t, err)
		_, err = h.SendAfter(3*time.Second, node.At{Name: "timed", Node: n.Name()}, "two")
		require.NoError(t, err)
		ticks, err := n.SendInterval(2*time.Second, node.Atom("timed"), "tick")
		require.NoError(t, err)
		off, err := n.SendAfter(time.Second, node.Atom("timed"), "never")
		require.NoError(t, err)
		left, ok := off.Cancel()
		require.True(t, ok)
		require.Equal(t, time.Second, left)
		require.Equal(t, 3, n.Stats().Timers)
		pid := start()
		require.Equal(t, stamped{"one", time.Second}, h.Receive())
		n.Exit(pid, node.Kill)
		synctest.Wait()
		start() // a restart
		require.Equal(t, stamped{"tick", 2 * time.Second}, h.Receive())
		require.Equal(t, stamped{"two", 3 * time.Second}, h.Receive())
		require.Equal(t, stamped{"tick", 4 * time.Second}, h.Receive())
		_, ok = ticks.Cancel()
		require.True(t, ok)
		require.Empty(t, n.Stats().DeadLetters)

		alias := h.Alias()
		_, err = n.SendAfter(time.Second, alias, "by alias")
		require.NoError(t, err)
		require.Equal(t, "by alias", h.Receive())

		_, err = n.SendAfter(time.Second, node.Atom("nobody"), "lost")
		require.NoError(t, err)
		<-time.After(time.Minute)
		require.Len(t, n.Stats().DeadLetters, 1)
		_, err = n.SendAfter(time.Second, nil, "lost")
		require.ErrorIs(t, err, node.ErrArgument)

		to := h.Self()
		full, err := n.SpawnOpt(node.Options{Name: "full", Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Block}},
			node.ProcessFunc(func(p *node.Process) error {
				<-time.After(time.Hour)
				for {
					if err := p.Send(to, p.Receive()); err != nil {
						return err
					}
				}
			}))
		require.NoError(t, err)
		require.NoError(t, n.Send(full, "first"))
		_, err = n.SendAfter(time.Second, node.Atom("full"), "second") // waits for space
		require.NoError(t, err)
		require.Equal(t, "first", h.Receive())
		require.Equal(t, "second", h.Receive())
		n.Exit(full, node.Kill)

		_, err = n.SendAfter(time.Hour, node.Atom("timed"), "late") // ends with the node
		require.NoError(t, err)
	})
}

// load is a large value.
type load [1 << 16]byte

type loaded struct {
	genserver.Returns[*load]
	Load *load
}

type porter struct{}

func (porter) call(_ *genserver.Context, l loaded) (*load, error) { return new(load), nil }
func (porter) cast(*genserver.Context, *load) error               { return nil }

type porterMachine struct{}

func (*porterMachine) state(c *statem.Context, e statem.Event) (statem.State[*porterMachine], error) {
	if e.Type == statem.TypeCall {
		_ = c.Reply(c.From(), new(load))
	}
	return nil, nil
}

// An idle process keeps neither the last message nor the last answer, its own or another's.
func TestIdleKeepsNothing(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	ctx := testkit.Context(t)
	me := nodetest.NewProbe(t, n)
	spawn := func(b node.Actor) node.PID {
		pid, err := n.Spawn(b)
		require.NoError(t, err)
		return pid
	}
	answer := func(c *node.Context, msg any) error {
		if r, ok := c.Node().AsRequest(msg); ok {
			return r.Reply(new(load))
		}
		return nil
	}
	servers := map[string]node.PID{
		"actor":   spawn(node.ActorFunc(answer)),
		"server":  spawn(genserver.Define(genserver.OnCall(porter.call), genserver.OnCast(porter.cast), genserver.OnInfo(porter.cast)).New(porter{})),
		"machine": spawn(statem.Define((*porterMachine).state).New(&porterMachine{})),
		"process": spawn(node.ProcessFunc(func(p *node.Process) error {
			for {
				if r, ok := p.Node().AsRequest(p.Receive()); ok {
					if err := r.Reply(new(load)); err != nil {
						return err
					}
				}
			}
		})),
	}
	callers := map[string]node.Caller{"goroutine": n, "handle": me}
	var kept map[string]weak.Pointer[load]
	keep := func(what string, l *load) { kept[what] = weak.Make(l) }
	use := func() {
		for name, pid := range servers {
			for by, from := range callers {
				req, msg := new(load), new(load)
				keep(name+": request of "+by, req)
				keep(name+": message of "+by, msg)
				reply, err := node.Call[*load](ctx, from, pid, loaded{Load: req})
				require.NoError(t, err, name)
				keep(name+": reply to "+by, reply)
				require.NoError(t, node.Send(from, pid, msg))
			}
			cast := new(load)
			keep(name+": cast", cast)
			require.NoError(t, genserver.Cast(n, pid, cast))
		}
	}
	kept = make(map[string]weak.Pointer[load])
	use()
	idle := func(pid node.PID) bool {
		i, err := n.Info(pid)
		return err == nil && i.Mailbox == 0
	}
	testkit.UntilTrue(t, func() bool {
		for _, pid := range servers {
			if !idle(pid) {
				return false
			}
		}
		return true
	}, "all are idle")
	testkit.Until(t, func() string {
		runtime.GC()
		for what, l := range kept {
			if l.Value() == nil {
				delete(kept, what)
			}
		}
		if len(kept) == 0 {
			return ""
		}
		return fmt.Sprint("kept: ", slices.Sorted(maps.Keys(kept)))
	})
}
