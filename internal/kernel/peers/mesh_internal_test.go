package peers

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newTestMesher(me wire.Atom, cfg MeshConfig, chance func() float64) *Mesher {
	cfg.Interval = cmp.Or(cfg.Interval, 10*time.Second)
	cfg.Dials = cmp.Or(cfg.Dials, 16)
	cfg.Backoff = cmp.Or(cfg.Backoff, time.Minute)
	cfg.Yield = cmp.Or(cfg.Yield, 2*time.Second)
	return NewMesher(me, cfg, chance)
}

func manyNames(n int) (all []wire.Atom) {
	for i := range n {
		all = append(all, wire.Atom(fmt.Sprintf("n%04d@h", i)))
	}
	return all
}

// Of two nodes the smaller one dials at once, the greater one later.
func TestMesherYields(t *testing.T) {
	m := newTestMesher("m@h", MeshConfig{Yield: 2 * time.Second}, func() float64 { return 0 })
	m.List([]wire.Atom{"a@h", "m@h", "z@h"})
	up := map[wire.Atom]bool{}
	isUp := func(n wire.Atom) bool { return up[n] }
	dial, next := m.Step(epoch, isUp)
	assert.Equal(t, []wire.Atom{"z@h"}, dial)
	assert.Equal(t, epoch.Add(2*time.Second+2*spread), next)
	up["z@h"] = true
	assert.False(t, m.Done(epoch, "z@h", nil))
	dial, _ = m.Step(next.Add(-1), isUp)
	assert.Empty(t, dial)
	dial, _ = m.Step(next, isUp)
	assert.Equal(t, []wire.Atom{"a@h"}, dial)
	up["a@h"] = true
	m.Done(next, "a@h", nil)
	dial, next = m.Step(next, isUp)
	assert.Empty(t, dial)
	assert.Zero(t, next, "all are connected")

	delete(up, "z@h") // lost: dialled at once, by the smaller name
	dial, _ = m.Step(epoch.Add(time.Hour), isUp)
	assert.Equal(t, []wire.Atom{"z@h"}, dial)
}

func TestMesherBacksOff(t *testing.T) {
	m := newTestMesher("a@h", MeshConfig{Backoff: 3 * time.Second}, func() float64 { return 0 })
	m.List([]wire.Atom{"b@h"})
	down := func(wire.Atom) bool { return false }
	now := epoch
	var pauses []time.Duration
	for range 5 {
		dial, _ := m.Step(now, down)
		require.Equal(t, []wire.Atom{"b@h"}, dial)
		m.Done(now, "b@h", errors.New("refused"))
		_, next := m.Step(now, down)
		pauses = append(pauses, next.Sub(now))
		now = next
	}
	assert.Equal(t, []time.Duration{500e6, 1e9, 2e9, 3e9, 3e9}, pauses)
	m.chance = func() float64 { return 0.999999 }
	m.Step(now, down)
	m.Done(now, "b@h", errors.New("refused"))
	_, next := m.Step(now, down)
	assert.InDelta(t, 1.5e9, float64(next.Sub(now)), 1e5, "up to half of it is taken off")
	for range 100 { // no overflow
		m.targets["b@h"].due = now
		m.Step(now, down)
		m.Done(now, "b@h", errors.New("refused"))
		pause := m.targets["b@h"].due.Sub(now)
		require.True(t, 0 < pause && pause <= 3*time.Second, pause)
	}
}

