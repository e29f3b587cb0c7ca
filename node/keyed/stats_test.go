package keyed_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/keyed"
)

// series returns what the node shows of the group, by metric and cause.
func series(n *node.Node) map[string]int {
	all := make(map[string]int)
	for _, name := range []string{"keyed_processes", "keyed_waiting", "keyed_started", "keyed_ended", "keyed_refused"} {
		for _, c := range n.Inside(process.Key{}).Counts(name) {
			if len(c.Labels) > 1 {
				name = "keyed_" + c.Labels[1]
			}
			if c.N > 0 {
				all[name] = int(c.N)
			}
		}
	}
	return all
}

// The node shows each end of a process under one cause, and the uses that wait.
func TestSeries(t *testing.T) {
	bubble(t, func(t *testing.T, n *node.Node) {
		ctx := t.Context()
		slow := make(chan bool)
		g := start(t, n, keyed.Kind[string]{Max: 3, Idle: time.Hour, New: func(key string) (node.Actor, error) {
			if key != "slow" {
				return &counter{}, nil
			}
			return &initializer{init: func(c *node.Context) error { c.Blocking(func() { <-slow }); return nil }}, nil
		}})
		require.Empty(t, series(n))
		for _, key := range []string{"a", "b", "c", "d"} {
			_, err := keyed.Call[int](ctx, n, g, key, 1)
			require.NoError(t, err)
		}
		require.NoError(t, keyed.Send(ctx, n, g, "d", "crash"))
		require.NoError(t, g.End(ctx, n, "c"))
		synctest.Wait()
		require.Equal(t, map[string]int{"keyed_processes": 1, "keyed_started": 4, "keyed_max": 1, "keyed_crashed": 1,
			"keyed_stopped": 1}, series(n))
		for range 2 {
			go keyed.Send(ctx, n, g, "slow", 1)
		}
		synctest.Wait()
		require.Equal(t, 2, series(n)["keyed_waiting"])
		require.Equal(t, 2, g.Stats().Waiting)
		close(slow)
		time.Sleep(2 * time.Hour)
		require.Equal(t, map[string]int{"keyed_started": 5, "keyed_max": 1, "keyed_crashed": 1, "keyed_stopped": 1,
			"keyed_idle": 2}, series(n))
	})
}
