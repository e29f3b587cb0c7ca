package supervisor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

func TestCalm(t *testing.T) {
	for _, c := range []struct {
		reason any
		calm   bool
	}{
		{node.Normal, true}, {node.Shutdown, true}, {wire.Tuple{node.Shutdown, 1}, true},
		{wire.Tuple{node.Shutdown}, false}, {wire.Tuple{node.Shutdown, 1, 2}, false}, {wire.Tuple{}, false},
		{wire.Tuple{node.Normal, 1}, false}, {node.Killed, false}, {wire.Atom("oops"), false},
		{"normal", false}, {nil, false}, {&node.Crash{Reason: node.Normal}, false}, {[]any{1}, false},
	} {
		assert.Equal(t, c.calm, calls.IsClean(c.reason), "%v", c.reason)
	}
}

// TestDecide checks the table of doc.go, for all its inputs.
func TestDecide(t *testing.T) {
	spans := map[Strategy]span{OneForOne: self, SimpleOneForOne: self, OneForAll: all, RestForOne: rest}
	for strategy, who := range spans {
		for _, auto := range []AutoShutdown{Never, AnySignificant, AllSignificant} {
			for _, restart := range []Restart{Permanent, Transient, Temporary} {
				for _, significant := range []bool{false, true} {
					for _, reason := range []any{node.Normal, wire.Tuple{node.Shutdown, 1}, wire.Atom("oops")} {
						for others := range 2 {
							for _, full := range []bool{false, true} {
								s := &Spec{Strategy: strategy, AutoShutdown: auto, Intensity: 1, Period: time.Second}
								k := &Child{Restart: restart, Significant: significant}
								w := &window{}
								if full {
									w.add(time.Unix(9, 0), time.Second, 1)
								}
								got := decide(s, k, reason, others, w, time.Unix(9, 0))

								bad := reason == wire.Atom("oops")
								var want action
								switch {
								case restart == Permanent || restart == Transient && bad:
									want = action{report: true, restart: who}
									if full {
										want = action{report: true, drop: true, end: true, limit: true}
									}
								default:
									want = action{report: bad, drop: true}
									want.end = significant && (auto == AnySignificant || auto == AllSignificant && others == 0)
								}
								assert.Equal(t, want, got, "%v %v %v significant %v %v others %d full %v",
									strategy, auto, restart, significant, reason, others, full)
							}
						}
					}
				}
			}
		}
	}
}

// Another try of a restart counts, too, and needs no exit reason.
func TestAgain(t *testing.T) {
	s := &Spec{Strategy: RestForOne, Intensity: 2, Period: time.Second}
	w := &window{}
	now := time.Unix(1, 0)
	assert.Equal(t, action{restart: rest}, decideRetry(s, w, now))
	assert.Equal(t, action{restart: rest}, decideRetry(s, w, now))
	assert.Equal(t, action{drop: true, end: true, limit: true}, decideRetry(s, w, now))
	assert.Equal(t, action{drop: true, end: true, limit: true}, decideRetry(s, w, now.Add(time.Second)),
		"what is as old as the period counts")
	assert.Equal(t, action{restart: rest}, decideRetry(s, w, now.Add(time.Second+1)))
}

// TestWindow compares a window with a list of all restarts.
func TestWindow(t *testing.T) {
	for seed := range testkit.By[uint64](50, 300, 10_000) {
		r := rand.New(rand.NewPCG(seed, 0))
		w, all := &window{}, []time.Time(nil)
		now := time.Unix(0, 0)
		period, limit := time.Duration(1+r.IntN(100)), r.IntN(20)
		for range 500 {
			now = now.Add(time.Duration(r.IntN(1 + r.IntN(30))))
			all = slices.DeleteFunc(all, func(at time.Time) bool { return now.Sub(at) > period })
			want := len(all) < limit
			if want {
				all = append(all, now)
			}
			require.Equal(t, want, w.add(now, period, limit), "seed %d", seed)
			require.LessOrEqual(t, len(w.at), max(4, 2*limit), "no more is kept than is needed")
		}
	}
}

