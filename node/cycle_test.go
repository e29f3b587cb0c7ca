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

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/randtest"
	"github.com/actornode/actornode/node"
)

// chain is a request to call the next of a path, and so on to its end. How each calls says by: Call, or
// the Await of a future.
type chain struct {
	path  []node.PID
	await bool
}

// follow is a step that answers a chain with what comes of it: the number of processes that it has
// reached, or the error.
func follow(h host, m any) error {
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

// The call that closes a cycle fails at once with the cycle, in each style of process, whichever style
// the others have, and everything goes on afterwards. Without the option it waits.
func TestDetectCycles(t *testing.T) {
	for _, s := range allWays {
		for _, other := range allWays {
			for _, await := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s await=%v", s.name, other.name, await), func(t *testing.T) {
					n := startNode(t, node.Config{DetectCycles: true})
					s.options.Name, other.options.Name = "a", "b"
					a := s.spawn(t, n, follow)
					b := other.spawn(t, n, follow)
					c := node.PID{}
					{
						s := s
						s.options.Name = ""
						c = s.spawn(t, n, follow)
					}
					verb := " calls "
					if await {
						verb = " awaits a future of "
					}
					// closed checks the text of the cycle. The last of the path closes it, as each call is noted
					// before it is sent; the requests of futures are sent before anybody waits for them.
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
						_, err := node.Call[int](soon(t), n, a, chain{[]node.PID{b, a}, await})
						require.ErrorIs(t, err, node.ErrCycle)
						closed(err, "a", "b")
						_, err = node.Call[int](soon(t), n, c, chain{[]node.PID{a, b, c}, await})
						closed(err, c.String(), "a", "b")
						count, err := node.Call[int](soon(t), n, a, chain{[]node.PID{b, c}, await})
						require.NoError(t, err)
						require.Equal(t, 3, count)
					}
					if await { // of what it has asked of itself
						_, err := node.Call[int](soon(t), n, a, chain{[]node.PID{a}, await})
						require.ErrorIs(t, err, node.ErrCycle)
					}
					eventually(t, "nobody is noted", func() bool { return node.NotedWaits(n) == 0 })
				})
			}
		}
	}
}

func TestCyclesAreNotDetectedByDefault(t *testing.T) {
	n := startNode(t, node.Config{})
	a := allWays[0].spawn(t, n, follow)
	b := allWays[1].spawn(t, n, follow)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() {
		_, err := node.Call[int](ctx, n, a, chain{[]node.PID{b, a}, false})
		over <- err
	}()
	eventually(t, "they wait for each other", func() bool {
		i, _ := n.Info(a)
		j, _ := n.Info(b)
		return i.Wait.On == node.Dest(b) && j.Wait.On == node.Dest(a)
	})
	cancel()
	require.ErrorIs(t, nodetest.Arrival(t, over), context.Canceled)
	n.Exit(a, node.Kill)
	n.Exit(b, node.Kill)
}

// Processes that call at random call each other in cycles all the time. None waits for ever; and a
// call along a path that only goes upward, as no cycle does, is never refused.
func TestDetectCyclesAtRandom(t *testing.T) {
	r := randtest.New(t)
	n := startNode(t, node.Config{DetectCycles: true})
	var up, all []node.PID
	for i := range 12 {
		s := allWays[i%len(allWays)]
		up = append(up, s.spawn(t, n, follow))
		all = append(all, s.spawn(t, n, follow))
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
				ctx, cancel := context.WithTimeout(context.Background(), limit)
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
	eventually(t, "nobody is noted", func() bool { return node.NotedWaits(n) == 0 })
}

// Two that call each other at the same time: at least one is refused, and what the other gets is the
// answer of the first, or they are both refused.
func TestDetectCyclesOfTwoAtOnce(t *testing.T) {
	eachWay(t, func(t *testing.T, s way) {
		n := startNode(t, node.Config{DetectCycles: true})
		for range 50 {
			var barrier sync.WaitGroup
			barrier.Add(2)
			type result struct {
				v   int
				err error
			}
			results := make(chan result, 2)
			b := s
			step := func(h host, m any) error {
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
			one, two := s.spawn(t, n, step), b.spawn(t, n, step)
			require.NoError(t, n.Send(one, two))
			require.NoError(t, n.Send(two, one))
			refused := 0
			for range 2 {
				r := nodetest.Arrival(t, results)
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
	n := startNode(t, node.Config{DetectCycles: true})
	silent := allWays[0].spawn(t, n, func(h host, m any) error {
		if to, ok := m.(node.PID); ok {
			_, err := node.Call[int](soon(t), h, to, chain{})
			h.Send(to, err == nil)
		}
		return nil
	})
	answers := make(chan any, 1)
	for _, s := range blocking {
		caller := s.spawn(t, n, func(h host, m any) error {
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
		assert.Equal(t, true, nodetest.Arrival(t, answers))
	}
}
