package ring

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// Random pushes and shifts, compared with a slice.
func TestRingAsModel(t *testing.T) {
	r := testkit.Rand(t)
	for range 100 {
		var ring Ring[int]
		var model []int
		grows := 1 + r.IntN(3)
		for i := range 300 {
			if r.IntN(4) < grows {
				ring.Push(i)
				model = append(model, i)
			} else if r.IntN(4) == 0 {
				ring.Unshift(i)
				model = slices.Insert(model, 0, i)
			} else if len(model) > 0 {
				require.Equal(t, model[0], ring.First())
				require.Equal(t, model[0], ring.Shift())
				model = model[1:]
			}
			require.Equal(t, len(model), ring.Len())
			require.LessOrEqual(t, ring.Len(), ring.Cap())
		}
		for _, v := range model {
			require.Equal(t, v, ring.Shift())
		}
		for _, v := range ring.items {
			require.Zero(t, v, "nothing is kept of what has been taken out")
		}
	}
}

// A queue whose length stays the same allocates nothing.
func TestRingIsUsedAgain(t *testing.T) {
	var ring Ring[int]
	for i := range 100 {
		ring.Push(i)
	}
	require.Zero(t, testing.AllocsPerRun(1000, func() { ring.Push(ring.Shift()) }))
	require.Equal(t, 128, ring.Cap())
}
