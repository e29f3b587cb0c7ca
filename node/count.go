package node

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Count is a counter that rooms above the node keep: see [Node.Count].
type Count struct {
	Labels []string
	N      uint64
}

// maxCounts is how many counters one name has at most; what comes after is counted
// together, with otherLabel in place of each label.
const (
	maxCounts     = 500
	maxCountLabel = 80 // bytes
	otherLabel    = "other"
)

// counts are for what happens now and then, such as restarts: each takes a lock.
type counts struct {
	mu sync.Mutex
	m  map[string]map[string]*Count // by name, by joined labels
}

// Count adds one to the counter that the labels tell from others of that name. It
// is for what is rare: a supervisor counts restarts. There are at most 500 to a
// name; more labels than that are counted as "other". Long labels are cut.
func (n *Node) Count(name string, labels ...string) {
	n.counts.mu.Lock()
	defer n.counts.mu.Unlock()
	if n.counts.m == nil {
		n.counts.m = make(map[string]map[string]*Count)
	}
	family := n.counts.m[name]
	if family == nil {
		family = make(map[string]*Count)
		n.counts.m[name] = family
	}
	labels = slices.Clone(labels)
	for i, l := range labels {
		labels[i] = strings.ToValidUTF8(l[:min(len(l), maxCountLabel)], "")
	}
	key := strings.Join(labels, "\x00")
	c := family[key]
	if c == nil && len(family) >= maxCounts-1 {
		for i := range labels {
			labels[i] = otherLabel
		}
		key = strings.Join(labels, "\x00")
		c = family[key]
	}
	if c == nil {
		c = &Count{Labels: labels}
		family[key] = c
	}
	c.N++
}

// Counts returns the counters of a name, sorted by their labels.
func (n *Node) Counts(name string) []Count {
	n.counts.mu.Lock()
	defer n.counts.mu.Unlock()
	all := make([]Count, 0, len(n.counts.m[name]))
	for _, c := range n.counts.m[name] {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b Count) int { return slices.CompareFunc(a.Labels, b.Labels, cmp.Compare[string]) })
	return all
}
