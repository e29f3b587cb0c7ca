package tasks_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/tasks"
)

// spin computes for about a time.
func spin(d time.Duration) {
	for begin := time.Now(); d > 0 && time.Since(begin) < d; {
	}
}

func numbers(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

// Map beside errgroup with the same limit, in alternate rounds: the median of the times, and of the ratios.
func BenchmarkMap(b *testing.B) {
	const rounds, items = 11, 5_000
	n := nodetest.Start(b, node.Config{})
	group := func(limit int, work time.Duration) {
		results := make([]int, items)
		var g errgroup.Group
		g.SetLimit(limit)
		for i := range numbers(items) {
			g.Go(func() error {
				spin(work)
				results[i] = i
				return nil
			})
		}
		_ = g.Wait()
	}
	type mapOf func(context.Context, node.Caller, int, iter.Seq[int], func(*node.Process, int) (int, error)) iter.Seq2[int, error]
	run := func(m mapOf, limit int, work time.Duration) {
		for _, err := range m(context.Background(), n, limit, numbers(items), func(_ *node.Process, i int) (int, error) {
			spin(work)
			return i, nil
		}) {
			if err != nil {
				b.Error(err)
			}
		}
	}
	for _, work := range []time.Duration{0, 10 * time.Microsecond} {
		for _, limit := range []int{1, 2, 8, 64} {
			for name, m := range map[string]mapOf{"ordered": tasks.Map[int, int], "unordered": tasks.MapUnordered[int, int]} {
				b.Run(fmt.Sprintf("%s/%v/limit=%d", name, work, limit), func(b *testing.B) {
					for range b.N {
						var ratios, times []float64
						for range rounds {
							begin := time.Now()
							group(limit, work)
							theirs := time.Since(begin)
							begin = time.Now()
							run(m, limit, work)
							ours := time.Since(begin)
							ratios = append(ratios, float64(ours)/float64(theirs))
							times = append(times, float64(ours.Nanoseconds())/items)
						}
						slices.Sort(ratios)
						slices.Sort(times)
						b.ReportMetric(ratios[rounds/2], "of-errgroup")
						b.ReportMetric(times[rounds/2], "ns/item")
					}
				})
			}
		}
	}
}

// A task that is awaited, of a supervisor with and without a limit.
func BenchmarkGo(b *testing.B) {
	for _, limit := range []int{0, 1 << 20} {
		b.Run(fmt.Sprintf("max=%d", limit), func(b *testing.B) {
			n := nodetest.Start(b, node.Config{})
			ctx := context.Background()
			sup, err := tasks.Start(ctx, n, tasks.Options{Max: limit}, node.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := node.Await(ctx, n, tasks.Go(n, sup, func(*node.Process) (int, error) { return 1, nil })); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
