package keyed_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/keyed"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/supervisor"
)

// counter counts what it is sent, and answers with the sum.
type counter struct{ sum int }

func (s *counter) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case int:
		s.sum += m
	case node.Request[int]:
		s.sum += m.Body
		m.Reply(s.sum)
	case string:
		return errors.New(m)
	case func(*node.Context) error:
		return m(c)
	default:
		c.Unknown(msg)
	}
	return nil
}

func newCounter(string) (node.Actor, error) { return &counter{}, nil }

func start[K comparable](t testing.TB, n *node.Node, k keyed.Kind[K]) *keyed.Group[K] {
	t.Helper()
	k.Name = "group"
	g, err := keyed.Start(t.Context(), n, k)
	require.NoError(t, err)
	return g
}

// The counters are kept as long as they are used, and end one minute later.
func TestSession(t *testing.T) {
	actortest.InBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe, log *logtest.Text) {
		g := start(t, n, keyed.Kind[string]{New: newCounter, Idle: time.Minute})
		ctx := t.Context()
		_, there := g.Lookup("ann")
		require.False(t, there)
		for i := range 3 {
			sum, err := keyed.Call[int](ctx, n, g, "ann", 2)
			require.NoError(t, err)
			require.Equal(t, 2*(i+1), sum)
		}
		require.NoError(t, keyed.Send(ctx, h, g, "bob", 7))
		pid, there := g.Lookup("ann")
		require.True(t, there)
		all := map[string]node.PID{}
		for k, p := range g.All() {
			all[k] = p
		}
		require.Len(t, all, 2)
		require.Equal(t, pid, all["ann"])
		time.Sleep(50 * time.Second)
		sum, err := keyed.Call[int](ctx, n, g, "ann", 0) // a use
		require.NoError(t, err)
		require.Equal(t, 6, sum)
		time.Sleep(30 * time.Second)
		_, there = g.Lookup("bob")
		require.False(t, there, "unused for a minute and a quarter")
		_, there = g.Lookup("ann")
		require.True(t, there)
		sum, err = keyed.Call[int](ctx, n, g, "bob", 1)
		require.NoError(t, err)
		require.Equal(t, 1, sum)
		time.Sleep(80 * time.Second)
		require.Equal(t, keyed.Stats{Started: 3, EndedIdle: 3}, g.Stats())
		require.Empty(t, log.String())
	})
}

// bubble runs f in a bubble of testing/synctest.
func bubble(t *testing.T, f func(t *testing.T, n *node.Node)) {
	actortest.InBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe, _ *logtest.Text) {
		h.Close(nil)
		f(t, n)
	})
}

