package node_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/supervisor"
)

// chain is a request to call the next process of a path, and so on to its end. by says how each calls: Call, or the
// Await of a future.
type chain struct {
	path  []node.PID
	await bool
}

// follow is a step that answers a chain with its result: the number of processes that it has reached, or the error.
func follow(h actortest.Self, m any) error {
	r, ok := m.(node.Request[chain])
	if !ok {
		return nil
	}
	if len(r.Body.path) == 0 {
		return r.Reply(1)
	}
	next := chain{r.Body.path[1:], r.Body.await}
	var count int
	var err error
	if next.await {
		count, err = node.Await(context.Background(), h, node.Async[int](h, r.Body.path[0], next))
	} else {
		count, err = node.Call[int](context.Background(), h, r.Body.path[0], next)
	}
	if err != nil {
		return r.Fail(err)
	}
	return r.Reply(count + 1)
}

// The call that closes a cycle fails at once and names the cycle, in each style of process, whichever style the others
// have, and everything goes on afterwards. Without the option it waits.
func TestDetectCycles(t *testing.T) {
	for _, s := range styles {
		for _, other := range styles {
			for _, await := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s await=%v", s.Name, other.Name, await), func(t *testing.T) {
					n := nodetest.Start(t, node.Config{DetectCycles: true})
					s.Options.Name, other.Options.Name = "a", "b"
					a := s.Spawn(t, n, follow)
					b := other.Spawn(t, n, follow)
					c := node.PID{}
					{
						s := s
						s.Options.Name = ""
						c = s.Spawn(t, n, follow)
					}
					verb := " calls "
					if await {
						verb = " awaits a future of "
					}
					// closed checks the text of the cycle. The last process of the path closes it, as each call is
					// noted before it is sent; the requests of futures are sent before anybody waits for them.
					closed := func(err error, names ...string) {
						t.Helper()
						full := map[string]string{"a": fmt.Sprintf("a (%v)", a), "b": fmt.Sprintf("b (%v)", b), c.String(): c.String()}
						var texts []string
						for i := range names {
							text := ""
							for k := range names {
								text += full[names[(i+k)%len(names)]] + verb
							}
							texts = append(texts, ": "+text+names[i])
						}
						if !await {
							texts = texts[len(texts)-1:]
						}
						require.True(t, slices.ContainsFunc(texts, func(text string) bool {
							return err != nil && strings.HasSuffix(err.Error(), text)
						}), "%v: want one of %q", err, texts)
					}
					for range 3 {
						_, err := node.Call[int](testkit.Context(t), n, a, chain{[]node.PID{b, a}, await})
						require.ErrorIs(t, err, node.ErrCycle)
						closed(err, "a", "b")
						_, err = node.Call[int](testkit.Context(t), n, c, chain{[]node.PID{a, b, c}, await})
						closed(err, c.String(), "a", "b")
						count, err := node.Call[int](testkit.Context(t), n, a, chain{[]node.PID{b, c}, await})
						require.NoError(t, err)
						require.Equal(t, 3, count)
					}
					if await { // of what it has asked of itself
						_, err := node.Call[int](testkit.Context(t), n, a, chain{[]node.PID{a}, await})
						require.ErrorIs(t, err, node.ErrCycle)
					}
					testkit.UntilTrue(t, func() bool { return node.NotedWaits(n) == 0 }, "nobody is noted")
				})
			}
		}
	}
}

func TestCyclesAreNotDetectedByDefault(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	a := actortest.Actor.Spawn(t, n, follow)
	b := actortest.Process.Spawn(t, n, follow)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() {
		_, err := node.Call[int](ctx, n, a, chain{[]node.PID{b, a}, false})
		over <- err
	}()
	testkit.UntilTrue(t, func() bool {
		i, _ := n.Info(a)
		j, _ := n.Info(b)
		return i.Wait.On == node.Dest(b) && j.Wait.On == node.Dest(a)
	}, "they wait for each other")
	cancel()
	require.ErrorIs(t, testkit.Receive(t, over), context.Canceled)
	n.Exit(a, node.Kill)
	n.Exit(b, node.Kill)
}

