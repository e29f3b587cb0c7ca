package keyed_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/keyed"
	"github.com/actornode/actornode/node/nodetest"
)

// A call and a send by key cost little more than by PID. Both are measured alternately, 11 times each; what is reported is the
// medians, in ns, and their ratio.
func BenchmarkBesidePID(b *testing.B) {
	n := nodetest.Start(b, node.Config{})
	h := nodetest.NewProbe(b, n)
	ctx := context.Background()
	keys := make([]string, 1000)
	g := start(b, n, keyed.Kind[string]{New: newCounter, Idle: time.Hour})
	pids := make([]node.PID, len(keys))
	for i := range keys {
		keys[i] = fmt.Sprintf("session-%08d", i)
		require.NoError(b, keyed.Send(ctx, n, g, keys[i], 1))
		pids[i], _ = g.Lookup(keys[i])
	}
	for name, from := range map[string]node.Caller{"handle": h, "node": n} {
		for what, fs := range map[string][2]func(i int) error{
			"call": {
				func(i int) error { _, err := node.Call[int](ctx, from, pids[i], 1); return err },
				func(i int) error { _, err := keyed.Call[int](ctx, from, g, keys[i], 1); return err },
			},
			"send": {
				func(i int) error { return node.Send(from, pids[i], 1) },
				func(i int) error { return keyed.Send(ctx, from, g, keys[i], 1) },
			},
		} {
			b.Run(what+" from "+name, func(b *testing.B) {
				var took [2][]float64
				for b.Loop() {
					for round := range 22 {
						began := time.Now()
						for i := range 20_000 {
							if err := fs[round%2](i * 7 % len(keys)); err != nil {
								b.Fatal(err)
							}
						}
						took[round%2] = append(took[round%2], float64(time.Since(began).Nanoseconds())/20_000)
						node.Call[int](ctx, h, pids[0], 1)
						runtime.Gosched()
					}
				}
				for i := range took {
					slices.Sort(took[i])
				}
				pid, key := took[0][len(took[0])/2], took[1][len(took[1])/2]
				b.ReportMetric(pid, "pid-ns")
				b.ReportMetric(key, "key-ns")
				b.ReportMetric(key/pid, "ratio")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// heap returns the bytes of the heap that are in use.
func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

type quiet struct{}

func (quiet) Receive(*node.Context, any) error { return nil }

// The bytes of an idle process of a group beside those of an Actor that a process has spawned with a link; its key has 16 bytes.
func BenchmarkIdleBytes(b *testing.B) {
	const processes = 100_000
	n := nodetest.Start(b, node.Config{})
	for b.Loop() {
		keys := make([]string, processes)
		for i := range keys {
			keys[i] = fmt.Sprintf("session-%08d", i)
		}
		g := start(b, n, keyed.Kind[string]{Idle: time.Hour, New: func(string) (node.Actor, error) { return quiet{}, nil }})
		before := heap()
		began := time.Now()
		for _, key := range keys {
			require.NoError(b, keyed.Send(b.Context(), n, g, key, 1))
		}
		b.ReportMetric(float64(time.Since(began).Nanoseconds())/processes, "start-ns")
		b.ReportMetric((heap()-before)/processes, "keyed-B")
		n.Exit(node.Atom("group"), node.Shutdown)
		node.AwaitExit(b.Context(), n, node.Atom("group"))
		before = heap()
		pids := make([]node.PID, processes)
		parent, err := n.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			for i := range pids {
				pids[i], _ = c.SpawnOpt(node.Options{Link: true}, quiet{})
			}
			return msg.(node.Request[int]).Reply(1)
		}))
		require.NoError(b, err)
		_, err = node.Call[int](b.Context(), n, parent, 1)
		require.NoError(b, err)
		b.ReportMetric((heap()-before)/processes-16, "actor-B")
		runtime.KeepAlive(keys)
		runtime.KeepAlive(pids)
		n.Exit(parent, node.Kill)
	}
}