// What is not idle does not end, however long nobody uses it.
func TestBusy(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		ctx := t.Context()
		asked := make(chan node.Request[int], 10)
		slow, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			asked <- msg.(node.Request[int])
			return nil
		}))
		require.NoError(t, err)
		blocks, release := make(chan bool), make(chan bool)
		var later node.From
		behaviours := map[string]node.Actor{
			"in a handler": node.ActorFunc(func(c *node.Context, msg any) error {
				c.Blocking(func() { <-blocks })
				return nil
			}),
			"asks": node.ActorFunc(func(c *node.Context, msg any) error {
				if msg == "go" {
					node.SendRequest(c, slow, nil, 1)
				}
				return nil
			}),
			"future": node.ActorFunc(func(c *node.Context, msg any) error {
				if msg == "go" {
					node.Async[int](c, slow, 1).SendTo(c.Self(), nil)
				}
				return nil
			}),
			"calls": node.ActorFunc(func(c *node.Context, msg any) error {
				_, err := node.Call[int](c.Context(), c, slow, 1)
				return err
			}),
			"answers later": node.ActorFunc(func(c *node.Context, msg any) error {
				if r, ok := msg.(node.Request[int]); ok {
					later = r.From
				}
				return nil
			}),
			"leaves a message": node.ActorFunc(func(c *node.Context, msg any) error {
				if msg == "stay" {
					c.BecomeFunc(func(*node.Context, any) error { return nil })
					return nil
				}
				return node.ErrUnhandled
			}),
			"blocking call": node.ProcessFunc(func(p *node.Process) error {
				for {
					p.Receive()
					if _, err := node.Call[int](p.Context(), p, slow, 1); err != nil {
						return err
					}
				}
			}),
			"receives with a timeout": node.ProcessFunc(func(p *node.Process) error {
				p.Receive()
				p.ReceiveWithin(time.Hour, nil)
				for {
					p.Receive()
				}
			}),
			"computes": node.ProcessFunc(func(p *node.Process) error {
				p.Receive()
				<-release
				for {
					p.Receive()
				}
			}),
		}
		idle := map[string]node.Actor{
			"an Actor": node.ActorFunc(func(*node.Context, any) error { return nil }),
			"receives": node.ProcessFunc(func(p *node.Process) error {
				for {
					p.Receive()
				}
			}),
			"has timer": node.ActorFunc(func(c *node.Context, _ any) error {
				_, err := c.SendAfter(24*time.Hour, c.Self(), 1)
				return err
			}),
		}
		g := start(t, n, keyed.Kind[string]{Idle: time.Minute, New: func(key string) (node.Actor, error) {
			if b := idle[key]; b != nil {
				return b, nil
			}
			return behaviours[key], nil
		}})
		for _, all := range []map[string]node.Actor{behaviours, idle} {
			for key := range all {
				if key != "answers later" {
					require.NoError(t, keyed.Send(ctx, n, g, key, "go"))
				}
			}
		}
		require.NoError(t, g.Use(ctx, n, "answers later", func(pid node.PID) error {
			node.Async[int](n, pid, 1) //actornode:ignore lostfuture the test answers the request itself
			return nil
		}))
		for range 10 {
			time.Sleep(time.Minute)
			for key := range behaviours {
				_, there := g.Lookup(key)
				require.True(t, there, key)
			}
		}
		for key := range idle {
			_, there := g.Lookup(key)
			require.False(t, there, key)
		}
		close(blocks)
		close(release)
		require.NoError(t, later.Reply(1))
		for range 4 {
			require.NoError(t, (<-asked).Reply(1))
		}
		pid, _ := g.Lookup("leaves a message")
		require.NoError(t, n.Send(pid, "stay"))
		time.Sleep(2 * time.Minute)
		for key := range behaviours {
			_, there := g.Lookup(key)
			require.Equal(t, key == "receives with a timeout", there, key)
		}
	})
}

// initializer is a counter whose Init does something.
type initializer struct {
	counter
	init func(c *node.Context) error
}

func (s *initializer) Init(c *node.Context) error { return s.init(c) }

// Many first users start one process, and a user that gives up does not stop the start.
func TestFirstUsers(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		release := make(chan bool)
		g := start(t, n, keyed.Kind[string]{New: func(string) (node.Actor, error) {
			return &initializer{init: func(c *node.Context) error { c.Blocking(func() { <-release }); return nil }}, nil
		}})
		results := make(chan error, 100)
		for range 50 {
			go func() {
				_, err := keyed.Call[int](t.Context(), n, g, "k", 1)
				results <- err
			}()
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := keyed.Call[int](ctx, n, g, "k", 1)
				results <- err
			}()
		}
		for range 50 {
			require.ErrorIs(t, <-results, context.DeadlineExceeded)
		}
		_, there := g.Lookup("k")
		require.False(t, there, "its Init still runs")
		close(release)
		for range 50 {
			require.NoError(t, <-results)
		}
		sum, err := keyed.Call[int](t.Context(), n, g, "k", 0)
		require.NoError(t, err)
		require.Equal(t, 50, sum)
		require.Equal(t, keyed.Stats{Processes: 1, Started: 1}, g.Stats())
		require.NoError(t, g.End(t.Context(), n, "k"))
	})
}

