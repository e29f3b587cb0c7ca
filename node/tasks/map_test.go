package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/tasks"
)

// mapOf is the type of Map and of MapUnordered.
type mapOf func(context.Context, node.Caller, int, iter.Seq[int], func(*node.Process, int) (int, error)) iter.Seq2[int, error]

var both = map[string]mapOf{"Map": tasks.Map[int, int], "MapUnordered": tasks.MapUnordered[int, int]}

// each runs a test with Map and with MapUnordered.
func each(t *testing.T, f func(t *testing.T, m mapOf, ordered bool)) {
	for name, m := range both {
		t.Run(name, func(t *testing.T) { f(t, m, name == "Map") })
	}
}

func twice(_ *node.Process, i int) (int, error) { return 2 * i, nil }

// noTasks checks that no process of a task is left, at once.
func noTasks(t *testing.T, n *node.Node) {
	t.Helper()
	for p := range n.Infos() {
		assert.NotEqual(t, "task", p.Label, "%v is left", p.PID)
	}
}

// Every number of items with every limit, from every kind of caller.
func TestMap(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	actortest.EachCaller(t, func(t *testing.T, c actortest.Caller) {
		each(t, func(t *testing.T, m mapOf, ordered bool) {
			c.Do(t, n, func(me node.Caller) {
				for _, items := range []int{0, 1, 2, 100} {
					for _, limit := range []int{-1, 0, 1, 2, 7, math.MaxInt} {
						results := m(t.Context(), me, limit, numbers(items), twice)
						for range 2 { // each loop is one of its own
							got := []int{}
							for v, err := range results {
								assert.NoError(t, err)
								got = append(got, v)
							}
							if !ordered {
								slices.Sort(got)
							}
							want := []int{}
							for i := range items {
								want = append(want, 2*i)
							}
							assert.Equal(t, want, got, "limit %d", limit)
							noTasks(t, n)
						}
					}
				}
			})
		})
	})
}

// The first items take longest: Map keeps the order, MapUnordered does not wait. Both run as many at once as they may, and
// take no more items ahead.
func TestMapOrderAndLimit(t *testing.T) {
	for name, want := range map[string][]int{"Map": {5, 4, 3, 2, 1, 0}, "MapUnordered": {3, 2, 4, 0, 1, 5}} {
		t.Run(name, func(t *testing.T) {
			actortest.InBubble(t, func(t *testing.T, n *node.Node, _ *nodetest.Probe, _ *logtest.Text) {
				taken, yielded, running, most := 0, 0, atomic.Int64{}, atomic.Int64{}
				items := func(yield func(int) bool) {
					for i := 5; i >= 0; i-- {
						taken++
						assert.LessOrEqual(t, taken, yielded+3+1) // one is in the hand of the loop
						if !yield(i) {
							return
						}
					}
				}
				var got []int
				for v, err := range both[name](t.Context(), n, 3, items, func(_ *node.Process, i int) (int, error) {
					most.Store(max(most.Load(), running.Add(1)))
					defer running.Add(-1)
					time.Sleep(time.Duration([]int{1, 5, 7, 30, 40, 50}[i]) * time.Second)
					return i, nil
				}) {
					assert.NoError(t, err)
					got = append(got, v)
					yielded++
				}
				assert.Equal(t, want, got)
				assert.EqualValues(t, 3, most.Load())
			})
		})
	}
}

var errOdd = errors.New("odd")

// fate is what f does with an item, and the check of its error.
type fate struct {
	do    func(p *node.Process, i int) (int, error)
	check func(t *testing.T, err error)
}

func exitOf(t *testing.T, err error) any {
	t.Helper()
	var exit *node.ExitError
	require.ErrorAs(t, err, &exit)
	return exit.Reason
}

func exits(reason any) func(t *testing.T, err error) {
	return func(t *testing.T, err error) { require.Equal(t, reason, exitOf(t, err)) }
}

