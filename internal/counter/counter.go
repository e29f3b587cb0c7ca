// Package counter has counters with labels, and values with labels that are asked for when they are read, for metrics.
//
// A name has at most 500 series, and each label has at most 80 bytes, so the memory is bounded. Further labels are counted
// together, each replaced by "other", so the sum is complete.
//
// An update by [Counters.Add] takes a lock: that is for infrequent events, such as the restarts of a supervisor. What happens
// more often keeps a [Counters.Counter].
package counter

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/internal/printable"
)

// Count is one counter or gauge, as it was read.
type Count struct {
	Labels []string
	N      uint64
}

const (
	most      = 500
	mostLabel = 80 // bytes
)

// The counters of supervisors for package metrics: restarts, with the names of the supervisor and of the child as labels,
// and the number of times that a supervisor has given up because of too many restarts, with its name.
const (
	Restarts  = "supervisor_restarts"
	Shutdowns = "supervisor_shutdowns"
)

// Those of groups of package keyed, with the name of the group as a label, and for KeyedEnded and KeyedRefused the cause.
const (
	KeyedProcesses = "keyed_processes" // a gauge
	KeyedWaiting   = "keyed_waiting"   // a gauge
	KeyedStarted   = "keyed_started"
	KeyedEnded     = "keyed_ended"
	KeyedRefused   = "keyed_refused"
)

// Those of pools, with the name of the pool as a label, and for PoolRefused the policy.
const (
	PoolWorkers  = "pool_workers" // a gauge
	PoolIdle     = "pool_idle"    // a gauge
	PoolWaiting  = "pool_waiting" // a gauge
	PoolReplaced = "pool_replaced"
	PoolRefused  = "pool_refused"
)

// Other replaces labels beyond the limit.
const Other = "other"

// Label returns a label as it is counted: printable and short.
func Label(l string) string {
	l = printable.Text(strings.ToValidUTF8(l[:min(len(l), mostLabel)], ""))
	return strings.ToValidUTF8(l[:min(len(l), mostLabel)], "")
}

// Counters are all counters and gauges of a node. The zero value has none.
type Counters struct {
	mu     sync.Mutex
	m      map[string]family
	gauges map[string][]gauge
}

// family is the counters of a name, by their joined labels.
type family map[string]*series

type series struct {
	labels []string
	n      atomic.Uint64
}

// gauge is a value that is read when it is asked for.
type gauge struct {
	labels []string
	over   func() bool
	read   func() int
}

// Add increments the counter with a name and labels.
func (c *Counters) Add(name string, labels ...string) { c.Counter(name, labels...).Add(1) }

// Counter returns the counter with a name and labels, to be added to. It is read from now on, though it is 0.
func (c *Counters) Counter(name string, labels ...string) *atomic.Uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = make(map[string]family)
	}
	f := c.m[name]
	if f == nil {
		f = make(family)
		c.m[name] = f
	}
	return &f.get(labels).n
}

// get returns the series with these labels, or that of all others.
func (f family) get(labels []string) *series {
	var buf [128]byte
	key := buf[:0]
	for i, l := range labels {
		if i > 0 {
			key = append(key, 0)
		}
		key = append(key, Label(l)...)
	}
	one := f[string(key)]
	if one == nil {
		labels = slices.Clone(labels)
		for i, l := range labels {
			labels[i] = Label(l)
			if len(f) >= most-1 {
				labels[i] = Other
			}
		}
		key := strings.Join(labels, "\x00")
		if one = f[key]; one == nil {
			one = &series{labels: labels}
			f[key] = one
		}
	}
	return one
}

// Gauge adds a value that read returns, until over reports true. Those with the same labels are added up. Both functions may
// be called by any goroutine at any time, and must not wait.
func (c *Counters) Gauge(name string, over func() bool, read func() int, labels ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gauges == nil {
		c.gauges = make(map[string][]gauge)
	}
	l := c.gauges[name]
	if len(l) == cap(l) {
		l = slices.DeleteFunc(l, gauge.isOver)
	}
	c.gauges[name] = append(l, gauge{labels, over, read})
}

func (g gauge) isOver() bool { return g.over() }

// current returns the gauges of a name that are not over, and forgets the others.
func (c *Counters) current(name string) []gauge {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gauges[name] == nil {
		return nil
	}
	c.gauges[name] = slices.DeleteFunc(c.gauges[name], gauge.isOver)
	return slices.Clone(c.gauges[name])
}

// All returns the counters, or gauges, of a name, sorted by their labels.
func (c *Counters) All(name string) []Count {
	values := make(family)
	for _, g := range c.current(name) {
		values.get(g.labels).n.Add(uint64(max(g.read(), 0)))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.m[name]; f != nil {
		values = f
	}
	all := make([]Count, 0, len(values))
	for _, one := range values {
		all = append(all, Count{one.labels, one.n.Load()})
	}
	slices.SortFunc(all, func(a, b Count) int { return slices.CompareFunc(a.Labels, b.Labels, cmp.Compare[string]) })
	return all
}