// Processes that call at random call each other in cycles all the time. None waits for ever; and a call along a path
// that only goes upward, which cannot close a cycle, is never refused.
func TestDetectCyclesAtRandom(t *testing.T) {
	r := testkit.Rand(t)
	n := nodetest.Start(t, node.Config{DetectCycles: true})
	var up, all []node.PID
	for i := range 12 {
		s := styles[i%len(styles)]
		up = append(up, s.Spawn(t, n, follow))
		all = append(all, s.Spawn(t, n, follow))
	}
	var refused, done atomic.Int64
	var callers sync.WaitGroup
	for range 8 {
		seed := r.Uint64()
		callers.Go(func() {
			r := rand.New(rand.NewPCG(seed, 0))
			for range 150 {
				path := make([]node.PID, 1+r.IntN(5))
				upward := r.IntN(2) == 0
				at := 0
				for i := range path {
					if upward {
						at += 1 + r.IntN(2)
						path[i] = up[at]
					} else {
						path[i] = all[r.IntN(len(all))]
					}
				}
				ctx, cancel := context.WithTimeout(context.Background(), testkit.Limit)
				_, err := node.Call[int](ctx, n, path[0], chain{path[1:], r.IntN(2) == 0})
				cancel()
				switch {
				case err == nil:
					done.Add(1)
				case upward:
					t.Errorf("a call that closes no cycle: %v", err)
				case errors.Is(err, node.ErrCycle), errors.Is(err, node.ErrSelfCall):
					refused.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	assert.NotZero(t, done.Load())
	assert.NotZero(t, refused.Load())
	testkit.UntilTrue(t, func() bool { return node.NotedWaits(n) == 0 }, "nobody is noted")
}

// Two processes call each other at the same time: at least one call is refused, and the other gets the answer of the
// refused process, or both are refused.
func TestDetectCyclesOfTwoAtOnce(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{DetectCycles: true})
		for range 50 {
			var barrier sync.WaitGroup
			barrier.Add(2)
			type result struct {
				v   int
				err error
			}
			results := make(chan result, 2)
			b := s
			step := func(h actortest.Self, m any) error {
				switch m := m.(type) {
				case node.PID:
					barrier.Done()
					barrier.Wait()
					v, err := node.Call[int](context.Background(), h, m, 1)
					results <- result{v, err}
				case node.Request[int]:
					return m.Reply(m.Body)
				}
				return nil
			}
			one, two := s.Spawn(t, n, step), b.Spawn(t, n, step)
			require.NoError(t, n.Send(one, two))
			require.NoError(t, n.Send(two, one))
			refused := 0
			for range 2 {
				r := testkit.Receive(t, results)
				if r.err != nil {
					require.ErrorIs(t, r.err, node.ErrCycle)
					refused++
				} else {
					require.Equal(t, 1, r.v)
				}
			}
			require.LessOrEqual(t, refused, 1, "the first is not refused")
			n.Exit(one, node.Kill)
			n.Exit(two, node.Kill)
		}
	})
}

// A call that is over does not count, however it has ended.
func TestCallThatIsOverClosesNoCycle(t *testing.T) {
	n := nodetest.Start(t, node.Config{DetectCycles: true})
	silent := actortest.Actor.Spawn(t, n, func(h actortest.Self, m any) error {
		if to, ok := m.(node.PID); ok {
			_, err := node.Call[int](testkit.Context(t), h, to, chain{})
			h.Send(to, err == nil)
		}
		return nil
	})
	answers := make(chan any, 1)
	for _, s := range actortest.BlockingStyles() {
		caller := s.Spawn(t, n, func(h actortest.Self, m any) error {
			switch m := m.(type) {
			case string:
				ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
				defer cancel()
				_, err := node.Call[int](ctx, h, silent, 1)
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				h.Send(silent, h.Self())
			case bool:
				answers <- m
			default:
				return follow(h, m)
			}
			return nil
		})
		require.NoError(t, n.Send(caller, "go"))
		assert.Equal(t, true, testkit.Receive(t, answers))
	}
}

// otherCycles are two processes that would wait for each other, one of them in something other than a call. That one is
// a, which does what first says; then b calls a.
var otherCycles = []struct {
	name, verb, shown string
	wait              func(h actortest.Self, b node.PID) error
}{
	{"AwaitExit", "awaits the exit of", "exit", func(h actortest.Self, b node.PID) error {
		_, err := node.AwaitExit(context.Background(), h, b)
		return err
	}},
	{"Send", "waits for space in the mailbox of", "space", func(h actortest.Self, b node.PID) error { return h.Send(b, "more") }},
	{"Deliver", "waits for space in the mailbox of", "space", func(h actortest.Self, b node.PID) error {
		return node.Deliver(context.Background(), h, b, "more")
	}},
	{"SendRequest", "waits for space in the mailbox of", "space", func(h actortest.Self, b node.PID) error {
		node.SendRequest(h, b, "tag", 1)
		return nil // it is in the Result
	}},
}

// A wait that closes a cycle fails, whichever comes last, in each style; then both processes go on.
func TestDetectOtherCycles(t *testing.T) {
	for _, s := range styles {
		for _, c := range otherCycles {
			for _, callLast := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s %s call last=%v", s.Name, c.name, callLast), func(t *testing.T) {
					n := nodetest.Start(t, node.Config{DetectCycles: true})
					errs := make(chan error, 2)
					entered, call := make(chan struct{}), make(chan struct{})
					var a, b node.PID
					a = s.Spawn(t, n, func(h actortest.Self, m any) error {
						switch m := m.(type) {
						case string:
							errs <- c.wait(h, b)
						case node.Request[int]:
							if !callLast {
								err := c.wait(h, b)
								if err == nil {
									return m.Reply(0) // SendRequest
								}
								return m.Fail(err)
							}
							return m.Reply(7)
						case node.Result:
							errs <- m.Err
						}
						return nil
					})
					other := s
					other.Options.Bounds = mailbox.Bounds{Messages: 2, Policy: mailbox.Block}
					b = other.Spawn(t, n, func(h actortest.Self, m any) error {
						if m == "enter" {
							close(entered)
							<-call
							v, err := node.Call[int](context.Background(), h, a, 1)
							if err == nil && v != 7 && v != 0 {
								err = fmt.Errorf("got %d", v)
							}
							errs <- err
						}
						return nil
					})
					require.NoError(t, n.Send(b, "enter"))
					testkit.Receive(t, entered)
					for n.SendOpt(node.SendOptions{NoWait: true}, b, "fill") == nil { // until it is full
					}
					if callLast {
						require.NoError(t, n.Send(a, "wait"))
						testkit.UntilTrue(t, func() bool {
							i, err := n.Info(a)
							return err == nil && i.Wait.For == c.shown && node.NotedWaits(n) == 1
						}, "a waits")
					}
					close(call)
					err := testkit.Receive(t, errs)
					if c.name == "SendRequest" && err == nil {
						err = testkit.Receive(t, errs)
					}
					require.ErrorIs(t, err, node.ErrCycle)
					text := fmt.Sprintf("%v calls %v %s %v", b, a, c.verb, b)
					if !callLast {
						text = fmt.Sprintf("%v %s %v calls %v", a, c.verb, b, a)
					}
					require.ErrorContains(t, err, text)
					n.Exit(b, node.Kill)
					testkit.UntilTrue(t, func() bool { return node.NotedWaits(n) == 0 }, "nobody is noted")
				})
			}
		}
	}
}

