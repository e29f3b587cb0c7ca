package memory

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// From enterShare of the limit on, in percent, what lives is too much; below leaveShare
// it is not any more. The rest is for what is allocated between two collections: with
// less of it they would take most of the time.
const (
	enterShare = 85
	leaveShare = 75
)

// Gauge finds out whether what lives is too much for a limit.
//
//	enough ──85%──► short ──75%──► enough
type Gauge struct {
	limit int64
	short bool
	used  int64

	samples []metrics.Sample
	cycles  uint64        // of the collector, when last looked at
	since   time.Time     // when that was another number
	took    time.Duration // of the last collection by Read
	most    int64         // bytes that live at most: what was allocated since the last collection may be garbage
}

// NewGauge makes one for a limit in bytes, which must not be 0.
func NewGauge(limit int64) *Gauge {
	g := &Gauge{limit: limit, samples: make([]metrics.Sample, 0, len(living)+2)}
	for _, name := range living {
		g.samples = append(g.samples, metrics.Sample{Name: name})
	}
	g.samples = append(g.samples, metrics.Sample{Name: "/memory/classes/heap/objects:bytes"},
		metrics.Sample{Name: "/gc/cycles/total:gc-cycles"})
	return g
}

// living is the memory that a collection does not free.
var living = []string{
	"/gc/heap/live:bytes", // what the last collection has found
	"/memory/classes/heap/stacks:bytes",
	"/memory/classes/os-stacks:bytes",
	"/memory/classes/metadata/mcache/inuse:bytes",
	"/memory/classes/metadata/mspan/inuse:bytes",
	"/memory/classes/metadata/other:bytes",
	"/memory/classes/profiling/buckets:bytes",
	"/memory/classes/other:bytes",
}

// staleAfter is how old what is known may be while memory is short, until it is found
// out anew: a node that refuses work allocates little, and so would not collect.
const staleAfter = 10 * time.Second

// Above maybeShare of the limit, in percent, it is found out how much of what is allocated lives: the heap may grow up to the
// limit before the runtime collects it, and what was known would jump from 40% to all. It takes a twentieth of the time at most.
const (
	maybeShare = 60
	maybeTimes = 20
	maybeLeast = time.Second
)

// Read looks, and reports whether memory is short and whether that is new. It takes
// microseconds, but a collection, if there is none anyway, once in ten seconds while memory
// is short, and more often while more than 60% of the limit is allocated.
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

// step takes the bytes that are in use.
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

// Used returns how many bytes lived when Read was called last.
func (g *Gauge) Used() int64 { return g.used }