// A listed node is shown with the time since when it is not connected, why, and when it is tried next.
func TestMesherShowsListed(t *testing.T) {
	m := newTestMesher("a@h", MeshConfig{}, func() float64 { return 0 })
	require.Empty(t, m.Listed())
	m.List([]wire.Atom{"a@h", "c@h", "b@h"})
	require.Equal(t, []MeshListed{{Name: "b@h"}, {Name: "c@h"}}, m.Listed(), "nobody has looked")
	up := map[wire.Atom]bool{"c@h": true}
	isUp := func(n wire.Atom) bool { return up[n] }
	step := func(now time.Time) { m.Step(now, isUp) }
	step(epoch)
	require.Equal(t, []MeshListed{{Name: "b@h", Since: epoch}, {Name: "c@h"}}, m.Listed(), "it is being dialed")
	later := epoch.Add(time.Second)
	m.Done(later, "b@h", errors.New(strings.Repeat("refused ", 100)))
	b := m.Listed()[0]
	require.Equal(t, epoch, b.Since)
	require.Len(t, b.Failure, 300)
	require.Equal(t, later.Add(firstPause), b.Next)
	step(b.Next)
	m.Done(b.Next, "b@h", errors.New("wrong cookie"))
	b = m.Listed()[0]
	require.Equal(t, epoch, b.Since, "since the beginning")
	require.Equal(t, "wrong cookie", b.Failure)
	up["b@h"], up["c@h"] = true, false
	step(later)
	require.Equal(t, MeshListed{Name: "b@h"}, m.Listed()[0])
	require.Equal(t, later, m.Listed()[1].Since, "the connection was lost")
	m.List([]wire.Atom{"b@h"})
	require.Equal(t, []MeshListed{{Name: "b@h"}}, m.Listed(), "c is being dialed, but not listed any more")
}

// If connections do not last, the attempts wait as they do after failures. A connection that lasts ends that.
func TestMesherRests(t *testing.T) {
	m := newTestMesher("a@h", MeshConfig{Backoff: 3 * time.Second}, func() float64 { return 0 })
	m.List([]wire.Atom{"b@h"})
	up := false
	isUp := func(wire.Atom) bool { return up }
	now := epoch
	var pauses []time.Duration
	dial, _ := m.Step(now, isUp)
	brief := func(lasts time.Duration, seen bool) {
		if len(dial) == 0 {
			dial, _ = m.Step(now, isUp)
		}
		require.Equal(t, []wire.Atom{"b@h"}, dial)
		m.Done(now, "b@h", nil)
		if up = seen; seen {
			m.Step(now, isUp)
		}
		up = false
		now = now.Add(lasts)
		var next time.Time
		if dial, next = m.Step(now, isUp); len(dial) > 0 {
			next = now
		}
		pauses = append(pauses, next.Sub(now))
		now = next
	}
	for i := range 6 {
		brief(10*time.Millisecond, i%2 == 0)
	}
	brief(3*time.Second, true)
	brief(10*time.Millisecond, true)
	brief(10*time.Millisecond, true)
	assert.Equal(t, []time.Duration{0, 500e6, 1e9, 2e9, 3e9, 3e9, 0, 0, 500e6}, pauses)
	m.chance = func() float64 { return 0.999999 }
	brief(10*time.Millisecond, true)
	assert.InDelta(t, 5e8, float64(pauses[len(pauses)-1]), 1e7, "up to half of it is taken off")
}

// Each cause is logged once for a node, until it has been connected.
func TestMesherTellsOnce(t *testing.T) {
	m := newTestMesher("a@h", MeshConfig{}, func() float64 { return 0 })
	m.List([]wire.Atom{"b@h", "c@h"})
	up := false
	fail := func(name wire.Atom, err error) bool {
		m.targets[name].due = epoch
		m.Step(epoch, func(wire.Atom) bool { return false })
		defer m.Step(epoch, func(wire.Atom) bool { return up })
		m.targets[name].dialing = true
		return m.Done(epoch, name, err)
	}
	m.cfg.Dials = 100
	reset := func(port int) error {
		return fmt.Errorf("handshake: %w", &net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{Port: port}, Err: errors.New("reset")})
	}
	assert.True(t, fail("b@h", reset(1)))
	assert.False(t, fail("b@h", reset(2)), "another port is no other cause")
	assert.True(t, fail("c@h", reset(1)))
	assert.True(t, fail("b@h", errors.New("cookie")))
	assert.False(t, fail("b@h", reset(3)))
	told := 0
	for i := range 100 {
		if fail("b@h", fmt.Errorf("cause %d", i)) {
			told++
		}
	}
	assert.Equal(t, mostCauses-2, told)
	up = true
	m.Step(epoch, func(wire.Atom) bool { return true })
	up = false
	assert.True(t, fail("b@h", reset(1)), "it was connected")
}

