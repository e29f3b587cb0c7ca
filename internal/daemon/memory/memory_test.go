package memory

import (
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/stretchr/testify/require"
)

func TestChoose(t *testing.T) {
	const mib, gib = 1 << 20, 1 << 30
	none := func() (uint64, error) { return 0, memlimit.ErrNoLimit }
	broken := errors.New("broken")
	fails := func() (uint64, error) { return 0, broken }
	for _, c := range []struct {
		name string
		s    source
		want Limit
	}{
		{"configured", source{5, true, 7, memlimit.Limit(9), memlimit.Limit(9)}, Limit{5, "limits.memory", 0, nil}},
		{"environment", source{0, true, 7, memlimit.Limit(9), memlimit.Limit(9)}, Limit{7, "GOMEMLIMIT", 0, nil}},
		{"environment says off", source{0, true, math.MaxInt64, memlimit.Limit(9), memlimit.Limit(9)}, Limit{0, "GOMEMLIMIT", 0, nil}},
		{"cgroup", source{0, false, math.MaxInt64, memlimit.Limit(2000 * mib), memlimit.Limit(16 * gib)}, Limit{1752 * mib, "cgroup", 2000 * mib, nil}},
		{"small cgroup", source{0, false, math.MaxInt64, memlimit.Limit(128 * mib), memlimit.Limit(16 * gib)}, Limit{96 * mib, "cgroup", 128 * mib, nil}},
		{"tiny cgroup", source{0, false, math.MaxInt64, memlimit.Limit(16 * mib), memlimit.Limit(16 * gib)}, Limit{12 * mib, "cgroup", 16 * mib, nil}},
		{"cgroup beyond the machine", source{0, false, math.MaxInt64, memlimit.Limit(64 * gib), memlimit.Limit(1000 * mib)}, Limit{850 * mib, "machine", 1000 * mib, nil}},
		{"no cgroup", source{0, false, math.MaxInt64, none, memlimit.Limit(1000 * mib)}, Limit{850 * mib, "machine", 1000 * mib, nil}},
		{"cgroup cannot be read", source{0, false, math.MaxInt64, fails, memlimit.Limit(1000 * mib)}, Limit{850 * mib, "machine", 1000 * mib, broken}},
		{"machine unknown", source{0, false, math.MaxInt64, memlimit.Limit(1000 * mib), fails}, Limit{852 * mib, "cgroup", 1000 * mib, broken}},
		{"nothing known", source{0, false, math.MaxInt64, none, func() (uint64, error) { return 0, nil }}, Limit{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.s.choose()
			if c.want.Err != nil {
				require.ErrorIs(t, got.Err, c.want.Err)
				got.Err, c.want.Err = nil, nil
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestGaugeHasTwoThresholds(t *testing.T) {
	g := NewGauge(1000)
	for i, c := range []struct {
		used           int64
		short, changed bool
	}{
		{0, false, false}, {849, false, false}, {850, true, true}, {2000, true, false}, {751, true, false}, {750, true, false},
		{749, false, true}, {800, false, false}, {850, true, true},
	} {
		short, changed := g.step(c.used)
		require.Equal(t, c.short, short, i)
		require.Equal(t, c.changed, changed, i)
		require.Equal(t, c.used, g.Used())
	}
}

// Live memory counts; and when it is gone the gauge notices, though nothing is allocated.
func TestGaugeSeesWhatLives(t *testing.T) {
	const size = 64 << 20
	runtime.GC() // garbage of other tests
	g := NewGauge(size)
	now := time.Unix(1000, 0)
	short, _ := g.Read(now)
	require.False(t, short, "%d", g.Used())
	held := make([][]byte, size>>20)
	for i := range held {
		held[i] = make([]byte, 1<<20)
	}
	runtime.GC()
	short, changed := g.Read(now)
	require.True(t, short)
	require.True(t, changed)
	require.GreaterOrEqual(t, g.Used(), int64(size))
	clear(held)
	for range 3 { // a collection that runs anyway refreshes the value, but may have begun before
		now = now.Add(staleAfter)
		short, changed = g.Read(now)
		if changed {
			break
		}
	}
	require.False(t, short, "%d", g.Used())
	runtime.KeepAlive(held)
}

// The gauge sees memory grow while it grows, though the collector would run only at several times the size that it
// found the last time.
func TestGaugeFollowsGrowth(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no collection by itself
	runtime.GC()
	g := NewGauge(1)
	was, _ := g.read()
	g = NewGauge(was + 100<<20)
	now := time.Now()
	g.Read(now)
	var live [][]byte
	for range 90 {
		live = append(live, make([]byte, 1<<20))
	}
	g.Read(now.Add(maybeLeast / 2))
	require.Less(t, g.Used(), was+50<<20, "not so soon")
	short, _ := g.Read(now.Add(time.Hour))
	require.Greater(t, g.Used(), was+80<<20)
	require.True(t, short)
	runtime.KeepAlive(live)
	live = nil
	short, _ = g.Read(now.Add(2 * time.Hour))
	require.False(t, short)
	cycles := g.cycles
	g.Read(now.Add(3 * time.Hour))
	require.Equal(t, cycles, g.cycles, "there is no need to collect")
}