// A failed start fails all who wait for it, and is not repeated in a tight loop. No error tells the key.
func TestFailingStart(t *testing.T) {
	broken := errors.New("no database")
	for name, new := range map[string]func(works bool) (node.Actor, error){
		"New returns an error": func(works bool) (node.Actor, error) {
			if works {
				return &counter{}, nil
			}
			return nil, broken
		},
		"New panics": func(works bool) (node.Actor, error) {
			if works {
				return &counter{}, nil
			}
			panic(broken)
		},
		"Init returns an error": func(works bool) (node.Actor, error) {
			return &initializer{init: func(*node.Context) error {
				if works {
					return nil
				}
				return broken
			}}, nil
		},
		"Init panics": func(works bool) (node.Actor, error) {
			return &initializer{init: func(*node.Context) error {
				if !works {
					panic(broken)
				}
				return nil
			}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n *node.Node) {
				works, tries := false, 0
				g := start(t, n, keyed.Kind[string]{New: func(string) (node.Actor, error) { tries++; return new(works) }})
				began := time.Now()
				for time.Since(began) < time.Minute {
					_, err := keyed.Call[int](t.Context(), n, g, "the secret", 1)
					require.ErrorIs(t, err, broken)
					require.NotContains(t, err.Error(), "secret")
					require.ErrorContains(t, err, "group group")
					if f, ok := errors.AsType[*keyed.FailingError](err); ok {
						require.ErrorIs(t, err, keyed.ErrFailing)
						require.Equal(t, tries, f.Times)
						require.WithinDuration(t, began, f.Since, time.Millisecond)
						require.LessOrEqual(t, time.Until(f.Next), 5*time.Second)
					}
					time.Sleep(50 * time.Millisecond)
				}
				require.Equal(t, 18, tries, "after 0, 0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2 s, and then each 5 s")
				require.EqualValues(t, 18, g.Stats().Crashed)
				require.NotZero(t, g.Stats().Refused)
				works = true
				time.Sleep(5 * time.Second)
				_, err := keyed.Call[int](t.Context(), n, g, "the secret", 1)
				require.NoError(t, err)
				require.Equal(t, 1, g.Stats().Processes)
			})
		})
	}
}

// A failure that nobody tries again is forgotten.
func TestFailureIsForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		g := start(t, n, keyed.Kind[int]{Max: 1, New: func(int) (node.Actor, error) { return nil, errors.New("broken") }})
		for key := range 5 { // each takes the place of the last
			_, err := keyed.Call[int](t.Context(), n, g, key, 1)
			require.ErrorContains(t, err, "broken")
		}
		for range 3 {
			_, err := keyed.Call[int](t.Context(), n, g, 1, 1)
			require.ErrorContains(t, err, "broken")
		}
		time.Sleep(10 * time.Second)
		_, err := keyed.Call[int](t.Context(), n, g, 1, 1)
		require.NotErrorIs(t, err, keyed.ErrFailing)
	})
}

// A process that has nothing to run is no failure.
func TestIgnore(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		g := start(t, n, keyed.Kind[string]{New: func(key string) (node.Actor, error) {
			if key == "new" {
				return nil, node.ErrIgnore
			}
			return &initializer{init: func(*node.Context) error { return node.ErrIgnore }}, nil
		}})
		for range 5 {
			for _, key := range []string{"new", "init"} {
				_, err := keyed.Call[int](t.Context(), n, g, key, 1)
				require.ErrorIs(t, err, node.ErrIgnore)
			}
		}
		require.Zero(t, g.Stats().Crashed)
		require.Zero(t, g.Stats().Processes)
	})
}

// A process that crashes is started again at its next use; one that always crashes, after a back-off.
func TestCrash(t *testing.T) {
	actortest.InBubble(t, func(t *testing.T, n *node.Node, _ *nodetest.Probe, log *logtest.Text) {
		g := start(t, n, keyed.Kind[string]{New: newCounter})
		call := func(req int) error {
			_, err := keyed.Call[int](t.Context(), n, g, "the secret", req)
			return err
		}
		require.NoError(t, call(1))
		crash := func() {
			require.NoError(t, keyed.Send(t.Context(), n, g, "the secret", "boom"))
			synctest.Wait()
		}
		crash()
		require.EqualValues(t, 1, g.Stats().Crashed)
		require.Contains(t, log.String(), "started again at its next use")
		require.Contains(t, log.String(), "supervisor=group")
		require.NotContains(t, log.String(), "secret")
		require.NoError(t, call(1), "at once after the first failure")
		crash()
		err := call(1)
		require.ErrorIs(t, err, keyed.ErrFailing)
		require.ErrorContains(t, err, "boom")
		time.Sleep(100 * time.Millisecond)
		require.NoError(t, call(1))
		time.Sleep(6 * time.Second) // it is taken for healthy
		crash()
		require.NoError(t, call(1))
		require.NoError(t, keyed.Send(t.Context(), n, g, "the secret", func(*node.Context) error { return node.ErrStop }))
		synctest.Wait()
		require.Zero(t, g.Stats().Processes)
		require.NoError(t, call(1), "it has ended by itself, and that is no failure")
	})
}

