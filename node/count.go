package node

// Count is a counter that packages above the node keep: see [Node.Count].
type Count struct {
	Labels []string
	N      uint64
}

// Count adds one to the counter that the labels tell from others of that name. It
// is for what is rare: a supervisor counts restarts. There are at most 500 to a
// name; more labels than that are counted as "other". Long labels are cut.
func (n *Node) Count(name string, labels ...string) { n.counts.Add(name, labels...) }

// Counts returns the counters of a name, sorted by their labels.
func (n *Node) Counts(name string) []Count {
	counts := n.counts.All(name)
	all := make([]Count, len(counts))
	for i, c := range counts {
		all[i] = Count(c)
	}
	return all
}