// Random lists, failures and connections: the invariants hold, nobody is dialed twice at a time, and in the end all
// listed nodes are connected.
func TestMesherModel(t *testing.T) {
	for seed := range testkit.By[uint64](20, 50, 5000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		all := manyNames(30)
		m := newTestMesher(all[rnd.IntN(len(all))], MeshConfig{Dials: 1 + rnd.IntN(5)}, rnd.Float64)
		up, dialing, listed := map[wire.Atom]bool{}, map[wire.Atom]bool{}, []wire.Atom(nil)
		now := epoch
		check := func(dial []wire.Atom) {
			for _, n := range dial {
				require.NotEqual(t, m.me, n)
				require.False(t, dialing[n], "%s is dialed twice", n)
				require.True(t, slices.Contains(listed, n), "%s is not listed", n)
				dialing[n] = true
			}
			require.Len(t, dialing, m.dialing)
			require.LessOrEqual(t, m.dialing, m.cfg.Dials)
			require.True(t, slices.IsSorted(m.names))
			require.Len(t, m.names, len(m.targets))
			for n, tg := range m.targets {
				require.True(t, tg.listed || tg.dialing)
				require.Equal(t, dialing[n], tg.dialing)
			}
		}
		settle := func(err error) {
			for n := range dialing {
				delete(dialing, n)
				up[n] = err == nil
				m.Done(now, n, err)
				return
			}
		}
		for range 400 {
			now = now.Add(time.Duration(rnd.IntN(500)) * time.Millisecond)
			switch rnd.IntN(5) {
			case 0:
				listed = nil
				for _, n := range all {
					if rnd.IntN(3) > 0 {
						listed = append(listed, n)
					}
				}
				m.List(listed)
			case 1:
				settle(errors.New("refused"))
			case 2:
				settle(nil)
			case 3:
				up[all[rnd.IntN(len(all))]] = false
			}
			dial, _ := m.Step(now, func(n wire.Atom) bool { return up[n] })
			check(dial)
		}
		for range 2000 {
			dial, next := m.Step(now, func(n wire.Atom) bool { return up[n] })
			check(dial)
			if len(dialing) > 0 {
				settle(nil)
				continue
			}
			if next.IsZero() {
				break
			}
			now = next
		}
		for _, n := range listed {
			require.True(t, up[n] || n == m.me, "seed %d: %s is not connected", seed, n)
		}
	}
}

// A thousand nodes that hear of a new one at the same time do not all dial it at once.
func TestMesherSpreads(t *testing.T) {
	rnd := testkit.Rand(t)
	all := manyNames(1000)
	var due []time.Duration
	for _, me := range all[:999] {
		m := newTestMesher(me, MeshConfig{}, rnd.Float64)
		m.List(all)
		for _, n := range all {
			m.targets[n] = &meshTarget{listed: true}
		}
		due = append(due, m.first(all[999]))
	}
	slices.Sort(due)
	assert.Less(t, due[0], 100*time.Millisecond)
	busiest := 0
	for i := range due {
		j, _ := slices.BinarySearch(due, due[i]+100*time.Millisecond)
		busiest = max(busiest, j-i)
	}
	assert.Less(t, busiest, 60, "attempts within 100 ms, of 999 over 5 s")
	assert.LessOrEqual(t, due[998], 5*time.Second)
}

// The cost of a look at a thousand nodes that are all connected.
func BenchmarkMesherStep(b *testing.B) {
	m := newTestMesher("a@h", MeshConfig{}, func() float64 { return 0 })
	all := manyNames(1000)
	b.ReportAllocs()
	for b.Loop() {
		m.List(all)
		m.Step(epoch, func(wire.Atom) bool { return true })
	}
}