// With Restart a process is there again without a use.
func TestRestart(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		g := start(t, n, keyed.Kind[string]{New: newCounter, Restart: true})
		for i := range 4 {
			time.Sleep([]time.Duration{0, 0, 100 * time.Millisecond, 200 * time.Millisecond}[i])
			synctest.Wait()
			if i > 0 {
				_, there := g.Lookup("k")
				require.True(t, there, i)
			}
			require.NoError(t, keyed.Send(t.Context(), n, g, "k", "boom"))
			synctest.Wait()
		}
		_, there := g.Lookup("k")
		require.False(t, there)
		require.NoError(t, g.End(t.Context(), n, "k"))
		time.Sleep(time.Minute)
		_, there = g.Lookup("k")
		require.False(t, there)
	})
}

// At one process more than Max the one ends that has been unused for longest, if it is idle.
func TestMax(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		ctx := t.Context()
		g := start(t, n, keyed.Kind[int]{Max: 3, Idle: time.Minute, New: func(int) (node.Actor, error) { return &counter{}, nil }})
		use := func(key int) error { _, err := keyed.Call[int](ctx, n, g, key, 1); return err }
		running := func() (all []int) {
			for key := range 10 {
				if _, there := g.Lookup(key); there {
					all = append(all, key)
				}
			}
			return all
		}
		for key := range 3 {
			require.NoError(t, use(key))
			time.Sleep(16 * time.Second)
		}
		require.NoError(t, use(0))
		require.NoError(t, use(3))
		require.Equal(t, []int{0, 2, 3}, running(), "1 was unused for longest")
		blocks := make(chan bool)
		for _, key := range running() {
			require.NoError(t, keyed.Send(ctx, n, g, key, func(c *node.Context) error { c.Blocking(func() { <-blocks }); return nil }))
		}
		synctest.Wait()
		err := use(4)
		require.ErrorIs(t, err, keyed.ErrFull)
		require.EqualError(t, err, "keyed: group group: keyed: all processes are in use: there are 3, which is Kind.Max")
		close(blocks)
		synctest.Wait()
		require.NoError(t, use(4))
		require.Equal(t, keyed.Stats{Processes: 3, Started: 5, EndedFull: 2, Refused: 1}, g.Stats())
	})
}

// slowEnd traps exits, and takes some seconds to end.
func slowEnd(d time.Duration) node.Actor {
	return &initializer{init: func(c *node.Context) error {
		c.TrapExit(true)
		c.BecomeFunc(func(c *node.Context, msg any) error {
			switch m := msg.(type) {
			case node.Request[int]:
				return m.Reply(m.Body)
			case node.Exited:
				c.Blocking(func() { time.Sleep(d) })
				return node.ExitWith(m.Reason)
			}
			return nil
		})
		return nil
	}}
}

// There are never more processes than Max, also while one takes its time to end.
func TestMaxWaitsForTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		var alive, most atomic.Int32
		g := start(t, n, keyed.Kind[int]{Max: 2, New: func(int) (node.Actor, error) { return slowEnd(time.Second), nil }})
		done := make(chan error)
		for key := range 6 {
			go func() {
				for {
					err := g.Use(t.Context(), n, key, func(pid node.PID) error {
						most.Store(max(most.Load(), alive.Add(1)))
						defer alive.Add(-1)
						_, err := node.Call[int](t.Context(), n, pid, 1)
						return err
					})
					if !errors.Is(err, keyed.ErrFull) {
						done <- err
						return
					}
					time.Sleep(time.Second)
				}
			}()
		}
		for range 6 {
			require.NoError(t, <-done)
		}
		require.LessOrEqual(t, most.Load(), int32(2))
		require.LessOrEqual(t, g.Stats().Processes, 2)
	})
}

