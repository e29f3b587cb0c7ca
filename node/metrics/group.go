package metrics

import (
	"cmp"
	"maps"
	"slices"

	counts "github.com/actornode/actornode/internal/counter"
)

// group is what the mailboxes of some processes come to.
type group struct{ processes, messages, longest int }

// groups are such, by the label that they are shown with.
type groups map[string]group

// add adds g to the group with a label.
func (all groups) add(label string, g group) {
	label = counts.Label(label)
	sum := all[label]
	all[label] = group{sum.processes + g.processes, sum.messages + g.messages, max(sum.longest, g.longest)}
}

// largest returns at most n groups: those with the most messages, of equal ones those with the most processes, of equal ones the
// first by label, and the sum of all others as one of these if there are more.
func (all groups) largest(n int) groups {
	if len(all) <= n {
		return all
	}
	labels := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(all[b].messages, all[a].messages), cmp.Compare(all[b].processes, all[a].processes), cmp.Compare(a, b))
	})
	few := make(groups)
	for i, label := range labels {
		if i < n-1 {
			few.add(label, all[label])
		} else {
			few.add(counts.Other, all[label])
		}
	}
	return few
}
