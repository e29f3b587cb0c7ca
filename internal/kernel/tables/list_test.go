package tables_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/testkit"
)

type item struct {
	n     int
	entry tables.ListEntry[item]
}

// Two lists compared with slices that must have the same elements in the same order.
func TestListsAsSlices(t *testing.T) {
	r := testkit.Rand(t)
	var lists [2]tables.List[item]
	var want [2][]*item
	items := make([]*item, 20)
	for i := range items {
		items[i] = &item{n: i}
	}
	on := func(x *item) int {
		return slices.IndexFunc(want[:], func(l []*item) bool { return slices.Contains(l, x) })
	}
	for range 20_000 {
		x := items[r.IntN(len(items))]
		k := on(x)
		switch {
		case r.IntN(2) == 0 && k < 0:
			k = r.IntN(2)
			lists[k].Add(&x.entry, x)
			want[k] = slices.Insert(want[k], 0, x)
		case r.IntN(40) == 0: // all of one list, from the front
			k = r.IntN(2)
			for len(want[k]) > 0 {
				require.Same(t, want[k][0], lists[k].First())
				require.True(t, lists[k].Remove(&lists[k].First().entry))
				want[k] = want[k][1:]
			}
		default:
			require.Equal(t, k >= 0, lists[max(k, 0)].Remove(&x.entry))
			if k >= 0 {
				want[k] = slices.DeleteFunc(want[k], func(y *item) bool { return y == x })
			}
		}
		for k := range lists {
			if r.IntN(2) == 0 { // a list may be moved
				l := lists[k]
				lists[k] = l
			}
			require.Equal(t, len(want[k]), lists[k].Len())
			require.Equal(t, len(want[k]) == 0, lists[k].IsEmpty())
			oldest := slices.Collect(lists[k].Oldest())
			slices.Reverse(oldest)
			require.Equal(t, len(want[k]), len(oldest))
			for i, x := range oldest {
				require.Same(t, want[k][i], x)
			}
			if len(want[k]) == 0 {
				require.Nil(t, lists[k].First())
			} else {
				require.Same(t, want[k][0], lists[k].First())
			}
		}
	}
}
