package limits

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// All holders together have no more than twice the limit, whatever they take, of which kinds, and under how many names:
// each gets what it asks for until all is taken, and its share from then on. What they give back is available to
// others.
func TestHeldIsBoundedForAllTogether(t *testing.T) {
	const most = 8 << 20
	for _, names := range []int{1, 2, 8, 100} {
		q := NewQuota(Limits{Held: most, Spawned: 1 << 30, Names: 1 << 30})
		take := make([]func() bool, 0, names*int(HeldKinds))
		var give []func()
		for i := range names {
			peer := q.NewHolder()
			name := string(rune('a' + i))
			for _, k := range []HeldKind{HeldMonitors, HeldLinks} {
				n := 0
				take = append(take, func() bool {
					if !peer.Take(k) {
						return false
					}
					n++
					return true
				})
				give = append(give, func() { peer.Add(k, -n) })
			}
			take = append(take, func() bool {
				o, err := q.Owners.TakeSpawn(named(name))
				if err == nil {
					give = append(give, o.GiveSpawn)
				}
				return err == nil
			}, func() bool {
				o, err := q.Owners.TakeName(named(name))
				if err == nil {
					give = append(give, o.GiveName)
				}
				return err == nil
			})
		}
		require.Len(t, take, names*int(HeldKinds), "each kind of things is taken")
		for _, more := range take { // one after the other, as greedy as can be
			for more() {
			}
		}
		require.GreaterOrEqual(t, q.Held().Used()+costs[HeldSpawned], int64(most))
		require.LessOrEqual(t, q.Held().Used(), 2*int64(most)+int64(2*names*leastHeld))
		require.Positive(t, q.Held().Refused())
		for _, back := range give {
			back()
		}
		require.Zero(t, q.Held().Used())
		require.Zero(t, q.held.holders.Load())
	}
}

// A peer gets its share even if others have taken everything before, and each kind has a cost.
func TestHeldLeavesAShare(t *testing.T) {
	const most = 8 << 20
	q := NewQuota(Limits{Held: most})
	greedy, late := q.NewHolder(), q.NewHolder()
	for greedy.Take(HeldMonitors) {
	}
	n := 0
	for late.Take(HeldLinks) {
		n++
	}
	require.InDelta(t, most/2/costs[HeldLinks], n, 2)
	require.True(t, late.Full(HeldMonitors) && greedy.Full(HeldMonitors))
	for k := range HeldKinds {
		require.Positive(t, costs[k], k.String())
	}
	require.True(t, (*Quota)(nil).NewHolder().Take(HeldLinks), "no quota bounds nothing")
}