var fates = []fate{
	{twice, func(t *testing.T, err error) { require.NoError(t, err) }},
	{func(_ *node.Process, i int) (int, error) { time.Sleep(time.Millisecond); return 2 * i, nil },
		func(t *testing.T, err error) { require.NoError(t, err) }},
	{func(*node.Process, int) (int, error) { return 0, errOdd }, func(t *testing.T, err error) { require.Equal(t, errOdd, err) }},
	{func(*node.Process, int) (int, error) { panic(errOdd) }, func(t *testing.T, err error) {
		require.True(t, exitOf(t, err).(*node.Crash).Panic)
		require.ErrorIs(t, err, errOdd)
		require.Contains(t, string(exitOf(t, err).(*node.Crash).Stack), "map_test.go")
	}},
	{func(*node.Process, int) (int, error) { runtime.Goexit(); return 0, nil }, func(t *testing.T, err error) {
		require.True(t, exitOf(t, err).(*node.Crash).Panic)
	}},
	{func(*node.Process, int) (int, error) { return 0, node.ExitWith(node.Normal) }, exits(node.Normal)},
	{func(*node.Process, int) (int, error) { return 0, fmt.Errorf("so: %w", node.ExitWith("why")) }, exits("why")},
	{func(p *node.Process, _ int) (int, error) { p.Exit(p.Self(), "me"); return 0, nil }, exits("me")},
	{func(p *node.Process, _ int) (int, error) { // from outside, and the function goes on
		p.Node().Exit(p.Self(), node.Kill)
		time.Sleep(time.Second)
		return 0, nil
	}, exits(node.Killed)},
	{func(p *node.Process, _ int) (int, error) { p.Node().Exit(p.Self(), "x"); p.Receive(); return 0, nil }, exits("x")},
}

// Random items of every fate, and limits: each item has its own outcome, once, and nothing is left. Some loops are left,
// or their contexts end.
func TestMapModel(t *testing.T) {
	each(t, func(t *testing.T, m mapOf, ordered bool) {
		r := testkit.Rand(t)
		for range testkit.By(50, 200, 2000) {
			actortest.InBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe, _ *logtest.Text) {
				items, limit, leave, cut := r.IntN(50), 1+r.IntN(8), r.IntN(100), r.IntN(100)
				chosen := make([]int, items)
				for i := range chosen {
					chosen[i] = r.IntN(len(fates))
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				type result struct {
					item, value int
					err         error
				}
				called := make([]atomic.Int64, items)
				var outcomes []result
				indexed := tasks.MapUnordered[int, result]
				if ordered {
					indexed = tasks.Map[int, result]
				}
				count := 0
				for v, err := range indexed(ctx, h, limit, numbers(items), func(p *node.Process, i int) (result, error) {
					assert.EqualValues(t, 1, called[i].Add(1))
					v, err := fates[chosen[i]].do(p, i)
					return result{i, v, err}, err
				}) {
					if errors.Is(err, context.Canceled) {
						assert.GreaterOrEqual(t, count, cut)
						break
					}
					if ordered {
						fates[chosen[count]].check(t, err)
					}
					if err == nil {
						assert.Equal(t, 2*v.item, v.value)
						assert.True(t, !ordered || v.item == count)
					}
					outcomes = append(outcomes, result{v.item, v.value, err})
					if count++; count == leave {
						break
					}
					if count == cut {
						cancel()
					}
				}
				if leave > items && cut > items {
					assert.Len(t, outcomes, items)
					good := 0
					for i, o := range outcomes {
						if chosen[i] < 2 {
							good++
						}
						if o.err == nil {
							good--
						}
					}
					assert.Zero(t, good, "items without an error, and those that should have none")
				}
				noTasks(t, n)
				h.ExpectNone()
			})
		}
	})
}