// The cost of a restart does not depend on how many there are in the period.
func TestWindowCost(t *testing.T) {
	w := &window{}
	now := time.Unix(0, 0)
	for range 100_000 {
		now = now.Add(1)
		require.True(t, w.add(now, time.Hour, 1<<30))
	}
	assert.Less(t, testing.AllocsPerRun(1000, func() {
		now = now.Add(1)
		w.add(now, time.Hour, 1<<30)
	}), 0.01)
}

// Periods and intensities may be arbitrarily large.
func TestWindowExtremes(t *testing.T) {
	now := time.Unix(1<<32, 0)
	w := &window{}
	assert.True(t, w.add(now, math.MaxInt64, math.MaxInt))
	assert.True(t, w.add(now.Add(1), math.MaxInt64, math.MaxInt))
	assert.Equal(t, 2, w.n, "nothing is forgotten within 292 years")
	w = &window{}
	assert.False(t, w.add(now, 1, 0))
	assert.False(t, w.add(now.Add(time.Hour), 1, 0))
}

func TestBackoffWait(t *testing.T) {
	assert.Zero(t, (&Backoff{}).wait(7, 0.5))
	b := Backoff{Initial: time.Second}
	require.NoError(t, b.complete())
	var waits []time.Duration
	for tries := range 8 {
		waits = append(waits, b.wait(tries, 0.99))
	}
	assert.Equal(t, []time.Duration{1e9, 2e9, 4e9, 8e9, 16e9, 32e9, 60e9, 60e9}, waits)
	b = Backoff{Initial: time.Second, Factor: 1.5, Max: 2 * time.Second}
	require.NoError(t, b.complete())
	assert.Equal(t, 1500*time.Millisecond, b.wait(1, 0))
	assert.Equal(t, 2*time.Second, b.wait(2, 0))
	assert.Equal(t, 2*time.Second, b.wait(math.MaxInt, 0))
}

// Jitter makes a wait shorter or longer by at most its share, evenly.
func TestBackoffJitter(t *testing.T) {
	b := Backoff{Initial: time.Second, Jitter: 0.25}
	require.NoError(t, b.complete())
	assert.Equal(t, 750*time.Millisecond, b.wait(0, 0))
	assert.Equal(t, time.Second, b.wait(0, 0.5))
	assert.Equal(t, 2500*time.Millisecond, b.wait(1, 1))
	sum := time.Duration(0)
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		d := b.wait(0, r.Float64())
		assert.True(t, d >= 750*time.Millisecond && d < 1250*time.Millisecond, d)
		sum += d
	}
	assert.InDelta(t, 1.0, (sum / 10_000).Seconds(), 0.01)
	b = Backoff{Initial: 1, Jitter: 1}
	require.NoError(t, b.complete())
	assert.Positive(t, b.wait(0, 0), "a wait is a wait")
	b = Backoff{Initial: math.MaxInt64, Max: math.MaxInt64, Jitter: 1, Factor: 10}
	require.NoError(t, b.complete())
	for tries := range 2000 {
		assert.Positive(t, b.wait(tries, 1), "not past the largest duration")
	}
}

func TestBackoffComplete(t *testing.T) {
	b := Backoff{Initial: 5}
	require.NoError(t, b.complete())
	assert.Equal(t, Backoff{Initial: 5, Factor: 2, Max: time.Minute, Reset: time.Minute}, b)
	b = Backoff{Initial: 5, Max: 7}
	require.NoError(t, b.complete())
	assert.Equal(t, Backoff{Initial: 5, Factor: 2, Max: 7, Reset: 7}, b)
	for _, b := range []Backoff{
		{Factor: 2}, {Initial: -1}, {Initial: 1, Factor: 0.9}, {Initial: 1, Factor: -2}, {Initial: 1, Factor: math.NaN()},
		{Initial: 1, Factor: math.Inf(1)}, {Initial: 1, Max: -1}, {Initial: 1, Reset: -1}, {Initial: 1, Jitter: -0.1},
		{Initial: 1, Jitter: 1.1}, {Initial: 1, Jitter: math.NaN()},
	} {
		var e *SpecError
		assert.ErrorAs(t, b.complete(), &e, fmt.Sprintf("%+v", b))
	}
}