// What cannot be a key is an error.
func TestBadKeys(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		g := start(t, n, keyed.Kind[any]{New: func(any) (node.Actor, error) { return &counter{}, nil }})
		for _, key := range []any{[]byte("x"), [1]any{map[string]int{}}, struct{ v any }{func() {}}, math.NaN(),
			strings.Repeat("x", 1<<20), [2]string{"", strings.Repeat("x", 1<<20)}} {
			_, err := keyed.Call[int](t.Context(), n, g, key, 1)
			require.ErrorIs(t, err, keyed.ErrKey)
			require.Less(t, len(err.Error()), 200)
			require.NotPanics(t, func() { _, there := g.Lookup(key); require.False(t, there) })
			g.End(t.Context(), n, key)
		}
		for _, key := range []any{nil, 1, "x", 1.5, struct{ v any }{"x"}, &struct{}{}} {
			_, err := keyed.Call[int](t.Context(), n, g, key, 1)
			require.NoError(t, err)
		}
		require.Equal(t, 6, g.Stats().Processes)
	})
}

func TestBadKinds(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	for text, k := range map[string]keyed.Kind[int]{
		"group without a name: Name is missing": {},
		"group g: New is missing":               {Name: "g"},
		"must not be below 0":                   {Name: "g", Idle: -1, New: func(int) (node.Actor, error) { return nil, nil }},
		"Options must not set Name, Link, Monitor, An": {Name: "g", Options: node.Options{Name: "x"},
			New: func(int) (node.Actor, error) { return nil, nil }},
	} {
		_, err := keyed.Start(t.Context(), n, k)
		require.ErrorIs(t, err, node.ErrArgument)
		require.ErrorContains(t, err, text)
		require.PanicsWithError(t, err.Error(), func() { keyed.MustNew(k) })
	}
	require.NotNil(t, keyed.MustNew(keyed.Kind[int]{Name: "g", New: func(int) (node.Actor, error) { return nil, nil }}))
}

// A killed process may still be in its handler: the next one starts when that has returned.
func TestHandlerOutlivesItsProcess(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		for name, stuck := range map[string]func(in, out chan bool) node.Actor{
			"Actor": func(in, out chan bool) node.Actor {
				return node.ActorFunc(func(c *node.Context, msg any) error {
					if r, ok := msg.(node.Request[int]); ok {
						return r.Reply(1)
					}
					in <- true
					c.Blocking(func() { <-out })
					return nil
				})
			},
			"ProcessFunc": func(in, out chan bool) node.Actor {
				return node.ProcessFunc(func(p *node.Process) error {
					for {
						if r, ok := p.Receive().(node.Request[int]); ok {
							r.Reply(1)
							continue
						}
						in <- true
						<-out
					}
				})
			},
			"Init": func(in, out chan bool) node.Actor {
				return &initializer{init: func(c *node.Context) error {
					select {
					case in <- true:
						c.Blocking(func() { <-out })
					default: // the second
					}
					return nil
				}}
			},
		} {
			in, out := make(chan bool, 1), make(chan bool)
			g, err := keyed.Start(t.Context(), n, keyed.Kind[string]{Name: node.Atom(name),
				New: func(string) (node.Actor, error) { return stuck(in, out), nil }})
			require.NoError(t, err)
			sent := make(chan error, 2)
			go func() { sent <- keyed.Send(t.Context(), n, g, "k", "get stuck") }()
			synctest.Wait()
			for i := range n.Infos() {
				if p, _ := n.Whereis(node.Atom(name)); i.Parent == p {
					n.Exit(i.PID, node.Kill)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, err = keyed.Call[int](ctx, n, g, "k", 1)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded, name)
			require.Equal(t, 1, g.Stats().Processes, "its code still runs")
			go func() { _, err := keyed.Call[int](t.Context(), n, g, "k", 1); sent <- err }()
			<-in
			close(out)
			for range 2 {
				if err := <-sent; name != "Init" {
					require.NoError(t, err, name)
				}
			}
			n.Exit(node.Atom(name), node.Shutdown)
		}
	})
}

// save is a server that saves its state when it ends, which takes a while.
type saver struct {
	key   string
	saved map[string]int
	live  *atomic.Int32
	sum   int
}

type add struct {
	genserver.Returns[int]
	N int
}

var savers = genserver.Define(genserver.OnCall((*saver).add))

func (s *saver) Init(c *genserver.Context) error {
	c.TrapExit(true)
	if s.live.Add(1) > 1 {
		return errors.New("two at a time")
	}
	s.sum = s.saved[s.key]
	return nil
}

