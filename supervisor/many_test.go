package supervisor_test

import (
	"log/slog"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/supervisor"
)

// childGroup is a supervisor with many children; heard gets a child's PID when it
// has started.
type childGroup struct {
	n     *node.Node
	sup   node.PID
	heard chan node.PID
}

// member is a child of a childGroup.
type member struct{ heard chan<- node.PID }

func (m member) Init(c *node.Context) error {
	m.heard <- c.Self()
	return nil
}

func (member) Receive(_ *node.Context, m any) error { return node.ExitWith(m) }

func newChildGroup(t *testing.T, strategy supervisor.Strategy, size int) (c *childGroup, pids []node.PID) {
	n := nodetest.Start(t, node.Config{Workers: 1, Log: slog.New(slog.DiscardHandler)})
	c = &childGroup{n: n, heard: make(chan node.PID, size)}
	spec := supervisor.Spec{Strategy: strategy, Intensity: 1 << 30, Period: time.Hour}
	start := func(...any) (node.Actor, error) { return member{c.heard}, nil }
	if strategy == supervisor.SimpleOneForOne {
		spec.Children = []supervisor.Child{{ID: atomA, Start: start}}
	} else {
		for i := range size {
			spec.Children = append(spec.Children, supervisor.Child{ID: i, Start: start})
		}
	}
	var err error
	c.sup, err = supervisor.Start(background, n, spec, node.Options{})
	require.NoError(t, err)
	for range size {
		if strategy == supervisor.SimpleOneForOne {
			_, err := supervisor.StartDynamic(background, n, c.sup)
			require.NoError(t, err)
		}
		pids = append(pids, testkit.Receive(t, c.heard))
	}
	return c, pids
}

// restart makes a child crash and waits for the next.
func (c *childGroup) restart(pid node.PID) node.PID {
	_ = c.n.Send(pid, atomB)
	return <-c.heard
}

// mallocs returns how many allocations a crash and restart of the last child takes: the minimum of several series, for
// other code allocates too.
func (c *childGroup) mallocs(pid node.PID) float64 {
	const series, rounds = 4, 500
	for range 200 {
		pid = c.restart(pid)
	}
	best := math.Inf(1)
	for range series {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range rounds {
			pid = c.restart(pid)
		}
		runtime.ReadMemStats(&after)
		best = min(best, float64(after.Mallocs-before.Mallocs)/rounds)
	}
	return best
}

// A crash among many children costs as much as among 10.
func TestManyChildren(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector allocates itself")
	}
	size := testkit.By(10_000, 100_000, 1_000_000)
	for _, strategy := range []supervisor.Strategy{supervisor.OneForOne, supervisor.RestForOne, supervisor.SimpleOneForOne} {
		t.Run(string(strategy), func(t *testing.T) {
			few, pids := newChildGroup(t, strategy, 10)
			want := few.mallocs(pids[9])
			many, pids := newChildGroup(t, strategy, size)
			got := many.mallocs(pids[len(pids)-1])
			t.Logf("%.1f allocations among 10, %.1f among %d", want, got, size)
			assert.InDelta(t, want, got, 3) // numbers above 255, in reports, are allocated
			c, err := supervisor.CountChildren(background, many.n, many.sup)
			require.NoError(t, err)
			assert.Equal(t, size, c.Active)
		})
	}
}

// All of many children die at once and are restarted, and all are stopped: each takes a constant amount of work,
// whatever the number of the others.
func TestManyAtOnce(t *testing.T) {
	size := testkit.By(5000, 50_000, 200_000)
	if testkit.Race {
		size /= 10
	}
	for _, strategy := range []supervisor.Strategy{supervisor.OneForOne, supervisor.OneForAll, supervisor.SimpleOneForOne} {
		t.Run(string(strategy), func(t *testing.T) {
			c, pids := newChildGroup(t, strategy, size)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for _, pid := range pids {
				c.n.Exit(pid, node.Kill)
			}
			for range size {
				<-c.heard
			}
			kids, err := supervisor.WhichChildren(background, c.n, c.sup)
			require.NoError(t, err)
			live := 0
			for _, k := range kids {
				if c.n.IsAlive(k.PID) {
					live++
				}
			}
			assert.Equal(t, size, live)
			self := nodetest.NewProbe(t, c.n)
			ref := self.Monitor(c.sup)
			c.n.Exit(c.sup, node.Shutdown)
			self.ExpectDown(ref)
			assert.Equal(t, 1, c.n.Stats().Processes)
			runtime.ReadMemStats(&after)
			each := (after.TotalAlloc - before.TotalAlloc) / uint64(size)
			t.Logf("%d bytes allocated for each child", each)
			assert.Less(t, each, uint64(16<<10), "it grows with the number of the others")
		})
	}
}
