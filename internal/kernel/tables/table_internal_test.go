package tables

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// Slots are taken and given back in any order, by workers with caches and by others without: no number comes twice, no
// slot has two processes, none is lost, and there are at most max.
func TestTable(t *testing.T) {
	const tenants, most, rounds = 4, 3 * chunkLen / 2, 30_000
	seed := testkit.Seed(t)
	var tab Table[uint64]
	tab.Init(tenants*most + tenants*2*slotBatch)
	var caches [tenants]Slots
	ids := make([][]uint64, tenants) // all that were given out
	var wg sync.WaitGroup
	for i := range tenants {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			var cache *Slots
			if i%2 == 0 {
				cache = &caches[i]
			}
			var mine []*uint64
			drop := func() {
				k := random.IntN(len(mine))
				p := mine[k]
				mine[k], mine = mine[len(mine)-1], mine[:len(mine)-1]
				tab.Remove(*p, cache)
				assert.NotEqual(t, p, tab.At(*p))
			}
			for range rounds {
				// More and more for a while, then fewer and fewer.
				if len(mine) > 0 && (len(mine) == most || random.IntN(most) < len(mine)) {
					drop()
					continue
				}
				id, ok := tab.Reserve(cache)
				if !assert.True(t, ok, "there is room") {
					return
				}
				p := &id
				tab.Put(id, p)
				assert.Same(t, p, tab.At(id))
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
	require.Empty(t, slices.Collect(tab.All()))

	// All slots that the caches do not hold can be taken again, and no more.
	held := 0
	for _, c := range caches {
		held += len(c.free)
	}
	taken := make(map[uint32]bool)
	for {
		id, ok := tab.Reserve(nil)
		if !ok {
			break
		}
		require.False(t, taken[uint32(id)], "slot %d has two", uint32(id))
		taken[uint32(id)] = true
	}
	require.Len(t, taken, int(tab.max)-held)
}

// New processes reuse the slots of ended ones: the table is as large as the largest number alive at once.
func TestTableDoesNotGrow(t *testing.T) {
	var tab Table[uint64]
	tab.Init(1 << 20)
	for range 10 {
		var all []*uint64
		for range 2*chunkLen + 1 {
			id, ok := tab.Reserve(nil)
			require.True(t, ok)
			p := &id
			tab.Put(id, p)
			all = append(all, p)
		}
		for _, p := range all {
			tab.Remove(*p, nil)
		}
	}
	require.EqualValues(t, 3*chunkLen, tab.made.Load())
}