// A process that waits for itself, or for a process that it is starting, is a cycle.
func TestDetectCyclesOfOne(t *testing.T) {
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		n := nodetest.Start(t, node.Config{DetectCycles: true})
		errs := make(chan error, 4)
		s.Options.Bounds = mailbox.Bounds{Messages: 1, Policy: mailbox.Block}
		pid := s.Spawn(t, n, func(h actortest.Self, m any) error {
			if m != "go" {
				return nil
			}
			_, err := node.AwaitExit(context.Background(), h, h.Self())
			errs <- err
			for err = nil; err == nil; err = h.Send(h.Self(), 1) { // until its mailbox is full
			}
			errs <- err
			_, err = node.SpawnWait(context.Background(), h, node.Options{}, initCalls{h.Self()})
			errs <- err
			return nil
		})
		require.NoError(t, n.Send(pid, "go"))
		require.ErrorIs(t, testkit.Receive(t, errs), node.ErrSelfCall)
		require.ErrorIs(t, testkit.Receive(t, errs), node.ErrMailboxFull)
		err := testkit.Receive(t, errs)
		require.ErrorContains(t, err, node.ErrCycle.Error()) // the exit reason of the process that does not start
		require.ErrorContains(t, err, pid.String()+" awaits the start of")
		testkit.UntilTrue(t, func() bool { return node.NotedWaits(n) == 0 }, "nobody is noted")
	})
}

// initCalls calls a process when it starts.
type initCalls struct{ to node.PID }

func (i initCalls) Init(c *node.Context) error {
	_, err := node.Call[int](context.Background(), c, i.to, 1)
	return err
}

func (initCalls) Receive(*node.Context, any) error { return nil }

