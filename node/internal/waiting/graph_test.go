package waiting_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/randtest"
	"github.com/actornode/actornode/node/internal/waiting"
)

// Random waits and ends beside a model: an add is refused if and only if the caller can be reached
// from whom it waits for by waits that go on, and the cycle is that way.
func TestGraphAsModel(t *testing.T) {
	r := randtest.New(t)
	const processes = 12
	var g waiting.Graph[int]
	var waits [processes]*bool
	var on [processes]int
	refused := 0
	for range 50_000 {
		p, to := r.IntN(processes), r.IntN(processes)
		switch r.IntN(4) {
		case 0: // answered, and not removed yet
			if waits[p] != nil {
				*waits[p] = false
			}
			continue
		case 1:
			g.Remove(p)
			waits[p] = nil
			continue
		}
		if waits[p] != nil && *waits[p] || to == p {
			continue // it waits, and so does nothing
		}
		want := []int{p}
		at := to
		for at != p && waits[at] != nil && *waits[at] {
			want = append(want, at)
			at = on[at]
		}
		goes := true
		cycle := g.Add(p, to, waiting.Reply, func() bool { return goes })
		if at != p {
			require.Nil(t, cycle)
			waits[p], on[p] = &goes, to
			continue
		}
		refused++
		waits[p] = nil
		var got []int
		for _, s := range cycle {
			got = append(got, s.Process)
			require.Equal(t, waiting.Reply, s.Kind)
		}
		require.Equal(t, want, got)
	}
	require.Greater(t, refused, 100)
	for p := range processes {
		g.Remove(p)
	}
	require.Zero(t, g.Len())
}

// Of those who close a cycle at the same time exactly one is refused, and none that closes none.
func TestGraphAtTheSameTime(t *testing.T) {
	r := randtest.New(t)
	for range 2000 {
		n := 2 + r.IntN(4)
		var g waiting.Graph[int]
		var all sync.WaitGroup
		var refused atomic.Int64
		for p := range n {
			all.Go(func() {
				if c := g.Add(p, (p+1)%n, waiting.Future, func() bool { return true }); c != nil {
					if len(c) != n || c[0].Process != p {
						t.Errorf("%v is no cycle of %d from %d", c, n, p)
					}
					refused.Add(1)
				}
			})
		}
		all.Go(func() {
			if g.Add(n, 0, waiting.Reply, func() bool { return true }) != nil {
				t.Error("refused though nobody waits for it")
			}
		})
		all.Wait()
		require.EqualValues(t, 1, refused.Load())
	}
}

// Others that wait for each other, as space has been taken since, do not keep a third from waiting.
func TestGraphWithCycleOfOthers(t *testing.T) {
	var g waiting.Graph[int]
	lacks := false
	require.Nil(t, g.Add(1, 2, waiting.Space, func() bool { return lacks }))
	require.Nil(t, g.Add(2, 1, waiting.Reply, func() bool { return true }), "there is space")
	lacks = true
	require.Nil(t, g.Add(3, 1, waiting.Reply, func() bool { return true }))
	require.Nil(t, g.Add(4, 3, waiting.Reply, func() bool { return true }))
	require.Equal(t, []waiting.Step[int]{{1, waiting.Space}, {2, waiting.Reply}},
		g.Add(1, 2, waiting.Space, func() bool { return lacks }), "it looks again")
}
