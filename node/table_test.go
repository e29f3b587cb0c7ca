package node

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/randtest"
)

// Whatever order slots are taken and given back in, by workers with caches and by others
// without: no number comes twice, no slot has two processes, none is lost, and there are no
// more than max.
func TestTable(t *testing.T) {
	const tenants, most, rounds = 4, 3 * chunkLen / 2, 30_000
	seed := randtest.Seed(t)
	tab := table{max: tenants*most + tenants*2*slotBatch}
	var caches [tenants]slots
	ids := make([][]uint64, tenants) // ever given out
	var wg sync.WaitGroup
	for i := range tenants {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			var cache *slots
			if i%2 == 0 {
				cache = &caches[i]
			}
			var mine []*proc
			drop := func() {
				k := random.IntN(len(mine))
				p := mine[k]
				mine[k], mine = mine[len(mine)-1], mine[:len(mine)-1]
				tab.remove(p, cache)
				assert.Nil(t, tab.get(p.id))
			}
			for range rounds {
				// More and more for a while, then fewer and fewer.
				if len(mine) > 0 && (len(mine) == most || random.IntN(most) < len(mine)) {
					drop()
					continue
				}
				id, ok := tab.reserve(cache)
				if !assert.True(t, ok, "there is room") {
					return
				}
				p := &proc{id: id}
				tab.put(p)
				assert.Same(t, p, tab.get(id))
				mine, ids[i] = append(mine, p), append(ids[i], id)
			}
			for len(mine) > 0 {
				drop()
			}
		})
	}
	wg.Wait()
	all := slices.Concat(ids...)
	slices.Sort(all)
	require.Len(t, slices.Compact(slices.Clone(all)), len(all), "a number has come twice")
	require.Empty(t, slices.Collect(tab.all()))

	// All that the caches do not hold can be had again, and no more.
	held := 0
	for _, c := range caches {
		held += len(c.free)
	}
	taken := make(map[uint32]bool)
	for {
		id, ok := tab.reserve(nil)
		if !ok {
			break
		}
		require.False(t, taken[uint32(id)], "slot %d has two", uint32(id))
		taken[uint32(id)] = true
	}
	require.Len(t, taken, int(tab.max)-held)
}

// Processes that end give their slots to those that come: the table is as large as most
// were alive at once.
func TestTableDoesNotGrow(t *testing.T) {
	tab := table{max: 1 << 20}
	for range 10 {
		var all []*proc
		for range 2*chunkLen + 1 {
			id, ok := tab.reserve(nil)
			require.True(t, ok)
			p := &proc{id: id}
			tab.put(p)
			all = append(all, p)
		}
		for _, p := range all {
			tab.remove(p, nil)
		}
	}
	require.Len(t, *tab.chunks.Load(), 3)
}
