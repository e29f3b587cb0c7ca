package stage_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

// A neighbour answers calls while 200 handlers of its only stage sleep 100 ms each, again and again: with Blocking, and
// without. It reports the 99th percentile of the answers, and the worst.
func BenchmarkNeighbourOfBlocking(b *testing.B) {
	for _, says := range []bool{true, false} {
		b.Run(map[bool]string{true: "blocking", false: "silent"}[says], func(b *testing.B) {
			n := nodetest.Start(b, node.Config{Stages: 1})
			neighbour := actortest.Actor.Spawn(b, n, parrot)
			for range 200 {
				pid := actortest.Actor.Spawn(b, n, func(c actortest.Self, m any) error {
					nap := func() { time.Sleep(100 * time.Millisecond) }
					if says {
						c.Blocking(nap)
					} else {
						nap()
					}
					return c.Send(c.Self(), m)
				})
				require.NoError(b, n.Send(pid, "again"))
			}
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				_, err := node.Call[int](context.Background(), n, neighbour, 1)
				took = append(took, time.Since(began))
				require.NoError(b, err)
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)*99/100].Seconds()*1000, "p99-ms")
			b.ReportMetric(took[len(took)-1].Seconds()*1000, "max-ms")
		})
	}
}