// One item crashes, after another.
func TestMapCrashes(t *testing.T) {
	each(t, func(t *testing.T, m mapOf, _ bool) {
		for limit := 1; limit <= 3; limit++ {
			for k, what := range fates {
				actortest.InBubble(t, func(t *testing.T, n *node.Node, _ *nodetest.Probe, _ *logtest.Text) {
					seen := 0
					for v, err := range m(t.Context(), n, limit, numbers(6), func(p *node.Process, i int) (int, error) {
						if i%2 == 1 {
							return what.do(p, i)
						}
						return 2 * i, nil
					}) {
						seen++
						if err != nil || v%4 != 0 {
							what.check(t, err)
						}
					}
					assert.Equal(t, 6, seen, "fate %d", k)
					noTasks(t, n)
				})
			}
		}
	})
}

// A loop that is left kills what runs, and returns when it has returned.
func TestMapLeft(t *testing.T) {
	each(t, func(t *testing.T, m mapOf, _ bool) {
		actortest.InBubble(t, func(t *testing.T, n *node.Node, _ *nodetest.Probe, _ *logtest.Text) {
			var running atomic.Int64
			begin := time.Now()
			for range m(t.Context(), n, 4, numbers(100), func(p *node.Process, i int) (int, error) {
				running.Add(1)
				defer running.Add(-1)
				if i > 0 {
					<-p.Context().Done()
					time.Sleep(time.Second) // which it takes to tidy up
				}
				return i, nil
			}) {
				break
			}
			assert.Zero(t, running.Load())
			assert.LessOrEqual(t, time.Since(begin), time.Second)
			noTasks(t, n)
		})
	})
}

// The context ends before, during a wait, during the body, and while the items are awaited.
func TestMapContext(t *testing.T) {
	each(t, func(t *testing.T, m mapOf, _ bool) {
		actortest.InBubble(t, func(t *testing.T, n *node.Node, _ *nodetest.Probe, _ *logtest.Text) {
			cause := errors.New("enough")
			wait := func(p *node.Process, _ int) (int, error) { <-p.Context().Done(); return 0, p.Context().Err() }
			errs := func(ctx context.Context, items iter.Seq[int], f func(p *node.Process, i int) (int, error),
				body func()) (all []error) {
				for _, err := range m(ctx, n, 2, items, f) {
					all = append(all, err)
					body()
				}
				noTasks(t, n)
				return all
			}
			nothing := func() {}
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() { time.Sleep(time.Second); cancel(cause) }()
			got := errs(ctx, numbers(10), wait, nothing)
			require.Len(t, got, 1)
			require.ErrorIs(t, got[0], context.Canceled)
			require.ErrorIs(t, got[0], cause)

			require.Len(t, errs(ctx, numbers(10), wait, nothing), 1) // it has ended
			require.Empty(t, errs(ctx, numbers(0), wait, nothing))   // there is nothing that it could end

			ctx, cancel = context.WithCancelCause(t.Context())
			got = errs(ctx, numbers(10), twice, func() { cancel(nil) })
			require.LessOrEqual(t, len(got), 3) // those that were there, and the end
			require.ErrorIs(t, got[len(got)-1], context.Canceled)

			late, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			ended := make(chan time.Time, 1)
			begin := time.Now()
			got = errs(late, func(yield func(int) bool) {
				yield(1)
				time.Sleep(time.Minute)
				yield(2)
			}, func(p *node.Process, _ int) (int, error) {
				<-p.Context().Done()
				ended <- time.Now()
				return 0, nil
			}, nothing)
			require.Len(t, got, 1)
			require.ErrorIs(t, got[0], context.DeadlineExceeded)
			require.Equal(t, time.Second, (<-ended).Sub(begin))
		})
	})
}

