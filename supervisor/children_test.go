package supervisor

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// TestChildren compares children with a plain list.
func TestChildren(t *testing.T) {
	origin := wire.NewOrigin(wire.NodeID{Name: "a@b"})
	for seed := range testkit.By[uint64](10, 50, 1000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var c children
		var all []*child
		pids := uint64(0)
		for range 300 {
			switch n := len(all); {
			case n == 0 || r.IntN(4) == 0:
				k := &child{spec: &Child{ID: int(pids), Significant: r.IntN(2) == 0}, dynamic: r.IntN(3) == 0}
				pids++
				c.save(k)
				all = append(all, k)
			case r.IntN(5) == 0:
				i := r.IntN(n)
				c.forget(all[i])
				all = slices.Delete(all, i, i+1)
			case r.IntN(2) == 0:
				pids++
				k := all[r.IntN(n)]
				c.down(k, stopped) // as always before a start
				c.up(k, origin.PID(pids))
			default:
				c.down(all[r.IntN(n)], phase(2*r.IntN(2))) // stopped or restarting
			}
			check(t, &c, all)
		}
		// The loop may forget the child that is yielded.
		for k := range c.backward() {
			require.Same(t, all[len(all)-1], k)
			all = all[:len(all)-1]
			c.forget(k)
			check(t, &c, all)
		}
		assert.Nil(t, c.first)
	}
}

func check(t *testing.T, c *children, all []*child) {
	t.Helper()
	var forward, backward []*child
	for k := c.first; k != nil; k = k.next {
		forward = append(forward, k)
	}
	for k := range c.backward() {
		backward = append(backward, k)
	}
	slices.Reverse(backward)
	require.Equal(t, len(all), c.n)
	require.True(t, slices.Equal(all, forward))
	require.True(t, slices.Equal(all, backward))
	vital, live, named := 0, 0, 0
	for _, k := range all {
		if k.phase == running {
			live++
			require.Same(t, k, c.byPID[k.pid])
		}
		if k.spec.Significant && k.phase != stopped {
			vital++
		}
		if k.dynamic {
			require.Nil(t, c.get(k.id()))
			continue
		}
		named++
		require.Same(t, k, c.get(k.id()))
	}
	require.Equal(t, live, len(c.byPID))
	require.Equal(t, vital, c.liveSignificant)
	require.Equal(t, named, c.byID.Len())
}

// TestQueue compares a queue with a slice.
func TestQueue(t *testing.T) {
	for seed := range testkit.By[uint64](20, 100, 2000) {
		r := rand.New(rand.NewPCG(seed, 2))
		var q queue
		var all []any
		for i := range 3000 {
			odd := func(m any) bool { return m.(int)%7 == 0 }
			switch grow := 2 + i/1000%3; {
			case r.IntN(5) < grow:
				q.push(i)
				all = append(all, i)
			case r.IntN(10) == 0:
				got, ok := q.pop(odd)
				at := slices.IndexFunc(all, odd)
				require.Equal(t, at >= 0, ok)
				if ok {
					require.Equal(t, all[at], got)
					all = slices.Delete(all, at, at+1)
				}
			default:
				got, ok := q.pop(nil)
				require.Equal(t, len(all) > 0, ok)
				if ok {
					require.Equal(t, all[0], got)
					all = all[1:]
				}
			}
			require.Equal(t, len(all), q.len())
		}
	}
}

// An empty queue keeps no memory.
func TestQueueShrinks(t *testing.T) {
	var q queue
	for i := range 1000 {
		q.push(i)
		q.push(node.Exited{From: wire.NewOrigin(wire.NodeID{Name: "a@b"}).PID(uint64(i))})
	}
	for range 2000 {
		q.pop(nil)
	}
	assert.Equal(t, queue{}, q)
}

func TestQueueExitOf(t *testing.T) {
	origin := wire.NewOrigin(wire.NodeID{Name: "a@b"})
	a, b, x := origin.PID(1), origin.PID(2), origin.PID(3)
	var q queue
	q.push("m")
	q.push(node.Exited{From: a, Reason: 1})
	q.pop(nil) // the rest is in the other half
	q.push(node.Exited{From: b, Reason: 2})
	for pid, want := range map[node.PID]any{a: 1, b: 2} {
		got, ok := q.exitOf(pid)
		assert.True(t, ok)
		assert.Equal(t, want, got)
	}
	_, ok := q.exitOf(x)
	assert.False(t, ok)
	assert.Equal(t, 2, q.len())
	q.push(node.Exited{From: a, Reason: 3})
	got, _ := q.exitOf(a)
	assert.Equal(t, 1, got, "the first, as in OTP")
	q.pop(nil)
	q.push("m")
	_, ok = q.exitOf(b)
	assert.True(t, ok)
	q.pop(nil)
	_, ok = q.exitOf(b)
	assert.False(t, ok)
}