func (s *saver) add(_ *genserver.Context, a add) (int, error) {
	s.sum += a.N
	return s.sum, nil
}

func (s *saver) Terminate(c *genserver.Context, _ any) {
	c.Blocking(func() { time.Sleep(2 * time.Second) })
	s.saved[s.key] = s.sum
	s.live.Add(-1)
}

// A server that is ended for idleness can save its state, and the next one starts after that.
func TestTerminate(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		saved, live := map[string]int{}, new(atomic.Int32)
		g := start(t, n, keyed.Kind[string]{Idle: time.Minute, New: func(key string) (node.Actor, error) {
			return savers.New(&saver{key: key, saved: saved, live: live}), nil
		}})
		for i := range 5 {
			sum, err := keyed.Ask(t.Context(), n, g, "ann", add{N: 1})
			require.NoError(t, err)
			require.Equal(t, i+1, sum)
			if time.Sleep(time.Minute + time.Second); i%2 == 0 { // Terminate runs meanwhile
				time.Sleep(15 * time.Second)
			}
		}
		require.NoError(t, g.End(t.Context(), n, "ann"))
		require.Equal(t, 5, saved["ann"])
		require.EqualValues(t, 0, live.Load())
		require.Zero(t, g.Stats().Crashed)
	})
}

// End ends a process that is busy, or ignores it.
func TestEnd(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		g := start(t, n, keyed.Kind[string]{Shutdown: time.Minute, New: func(key string) (node.Actor, error) {
			if key == "deaf" {
				return slowEnd(10 * time.Minute), nil
			}
			return &counter{}, nil
		}})
		require.NoError(t, g.End(t.Context(), n, "none"))
		_, err := keyed.Call[int](t.Context(), n, g, "deaf", 1)
		require.NoError(t, err)
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		require.ErrorIs(t, g.End(ctx, n, "deaf"), context.DeadlineExceeded, "it goes on without the caller")
		require.NoError(t, g.End(t.Context(), n, "deaf"))
		require.Equal(t, 10*time.Minute, time.Since(began).Truncate(10*time.Second), "its handler has returned")
		failed := make(chan error, 1)
		require.NoError(t, keyed.Send(t.Context(), n, g, "self", func(c *node.Context) error {
			failed <- g.End(c.Context(), c, "self")
			return nil
		}))
		require.ErrorIs(t, <-failed, node.ErrSelfCall)
	})
}

// A process that uses its own key while it starts is told so, instead of waiting for itself.
func TestOwnKey(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		var g *keyed.Group[string]
		g = start(t, n, keyed.Kind[string]{New: func(key string) (node.Actor, error) {
			return &initializer{init: func(c *node.Context) error {
				_, err := keyed.Call[int](c.Context(), c, g, key, 1)
				return err
			}}, nil
		}})
		_, err := keyed.Call[int](t.Context(), n, g, "k", 1)
		require.ErrorIs(t, err, node.ErrSelfCall)
	})
}

// Processes of a group use each other, from their handlers.
func TestEachOther(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		var g *keyed.Group[int]
		g = start(t, n, keyed.Kind[int]{New: func(key int) (node.Actor, error) {
			return node.ActorFunc(func(c *node.Context, msg any) error {
				r := msg.(node.Request[int])
				if key == 100 {
					return r.Reply(key)
				}
				v, err := keyed.Call[int](r.Context(c.Context()), c, g, key+1, 1)
				if err != nil {
					return r.Fail(err)
				}
				return r.Reply(v)
			}), nil
		}})
		v, err := keyed.Call[int](t.Context(), n, g, 0, 1)
		require.NoError(t, err)
		require.Equal(t, 100, v)
	})
}