// A panic of the items, or of the body, goes to the caller; what runs is killed before.
func TestMapPanics(t *testing.T) {
	each(t, func(t *testing.T, m mapOf, _ bool) {
		actortest.InBubble(t, func(t *testing.T, n *node.Node, _ *nodetest.Probe, _ *logtest.Text) {
			wait := func(p *node.Process, i int) (int, error) {
				if i > 0 {
					<-p.Context().Done()
				}
				return i, nil
			}
			require.PanicsWithValue(t, "no more", func() {
				for range m(t.Context(), n, 3, func(yield func(int) bool) {
					yield(1)
					panic("no more")
				}, wait) {
					t.Error("there is no result")
				}
			})
			noTasks(t, n)
			require.PanicsWithValue(t, "oh", func() {
				for range m(t.Context(), n, 3, numbers(10), wait) {
					panic("oh")
				}
			})
			noTasks(t, n)
		})
	})
}

// A caller that is killed takes the tasks along; one whose code goes on, as that of an Actor, is told.
func TestMapCallerKilled(t *testing.T) {
	each(t, func(t *testing.T, m mapOf, _ bool) {
		for _, s := range actortest.Styles() {
			t.Run(s.Name, func(t *testing.T) {
				actortest.InBubble(t, func(t *testing.T, n *node.Node, h *nodetest.Probe, _ *logtest.Text) {
					var ended, unwound atomic.Int64
					var errs []error
					pid := s.Spawn(t, n, func(self actortest.Self, _ any) error {
						defer unwound.Add(1)
						for _, err := range m(t.Context(), self, 3, numbers(10), func(p *node.Process, _ int) (int, error) {
							<-p.Context().Done()
							ended.Add(1)
							return 0, nil
						}) {
							errs = append(errs, err)
						}
						return nil
					})
					require.NoError(t, h.Send(pid, "go"))
					synctest.Wait()
					h.Exit(pid, node.Kill)
					synctest.Wait()
					require.EqualValues(t, 3, ended.Load())
					require.EqualValues(t, 1, unwound.Load())
					for _, err := range errs {
						require.ErrorIs(t, err, node.ErrExited)
					}
					noTasks(t, n)
				})
			})
		}
	})
}

// The workers are killed while they wait for items, or all at once while they run.
func TestMapWorkersKilled(t *testing.T) {
	each(t, func(t *testing.T, m mapOf, ordered bool) {
		n := nodetest.Start(t, node.Config{Log: (&logtest.Text{}).Logger()})
		killAll := func() {
			for p := range n.Infos() {
				if p.Label == "task" {
					n.Exit(p.PID, node.Kill)
				}
			}
		}
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
					killAll()
					runtime.Gosched()
				}
			}
		}()
		const items = 2000
		called := make([]atomic.Int64, items)
		seen := 0
		for v, err := range m(t.Context(), n, 4, numbers(items), func(_ *node.Process, i int) (int, error) {
			called[i].Add(1)
			runtime.Gosched()
			return i, nil
		}) {
			if err != nil {
				require.Contains(t, []any{node.Killed, node.NoProc}, exitOf(t, err)) // noproc: killed before it had begun
			} else if ordered {
				require.Equal(t, seen, v)
			}
			seen++
		}
		close(stop)
		<-stopped
		require.Equal(t, items, seen)
		for i := range called {
			require.LessOrEqual(t, called[i].Load(), int64(1))
		}
		noTasks(t, n)
	})
}

// Loops within loops, and in many goroutines at once.
func TestMapNested(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	sum := 0
	for v, err := range tasks.Map(t.Context(), n, 4, numbers(20), func(p *node.Process, i int) (int, error) {
		sum := 0
		for v, err := range tasks.MapUnordered(p.Context(), p, 3, numbers(i), twice) {
			sum += v
			if err != nil {
				return 0, err
			}
		}
		return sum, nil
	}) {
		require.NoError(t, err)
		sum += v
	}
	want := 0
	for i := range 20 {
		want += i * (i - 1)
	}
	require.Equal(t, want, sum)
	require.NoError(t, n.Stop())
	for _, err := range tasks.Map(t.Context(), n, 4, numbers(20), twice) {
		require.ErrorIs(t, err, node.ErrNodeStopped)
	}
}