// Processes that send to each other at random, most with a full mailbox, form cycles all the time. None waits for ever;
// and a send that only goes upward is never refused.
func TestDetectCyclesOfSendsAtRandom(t *testing.T) {
	r := testkit.Rand(t)
	n := nodetest.Start(t, node.Config{DetectCycles: true})
	type hop struct {
		path   []node.PID
		upward bool
	}
	var refused atomic.Int64
	over := make(chan struct{}, 4096)
	step := func(h actortest.Self, m any) error {
		hop := m.(hop)
		if len(hop.path) == 0 {
			over <- struct{}{}
			return nil
		}
		to := hop.path[0]
		hop.path = hop.path[1:]
		if err := h.Send(to, hop); err != nil {
			if !errors.Is(err, node.ErrCycle) && to != h.Self() || hop.upward {
				t.Errorf("upward %v: %v", hop.upward, err)
			}
			refused.Add(1)
			over <- struct{}{}
		}
		return nil
	}
	var up, all []node.PID
	for i := range 12 {
		s := styles[i%len(styles)]
		s.Options.Bounds = mailbox.Bounds{Messages: 1 + r.IntN(2), Policy: mailbox.Block}
		up = append(up, s.Spawn(t, n, step))
		all = append(all, s.Spawn(t, n, step))
	}
	const senders, each = 8, 100
	var senderSeeds [senders]uint64
	for i := range senderSeeds {
		senderSeeds[i] = r.Uint64()
	}
	for _, seed := range senderSeeds {
		go func() {
			r := rand.New(rand.NewPCG(seed, 0))
			for range each {
				hop := hop{make([]node.PID, 1+r.IntN(5)), r.IntN(2) == 0}
				at := 0
				for i := range hop.path {
					if hop.upward {
						at += 1 + r.IntN(2)
						hop.path[i] = up[at]
					} else {
						hop.path[i] = all[r.IntN(len(all))]
					}
				}
				to := hop.path[0]
				hop.path = hop.path[1:]
				if err := n.Send(to, hop); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for range senders * each {
		testkit.Receive(t, over)
	}
	assert.NotZero(t, refused.Load())
	testkit.UntilTrue(t, func() bool { return node.NotedWaits(n) == 0 }, "nobody is noted")
}

// A child whose Init calls its supervisor, or the process that asked for its start, waits for itself; one that calls
// another process does not.
func TestDetectCyclesOfStarts(t *testing.T) {
	n := nodetest.Start(t, node.Config{DetectCycles: true})
	top, err := supervisor.Start(testkit.Context(t), n, supervisor.Spec{}, node.Options{Name: "top"})
	require.NoError(t, err)
	child := func(to node.Dest) (supervisor.Child, chan error) {
		errs := make(chan error, 1)
		return supervisor.Child{ID: "child", Start: func(...any) (node.Actor, error) {
			return initAsks{to, errs}, nil
		}}, errs
	}
	asked := func(spec supervisor.Child, from node.Caller, errs chan error, names ...string) {
		t.Helper()
		_, err := supervisor.StartChild(testkit.Context(t), from, top, spec)
		require.ErrorIs(t, err, node.ErrCycle)
		require.ErrorIs(t, testkit.Receive(t, errs), node.ErrCycle)
		for _, name := range names {
			require.ErrorContains(t, err, name)
		}
		require.Zero(t, node.NotedWaits(n), "nobody waits any more")
	}
	spec, errs := child(top)
	asked(spec, n, errs, "calls top", "top ("+top.String()+") awaits the start of")

	by := nodetest.NewProbe(t, n)
	spec, errs = child(by.Self())
	asked(spec, by, errs, by.Self().String()+" calls top", "awaits the start of")

	other, err := n.Spawn(node.ActorFunc(func(_ *node.Context, m any) error { return m.(node.Request[int]).Reply(1) }))
	require.NoError(t, err)
	spec, errs = child(other)
	_, err = supervisor.StartChild(testkit.Context(t), n, top, spec) // its Init closes no cycle
	require.NoError(t, err)
	require.NoError(t, testkit.Receive(t, errs))
	require.Zero(t, node.NotedWaits(n))
}

// initAsks calls a process when it starts, and reports the result.
type initAsks struct {
	to  node.Dest
	was chan error
}

func (i initAsks) Init(c *node.Context) error {
	_, err := node.Call[int](context.Background(), c, i.to, 1)
	i.was <- err
	return err
}

func (initAsks) Receive(*node.Context, any) error { return nil }
