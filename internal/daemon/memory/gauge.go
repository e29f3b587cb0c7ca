package memory

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// Memory becomes short when the live memory reaches enterShare percent of the limit, and stops being short below
// leaveShare. The rest is for allocations between two collections: with less, collections would take most of the time.
const (
	enterShare = 85
	leaveShare = 75
)

// Gauge reports whether the live memory is too large for a limit.
//
//	enough ──85%──► short ──75%──► enough
type Gauge struct {
	limit int64
	short bool
	used  int64

	samples []metrics.Sample
	cycles  uint64        // of the collector at the last Read
	since   time.Time     // when cycles last changed
	took    time.Duration // of the last collection by Read
	most    int64         // upper bound of used: memory allocated since the last collection may be garbage
}

// NewGauge returns a Gauge for a limit in bytes, which must not be 0.
func NewGauge(limit int64) *Gauge {
	g := &Gauge{limit: limit, samples: make([]metrics.Sample, 0, len(living)+2)}
	for _, name := range living {
		g.samples = append(g.samples, metrics.Sample{Name: name})
	}
	g.samples = append(g.samples, metrics.Sample{Name: "/memory/classes/heap/objects:bytes"},
		metrics.Sample{Name: "/gc/cycles/total:gc-cycles"})
	return g
}

// living lists the metrics of memory that a collection does not free.
var living = []string{
	"/gc/heap/live:bytes", // as of the last collection
	"/memory/classes/heap/stacks:bytes",
	"/memory/classes/os-stacks:bytes",
	"/memory/classes/metadata/mcache/inuse:bytes",
	"/memory/classes/metadata/mspan/inuse:bytes",
	"/memory/classes/metadata/other:bytes",
	"/memory/classes/profiling/buckets:bytes",
	"/memory/classes/other:bytes",
}

// staleAfter is the maximum age of the measurement while memory is short. Then Read runs a collection: a node that refuses
// work allocates little, and so would not collect.
const staleAfter = 10 * time.Second

// When the allocated memory reaches maybeShare percent of the limit, Read runs a collection to measure how much of it is
// live: the heap may grow up to the limit before the runtime collects it, and the measurement would jump from 40% to 100%.
// These collections take at most a twentieth of the time, and start at most once per maybeLeast.
const (
	maybeShare = 60
	maybeTimes = 20
	maybeLeast = time.Second
)

// Read measures, and reports whether memory is short and whether that has changed. It takes microseconds, except when it
// runs a collection: once in ten seconds without another collection while memory is short, and more often while 60% of the
// limit or more is allocated.
func (g *Gauge) Read(now time.Time) (short, changed bool) {
	used, cycles := g.read()
	if cycles != g.cycles || g.since.IsZero() {
		g.cycles, g.since = cycles, now
	}
	stale := staleAfter
	if !g.short && g.most >= g.limit/100*maybeShare {
		stale = max(maybeLeast, maybeTimes*g.took)
	}
	if (g.short || stale < staleAfter) && now.Sub(g.since) >= stale {
		began := time.Now()
		runtime.GC()
		g.took = time.Since(began)
		used, g.cycles = g.read()
		g.since = now
	}
	return g.step(used)
}

func (g *Gauge) read() (used int64, cycles uint64) {
	metrics.Read(g.samples)
	for _, s := range g.samples[:len(living)] {
		if s.Value.Kind() == metrics.KindUint64 {
			used += int64(s.Value.Uint64())
		}
	}
	live, objects := g.samples[0].Value, g.samples[len(living)].Value
	g.most = used
	if live.Kind() == metrics.KindUint64 && objects.Kind() == metrics.KindUint64 {
		g.most += max(0, int64(objects.Uint64())-int64(live.Uint64()))
	}
	return used, g.samples[len(living)+1].Value.Uint64()
}

// step updates the state for used bytes.
func (g *Gauge) step(used int64) (short, changed bool) {
	was := g.short
	g.used = used
	switch {
	case used >= g.limit/100*enterShare:
		g.short = true
	case used < g.limit/100*leaveShare:
		g.short = false
	}
	return g.short, g.short != was
}

// Used returns the live bytes at the last Read.
func (g *Gauge) Used() int64 { return g.used }
