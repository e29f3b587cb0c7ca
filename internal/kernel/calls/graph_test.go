package calls_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/testkit"
)

// Random waits and ends, compared with a model: an add is refused if and only if a chain of waits that go on leads from
// its target to the caller, and the cycle is that chain.
func TestGraphAsModel(t *testing.T) {
	r := testkit.Rand(t)
	const processes = 12
	var g calls.WaitGraph[int]
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
		cycle := g.Add(p, calls.WaitReply, one(to, func() bool { return goes }))
		if at != p {
			require.Nil(t, cycle)
			waits[p], on[p] = &goes, to
			continue
		}
		refused++
		waits[p] = nil
		var got []int
		for _, s := range cycle {
			got = append(got, s.Waiter)
			require.Equal(t, calls.WaitReply, s.Kind)
		}
		require.Equal(t, want, got)
	}
	require.Greater(t, refused, 100)
	for p := range processes {
		g.Remove(p)
	}
	require.Zero(t, g.Len())
}

// If several waiters close a cycle at the same time, exactly one is refused. A wait that closes no cycle is not
// refused.
func TestGraphAtTheSameTime(t *testing.T) {
	r := testkit.Rand(t)
	for range 2000 {
		n := 2 + r.IntN(4)
		var g calls.WaitGraph[int]
		var all sync.WaitGroup
		var refused atomic.Int64
		for p := range n {
			all.Go(func() {
				if c := g.Add(p, calls.WaitFuture, one((p+1)%n, always)); c != nil {
					if len(c) != n || c[0].Waiter != p {
						t.Errorf("%v is no cycle of %d from %d", c, n, p)
					}
					refused.Add(1)
				}
			})
		}
		all.Go(func() {
			if g.Add(n, calls.WaitReply, one(0, always)) != nil {
				t.Error("refused though nobody waits for it")
			}
		})
		all.Wait()
		require.EqualValues(t, 1, refused.Load())
	}
}

// one is the aim of a process that waits for one other.
func one(to int, waits func() bool) calls.WaitAim[int] {
	return calls.WaitAim[int]{To: [2]int{to, to}, Waits: waits}
}

func always() bool { return true }

// A wait for both a method and its process is refused if and only if there is a path from either to the waiter.
func TestGraphOfTwoAsModel(t *testing.T) {
	r := testkit.Rand(t)
	const waiters = 14 // 1 and on; 0 is nobody
	refused, let := 0, 0
	for range 3000 {
		var g calls.WaitGraph[int]
		edges := map[int][2]int{}
		var leads func(from, to int, seen map[int]bool) bool
		leads = func(from, to int, seen map[int]bool) bool {
			if from == to {
				return true
			}
			e, ok := edges[from]
			if !ok || seen[from] {
				return false
			}
			seen[from] = true
			return leads(e[0], to, seen) || leads(e[1], to, seen)
		}
		for range 40 {
			p := 1 + r.IntN(waiters)
			if _, waits := edges[p]; waits {
				g.Remove(p)
				delete(edges, p)
				continue
			}
			to := [2]int{1 + r.IntN(waiters), r.IntN(waiters + 1)}
			want := leads(to[0], p, map[int]bool{}) || leads(to[1], p, map[int]bool{})
			cycle := g.Add(p, calls.WaitFuture, calls.WaitAim[int]{To: to, Waits: always})
			require.Equal(t, want, cycle != nil)
			if !want {
				let++
				edges[p] = to
				continue
			}
			refused++
			for i, s := range cycle {
				e := edges[s.Waiter]
				if i == 0 {
					e = to
				}
				require.Contains(t, e, cycle[(i+1)%len(cycle)].Waiter)
			}
		}
	}
	require.Greater(t, min(refused, let), 1000)
}

// A process that waits for several others closes a cycle through any of them that it still waits for, and no other.
func TestGraphOfSeveral(t *testing.T) {
	var g calls.WaitGraph[int]
	first := true
	several := func() []calls.WaitAim[int] {
		return []calls.WaitAim[int]{one(2, func() bool { return first }), one(3, always)}
	}
	require.Nil(t, g.Add(1, calls.WaitFuture, several()...))
	require.Equal(t, []calls.WaitStep[int]{{2, calls.WaitReply}, {1, calls.WaitFuture}}, g.Add(2, calls.WaitReply, one(1, always)))
	require.Equal(t, []calls.WaitStep[int]{{3, calls.WaitReply}, {1, calls.WaitFuture}}, g.Add(3, calls.WaitReply, one(1, always)))
	require.Nil(t, g.Add(4, calls.WaitReply, one(1, always)))
	first = false
	require.Nil(t, g.Add(2, calls.WaitReply, one(1, always)), "the first of the two is there")
	require.Nil(t, g.Add(1, calls.WaitFuture, several()...), "it does not wait for the first")
	g.Remove(1)
	require.Nil(t, g.Add(3, calls.WaitReply, one(1, always)))
	require.Equal(t, []calls.WaitStep[int]{{1, calls.WaitFuture}, {3, calls.WaitReply}}, g.Add(1, calls.WaitFuture, several()...))
}
