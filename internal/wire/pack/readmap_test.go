package pack

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
)

// Random keys beside a map: the first value of each stays.
func TestMapAsModel(t *testing.T) {
	r := testkit.Rand(t)
	for range 50 {
		var m Map[int, int]
		model := map[int]int{}
		for i := range 1000 {
			k := r.IntN(200)
			if r.IntN(3) == 0 {
				m.Add(k, i)
				if _, has := model[k]; !has {
					model[k] = i
				}
			}
			v, ok := m.Get(k)
			want, has := model[k]
			require.Equal(t, has, ok)
			require.Equal(t, want, v)
			require.Equal(t, want, m.Of(k))
			require.Equal(t, len(model), m.Len())
		}
	}
}

// Many read while one adds: what has been added is found at once.
func TestMapAtTheSameTime(t *testing.T) {
	const n = 2000
	var m Map[int, int]
	added := make(chan int)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for k := range added {
				for i := range k + 1 {
					if v, ok := m.Get(i); !ok || v != i {
						t.Errorf("%d: got %d %v", i, v, ok)
						return
					}
				}
			}
		})
	}
	for i := range n {
		m.Add(i, i)
		if i%10 == 0 {
			added <- i
		}
	}
	close(added)
	all.Wait()
}

// To look allocates nothing.
func TestMapAllocatesNothing(t *testing.T) {
	var m Map[int, int]
	for i := range 100 {
		m.Add(i, i)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { m.Of(7); m.Of(1000) }))
}
