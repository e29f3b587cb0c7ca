package admin_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/metrics"
	"github.com/actornode/actornode/node/nodetest"
)

// The requests of ps and top, and a scrape, leave the stage to a handler that never ends.
func TestObserversTakeNoStage(t *testing.T) {
	n := nodetest.Start(t, node.Config{Name: "n@127.0.0.1", Workers: 4, Stages: 16, Blocked: time.Hour})
	require.NoError(t, admin.Start(testkit.Context(t), n, admin.Config{}))
	registry := prometheus.NewRegistry()
	require.NoError(t, registry.Register(metrics.New(metrics.Config{Node: n})))
	scrape := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})

	entered, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	pids := map[node.PID]bool{}
	for k, o := range []node.Options{{Place: node.OnStage(7)}, {Place: node.OnStage(8), Coroutine: true}} {
		wait := func() {
			select {
			case entered <- struct{}{}:
			case <-release: // the message behind it
			}
			<-release
		}
		var b node.Actor = node.ActorFunc(func(*node.Context, any) error { wait(); return nil })
		if k == 1 {
			b = node.ProcessFunc(func(p *node.Process) error { p.Receive(); wait(); return nil })
		}
		pid, err := n.SpawnOpt(o, b)
		require.NoError(t, err)
		require.NoError(t, n.Send(pid, "begin"))
		testkit.Receive(t, entered)
		require.NoError(t, n.Send(pid, "behind"))
		pids[pid] = true
	}
	for range 3 {
		for _, q := range []admin.Query{{}, {Sort: "rate", Window: time.Millisecond}} {
			l, err := admin.Processes(testkit.Context(t), n, n.Name(), q)
			require.NoError(t, err)
			seen := 0
			for _, p := range l.Processes {
				if pids[p.PID] {
					seen++
					assert.Equal(t, node.Atom("running"), p.State)
					assert.GreaterOrEqual(t, p.Mailbox, 1)
				}
			}
			assert.Equal(t, len(pids), seen)
		}
		w := httptest.NewRecorder()
		scrape.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		require.Equal(t, 200, w.Code)
		require.Zero(t, n.Stats().Scheduler.DetachedTurns, "handlers that go on without their stage")
	}
}
