package pg

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// Random items, compared with a slice.
func TestBagAsModel(t *testing.T) {
	r := testkit.Rand(t)
	for range 100 {
		var b bag[int]
		var model []int
		most := 1 + r.IntN(100)
		adds := 1 + r.IntN(9)
		for range 500 {
			if r.IntN(100)/10 == 0 {
				adds = 1 + r.IntN(9)
			}
			item := r.IntN(most)
			if r.IntN(10) < adds {
				b.add(item)
				model = append(model, item)
			} else {
				i := slices.Index(model, item)
				require.Equal(t, i >= 0, b.remove(item))
				if i >= 0 {
					model = slices.Delete(model, i, i+1)
				}
			}
			require.Equal(t, len(model), b.len())
			require.LessOrEqual(t, len(b.slots), 2*len(model)+few+1)
		}
		require.Equal(t, append([]int{}, model...), b.list())
		for _, item := range model {
			require.True(t, b.remove(item))
		}
		require.Zero(t, b.len())
		require.Nil(t, b.index, "what is empty holds no index")
	}
}