// When the group's process ends, so do its processes, in bounded time; uses fail.
func TestGroupEnds(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		for _, d := range []time.Duration{0, time.Second, 30 * time.Second} {
			g := start(t, n, keyed.Kind[string]{New: func(string) (node.Actor, error) { return slowEnd(d), nil }})
			_, err := keyed.Call[int](t.Context(), n, g, "k", 1)
			require.NoError(t, err)
			pid, _ := g.Lookup("k")
			began := time.Now()
			n.Exit(node.Atom("group"), node.Shutdown)
			_, err = keyed.Call[int](t.Context(), n, g, "other", 1)
			require.ErrorIs(t, err, keyed.ErrEnded)
			reason, err := node.AwaitExit(t.Context(), n, node.Atom("group"))
			require.NoError(t, err)
			require.Contains(t, []any{node.Shutdown, node.NoProc}, reason)
			require.False(t, n.IsAlive(pid))
			require.LessOrEqual(t, time.Since(began), 5*time.Second)
			_, err = keyed.Call[int](t.Context(), n, g, "k", 1)
			require.ErrorIs(t, err, keyed.ErrEnded)
			time.Sleep(d) // of its last handler
		}
	})
}

// The end of a group is no news for the log.
func TestGroupEndsQuietly(t *testing.T) {
	actortest.InBubble(t, func(t *testing.T, n *node.Node, _ *nodetest.Probe, log *logtest.Text) {
		g := start(t, n, keyed.Kind[string]{New: newCounter, Idle: time.Minute})
		require.NoError(t, keyed.Send(t.Context(), n, g, "k", 1))
		n.Exit(node.Atom("group"), node.Shutdown)
		reason, err := node.AwaitExit(t.Context(), n, node.Atom("group"))
		require.NoError(t, err)
		require.Contains(t, []any{node.Shutdown, node.NoProc}, reason)
		time.Sleep(time.Hour)
		require.Empty(t, log.String())
	})
}

// Below a supervisor a group is there again after a crash, with the same *Group; uses wait for that. The processes have
// ended first.
func TestSupervised(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		var live atomic.Int32
		g, err := keyed.New(keyed.Kind[string]{Name: "group", New: func(key string) (node.Actor, error) {
			saved := map[string]int{}
			return savers.New(&saver{key: key, saved: saved, live: &live}), nil
		}})
		require.NoError(t, err)
		early := make(chan error, 1)
		go func() { _, err := keyed.Ask(t.Context(), n, g, "k", add{N: 1}); early <- err }()
		synctest.Wait()
		sup, err := supervisor.Start(t.Context(), n, supervisor.Spec{Children: []supervisor.Child{g.Child()}}, node.Options{})
		require.NoError(t, err)
		require.NoError(t, <-early)
		for range 3 {
			sum, err := keyed.Ask(t.Context(), n, g, "k", add{N: 1})
			require.NoError(t, err)
			require.NotZero(t, sum)
			pid, _ := g.Lookup("k")
			n.Exit(node.Atom("group"), node.Kill)
			sum, err = keyed.Ask(t.Context(), n, g, "k", add{N: 1})
			require.NoError(t, err)
			require.Equal(t, 1, sum)
			require.False(t, n.IsAlive(pid))
			time.Sleep(10 * time.Second) // within the supervisor's intensity
		}
		l, err := supervisor.WhichChildren(t.Context(), n, node.Atom("group"))
		require.NoError(t, err)
		pid, _ := g.Lookup("k")
		require.Len(t, l, 1)
		require.Equal(t, pid, l[0].PID)
		counts, err := supervisor.CountChildren(t.Context(), n, node.Atom("group"))
		require.NoError(t, err)
		require.Equal(t, supervisor.Counts{Specs: 1, Active: 1, Workers: 1}, counts)
		require.Equal(t, 1, g.Stats().Processes)
		n.Exit(sup, node.Shutdown)
		_, err = node.AwaitExit(t.Context(), n, sup)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = keyed.Ask(ctx, n, g, "k", add{N: 1})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Zero(t, live.Load())
	})
}

// A process that has unlinked itself from the group is noticed when it is used.
func TestUnlinked(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		g := start(t, n, keyed.Kind[string]{New: newCounter})
		require.NoError(t, keyed.Send(t.Context(), n, g, "k", func(c *node.Context) error { c.Unlink(c.Parent()); return nil }))
		require.NoError(t, keyed.Send(t.Context(), n, g, "k", func(c *node.Context) error { return node.ErrStop }))
		synctest.Wait()
		sum, err := keyed.Call[int](t.Context(), n, g, "k", 1)
		require.NoError(t, err)
		require.Equal(t, 1, sum)
	})
}

