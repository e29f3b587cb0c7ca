package watch

import (
	"maps"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/wire"
)

// Random changes, compared with a map, while others look: an entry that stays is found at any time.
func TestIndexAsModel(t *testing.T) {
	r := testkit.Rand(t)
	origin, other := wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 1}), wire.NewOrigin(wire.NodeID{Name: "b@h", Creation: 1})
	var x index[int]
	stays := origin.PID(7)
	x.put(stays, 7)
	model := map[wire.PID]int{stays: 7}
	var over atomic.Bool
	var looks sync.WaitGroup
	for range 2 {
		looks.Go(func() {
			for !over.Load() {
				if v, ok := x.get(stays); !ok || v != 7 {
					t.Errorf("got %v %v", v, ok)
					return
				}
			}
		})
	}
	for i := range 20_000 {
		pid := origin.PID(uint64(r.IntN(1 + i/20)))
		if r.IntN(5) == 0 {
			pid = other.PID(pid.Number())
		}
		v, ok := x.get(pid)
		is, has := model[pid]
		require.Equal(t, has, ok)
		require.Equal(t, is, v)
		switch {
		case pid == stays:
		case r.IntN(3) == 0:
			x.remove(pid)
			delete(model, pid)
		default:
			x.put(pid, i)
			model[pid] = i
		}
		require.Equal(t, len(model), x.n)
	}
	over.Store(true)
	looks.Wait()
	got := map[wire.PID]int{}
	for e := range x.all() {
		got[e.pid] = e.value
	}
	require.True(t, maps.Equal(model, got))
}

// A bucket has few processes, however many there are, and a change copies no more than a bucket.
func TestIndexCopiesLittle(t *testing.T) {
	origin := wire.NewOrigin(wire.NodeID{Name: "a@h", Creation: 1})
	var x index[int]
	for i := range 10_000 {
		x.put(origin.PID(uint64(i)), i)
		require.LessOrEqual(t, len(bucketOf(*x.buckets.Load(), origin.PID(uint64(i))).entries()), 2)
	}
}
