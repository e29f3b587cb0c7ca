// Package counter has counters with labels for infrequent events, such as the restarts of a supervisor: each update takes a
// lock.
//
// There are at most 500 counters per name, and each label has at most 80 bytes, so the memory is bounded. Further labels
// are counted together, each replaced by "other", so the sum is complete.
package counter

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/actornode/actornode/internal/printable"
)

// Count is one counter.
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

// Other replaces labels beyond the limit.
const Other = "other"

// Label returns a label as it is counted: printable and short.
func Label(l string) string {
	l = printable.Text(strings.ToValidUTF8(l[:min(len(l), mostLabel)], ""))
	return strings.ToValidUTF8(l[:min(len(l), mostLabel)], "")
}

// Counters are all counters of a node. The zero value has none.
type Counters struct {
	mu sync.Mutex
	m  map[string]map[string]*Count // by name, by joined labels
}

// Add increments the counter with a name and labels.
func (c *Counters) Add(name string, labels ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = make(map[string]map[string]*Count)
	}
	family := c.m[name]
	if family == nil {
		family = make(map[string]*Count)
		c.m[name] = family
	}
	var buf [128]byte
	key := buf[:0]
	for i, l := range labels {
		if i > 0 {
			key = append(key, 0)
		}
		key = append(key, Label(l)...)
	}
	one := family[string(key)]
	if one == nil {
		labels = slices.Clone(labels)
		for i, l := range labels {
			labels[i] = Label(l)
			if len(family) >= most-1 {
				labels[i] = Other
			}
		}
		key := strings.Join(labels, "\x00")
		if one = family[key]; one == nil {
			one = &Count{Labels: labels}
			family[key] = one
		}
	}
	one.N++
}

// All returns the counters of a name, sorted by their labels.
func (c *Counters) All(name string) []Count {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]Count, 0, len(c.m[name]))
	for _, one := range c.m[name] {
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b Count) int { return slices.CompareFunc(a.Labels, b.Labels, cmp.Compare[string]) })
	return all
}