// A process that has unlinked itself, and traps exits, ends after Shutdown at the latest, though no signal tells of that.
func TestUnlinkedEnds(t *testing.T) {
	for _, ends := range []bool{true, false} {
		bubble(t, func(t *testing.T, n *node.Node) {
			g := start(t, n, keyed.Kind[string]{New: newCounter, Shutdown: time.Minute})
			require.NoError(t, keyed.Send(t.Context(), n, g, "k", func(c *node.Context) error {
				c.Unlink(c.Parent())
				c.TrapExit(true)
				c.BecomeFunc(func(_ *node.Context, msg any) error {
					if ends {
						return node.ErrStop
					}
					return nil
				})
				return nil
			}))
			synctest.Wait()
			began := time.Now()
			require.NoError(t, g.End(t.Context(), n, "k"))
			require.LessOrEqual(t, time.Since(began), time.Minute+time.Second)
			sum, err := keyed.Call[int](t.Context(), n, g, "k", 1)
			require.NoError(t, err)
			require.Equal(t, 1, sum)
		})
	}
}

// A user that is killed while it waits leaves no use behind.
func TestKilledUser(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		release := make(chan bool)
		g := start(t, n, keyed.Kind[string]{Idle: time.Minute, New: func(string) (node.Actor, error) {
			return &initializer{init: func(c *node.Context) error { c.Blocking(func() { <-release }); return nil }}, nil
		}})
		user := func(from node.Caller) { keyed.Call[int](context.Background(), from, g, "k", 1) }
		for _, b := range []node.Actor{
			node.ProcessFunc(func(p *node.Process) error { user(p); return nil }),
			&initializer{init: func(c *node.Context) error { user(c); return nil }},
		} {
			pid, err := n.Spawn(b)
			require.NoError(t, err)
			synctest.Wait()
			n.Exit(pid, node.Kill)
		}
		close(release)
		synctest.Wait()
		require.Equal(t, 1, g.Stats().Processes)
		time.Sleep(2 * time.Minute)
		require.Zero(t, g.Stats().Processes)
	})
}

// Above Memory an eighth of the idle processes ends with each cycle of the collector, those unused for longest.
func TestMemory(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		g := start(t, n, keyed.Kind[int]{Memory: 1, New: func(int) (node.Actor, error) { return &counter{}, nil }})
		for key := range 80 {
			_, err := keyed.Call[int](t.Context(), n, g, key, 1)
			require.NoError(t, err)
		}
		time.Sleep(2500 * time.Millisecond) // the marks are taken
		for key := 70; key < 80; key++ {
			require.NoError(t, keyed.Send(t.Context(), n, g, key, 1))
		}
		for {
			before := g.Stats()
			runtime.GC()
			time.Sleep(2 * time.Second)
			after := g.Stats()
			require.Less(t, after.Processes, before.Processes)
			require.EqualValues(t, before.Processes-after.Processes, after.EndedMemory-before.EndedMemory)
			_, there := g.Lookup(79)
			require.True(t, there || after.Processes == 0)
			if after.Processes == 0 {
				break
			}
		}
	})
}

// A place is given to those that still wait for it, in their order.
func TestLine(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		g := start(t, n, keyed.Kind[int]{Max: 1, Shutdown: time.Hour,
			New: func(int) (node.Actor, error) { return slowEnd(time.Minute), nil }})
		use := func(key int, d time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			_, err := keyed.Call[int](ctx, n, g, key, 1)
			return err
		}
		require.NoError(t, use(0, time.Hour))
		require.ErrorIs(t, use(1, time.Second), context.DeadlineExceeded, "it waits for the end of 0")
		require.ErrorIs(t, use(2, time.Second), keyed.ErrFull)
		again := make(chan error)
		go func() { again <- use(0, time.Hour) }()
		time.Sleep(2 * time.Minute)
		require.ErrorIs(t, <-again, error(nil))
		require.Equal(t, 1, g.Stats().Processes)
		require.NoError(t, use(3, time.Hour))
		waits := make(chan error)
		go func() { waits <- use(4, time.Hour) }()
		synctest.Wait()
		require.NoError(t, g.End(t.Context(), n, 4), "it is not started")
		require.ErrorContains(t, <-waits, "shutdown")
		time.Sleep(2 * time.Minute)
		require.Zero(t, g.Stats().Processes)
	})
}
