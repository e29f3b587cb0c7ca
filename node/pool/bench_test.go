package pool_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/pool"
)

// What a message to a pool takes beside one to a worker, in alternate rounds: the median of the ratios. flood sends all
// messages at once, calls waits for each answer.
func BenchmarkHandOver(b *testing.B) {
	const rounds, messages = 11, 20_000
	for _, route := range []string{"busy", "turn"} {
		for _, workers := range []int{1, 2, 8} {
			n := nodetest.Start(b, node.Config{})
			var handled atomic.Int64
			done := make(chan struct{}, 1)
			work := node.ActorFunc(func(c *node.Context, msg any) error {
				if r, ok := msg.(node.Request[int]); ok {
					return r.Reply(r.Body)
				}
				if handled.Add(1)%messages == 0 {
					done <- struct{}{}
				}
				return nil
			})
			o := pool.Options{Workers: workers, New: func() node.Actor { return work }}
			if route == "turn" {
				o.Route = pool.RoundRobin()
			}
			p, err := pool.Start(b.Context(), n, o)
			require.NoError(b, err)
			alone, err := n.Spawn(work)
			require.NoError(b, err)
			flood := func(to node.PID) time.Duration {
				begin := time.Now()
				for i := range messages {
					if n.Send(to, i) != nil {
						b.Fatal()
					}
				}
				<-done
				return time.Since(begin)
			}
			calls := func(to node.PID) time.Duration {
				begin := time.Now()
				for i := range messages / 10 {
					if _, err := node.Call[int](b.Context(), n, to, i); err != nil {
						b.Fatal(err)
					}
				}
				return time.Since(begin)
			}
			for kind, run := range map[string]func(node.PID) time.Duration{"flood": flood, "calls": calls} {
				b.Run(fmt.Sprintf("%s/%s/workers=%d", route, kind, workers), func(b *testing.B) {
					for range b.N {
						var ratios []float64
						var direct time.Duration
						for range rounds {
							direct = run(alone)
							ratios = append(ratios, float64(run(p.PID()))/float64(direct))
						}
						slices.Sort(ratios)
						b.ReportMetric(ratios[rounds/2], "of-a-send")
						b.ReportMetric(float64(direct.Nanoseconds())/messages, "ns-direct")
					}
				})
			}
		}
	}
}
