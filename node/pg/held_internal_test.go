package pg

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// deaf implements the operations, and no process hears of them.
type deaf struct {
	origin wire.Origin
	refs   uint64
}

func (d *deaf) Monitor(node.Dest) node.Ref   { d.refs++; return d.origin.RefOf(d.refs) }
func (d *deaf) DemonitorFlush(node.Ref) bool { return true }
func (d *deaf) Send(node.Dest, any) error    { return nil }
func origin(name string) wire.Origin {
	return wire.NewOrigin(wire.NodeID{Name: node.Atom(name), Creation: 1})
}
func bounded(members, groups int) *machine {
	m := newMachine(origin("here").PID(1), "pg", limited(members, groups))
	m.ops = &deaf{origin: origin("here")}
	return m
}

// consistent compares the counts with what is there.
func consistent(t *testing.T, m *machine) {
	t.Helper()
	members, groups, here, hereGroups := 0, 0, 0, 0
	of := map[node.Atom]holder{}
	holders := map[*group]int{}
	all := map[*group]int{}
	for pid, p := range m.peers {
		h := of[pid.Node()]
		h.scopes++
		for g, pids := range p.groups {
			require.NotZero(t, pids.len())
			h.members += pids.len()
			h.groups += weight(g.term)
			holders[g]++
			all[g] += pids.len()
			members += pids.len()
		}
		of[pid.Node()] = h
	}
	for _, w := range m.watchers {
		if at := w.pid.Node(); at != m.self.Node() {
			h := of[at]
			h.members++
			members++
			if w.of != nil {
				h.groups += weight(w.of.term)
				holders[w.of]++
			}
			of[at] = h
		}
	}
	for g := range holders {
		groups += weight(g.term)
	}
	for g := range m.table.groups() {
		v := g.look()
		require.Equal(t, [2]int64{int64(len(v.all)), int64(len(v.local))}, [2]int64{g.count.Load(), g.locals.Load()})
		require.Len(t, v.all, all[g]+len(v.local), "%v", g.term)
		if here += len(v.local); len(v.local) > 0 {
			hereGroups += weight(g.term)
		}
		require.Equal(t, holders[g], g.holders)
	}
	require.Len(t, m.holders, len(of))
	for at, h := range of {
		is := *m.holders[at]
		require.Equal(t, [3]int{h.scopes, h.members, h.groups}, [3]int{is.scopes, is.members, is.groups}, "%s", at)
		require.LessOrEqual(t, is.members, share(int(m.limits.members.Load())))
		require.LessOrEqual(t, is.groups, share(int(m.limits.groups.Load())))
		require.LessOrEqual(t, is.scopes, maxScopes)
	}
	require.Equal(t, [2]int{here, hereGroups}, [2]int{m.here.members, m.here.groups})
	require.EqualValues(t, members, m.table.heldMembers.Load())
	require.EqualValues(t, groups, m.table.heldGroups.Load())
	require.LessOrEqual(t, members, int(m.limits.members.Load()))
	require.LessOrEqual(t, groups, int(m.limits.groups.Load()))
}

func pidsOf(name string, n int) (all []node.PID) {
	for i := range n {
		all = append(all, origin(name).PID(uint64(100+i)))
	}
	return all
}

// One node has at most half of what all nodes may have, all have at most the whole, and what ends makes room.
func TestHeldMembers(t *testing.T) {
	m := bounded(10, 8)
	a, b, c := origin("a").PID(1), origin("b").PID(1), origin("c").PID(1)
	size := func(g string) int { return len(m.table.look(g).all) }
	for _, p := range []node.PID{a, b, c} {
		m.synced(p, nil)
	}
	m.joined(a, "g", pidsOf("a", 3))
	m.joined(a, "h", pidsOf("a", 3))
	require.Equal(t, [2]int{3, 2}, [2]int{size("g"), size("h")}, "half of 10 are 5")
	m.joined(a, "i", pidsOf("a", 1))
	require.Nil(t, m.table.find("i"))
	m.left(a, pidsOf("a", 3), []any{"i", "none", "h"})
	require.Zero(t, size("h"), "who is not there does not leave")
	m.joined(a, "i", pidsOf("a", 2))
	require.Equal(t, 2, size("i"))
	consistent(t, m)
	m.joined(b, "g", pidsOf("b", 5))
	m.joined(c, "g", pidsOf("c", 1))
	require.Equal(t, 8, size("g"), "all have 10")
	m.down(m.peers[b].ref, b, "")
	m.joined(c, "g", pidsOf("c", 1))
	require.Equal(t, 4, size("g"))
	consistent(t, m)
	// A sync replaces what was there, as far as the limits allow.
	m.synced(a, []entry{{"x", pidsOf("a", 4)}, {"y", pidsOf("a", 2)}, {"z", pidsOf("a", 1)}, {"x", pidsOf("a", 1)}})
	require.Equal(t, [4]int{4, 1, 0, 1}, [4]int{size("x"), size("y"), size("z"), size("g")})
	consistent(t, m)
	m.synced(a, nil)
	require.Zero(t, size("x"))
	consistent(t, m)
	assert.EqualValues(t, 6, m.limits.refused[ofMembers].Load())
	assert.Zero(t, m.limits.refused[ofGroups].Load())
}

// The same holds for groups. A long name counts for several, and one that is too long is refused.
func TestHeldGroups(t *testing.T) {
	var logged []string
	m := bounded(1000, 200)
	m.log = func(at node.Atom, what quotaKind) { logged = append(logged, fmt.Sprint(at, " ", what)) }
	a, b, c := origin("a").PID(1), origin("b").PID(1), origin("c").PID(1)
	there := func(g any) bool { return len(m.table.look(g).all) > 0 }
	for _, p := range []node.PID{a, b, c} {
		m.synced(p, nil)
	}
	one := pidsOf("x", 1)
	long := func(kib int) string { return strings.Repeat("x", kib<<10) }
	deep := any(long(64))
	for range 20 {
		deep = wire.Tuple{wire.List{deep}}
	}
	for name, g := range map[string]any{"text": long(64), "deep": deep, "map": wire.NewMap(1, long(64))} {
		m.joined(a, g, one)
		require.False(t, there(g), "%s", name)
		require.Nil(t, m.table.find(g), "%s", name)
	}
	m.joined(a, long(63), one)
	m.joined(a, wire.Tuple{long(34)}, one)
	require.True(t, there(long(63)), "64 groups")
	require.True(t, there(wire.Tuple{long(34)}), "35 groups")
	m.joined(a, 1, one)
	m.joined(a, 2, one)
	require.True(t, there(1), "the 100th group")
	require.False(t, there(2))
	m.joined(a, 1, one)
	require.Len(t, m.table.look(1).all, 2)
	m.joined(b, long(63), one)
	m.joined(b, long(35), one)
	for i := range 64 { // 100 of a, and 36 of b
		m.joined(c, i+10, one)
	}
	require.True(t, there(73), "200 groups: what two are in counts once")
	m.joined(c, 74, one)
	require.False(t, there(74))
	m.joined(c, long(63), one)
	require.Len(t, m.table.look(long(63)).all, 2, "it would be more than the share of one node")
	consistent(t, m)
	assert.Equal(t, []string{"a groups", "c groups"}, logged, "once a node")
	m.left(a, one, []any{wire.Tuple{long(34)}})
	m.joined(c, 74, one)
	require.True(t, there(74))
	consistent(t, m)
}

// A node may have few scope processes, and its monitors count as members.
func TestHeldScopesAndWatchers(t *testing.T) {
	m := bounded(10, 8)
	for i := range uint64(2 * maxScopes) {
		m.discovered(origin("a").PID(i))
		m.synced(origin("b").PID(i), []entry{{i, pidsOf("b", 1)}})
	}
	require.Len(t, m.peers, 2*maxScopes)
	consistent(t, m)
	watcher := origin("c").PID(1)
	refs := []node.Ref{}
	for m.mayWatch(watcher, "g", false) {
		refs = append(refs, m.watch(watcher, m.table.need("g")))
	}
	require.Len(t, refs, 4, "half of the groups")
	require.True(t, m.mayWatch(watcher, nil, true))
	refs = append(refs, m.watch(watcher, nil))
	require.False(t, m.mayWatch(watcher, nil, true), "half of the members")
	require.True(t, m.mayWatch(m.self, nil, true), "processes of this node may")
	consistent(t, m)
	for _, ref := range refs {
		require.True(t, m.unwatch(ref))
		consistent(t, m)
	}
	require.Nil(t, m.table.find("g"))
	require.True(t, m.mayJoin("g", 10))
	require.False(t, m.mayJoin("g", 11))
	m.join("g", pidsOf("here", 9))
	require.True(t, m.mayJoin("g", 1))
	require.False(t, m.mayJoin(strings.Repeat("x", 8<<10), 1))
	consistent(t, m)
}

// Whatever happens, the counts agree with what is there.
func TestHeldRandom(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	m := bounded(40, 16)
	names := []string{"a", "b", "c"}
	group := func() any {
		if g := r.IntN(12); g > 3 {
			return g
		} else {
			return strings.Repeat("x", g<<10)
		}
	}
	var refs []node.Ref
	for step := range 5000 {
		at := names[r.IntN(len(names))]
		p := origin(at).PID(uint64(r.IntN(3)))
		pids := pidsOf(at, r.IntN(6))
		switch r.IntN(9) {
		case 0:
			m.discovered(p)
		case 1:
			var all []entry
			for range r.IntN(6) {
				all = append(all, entry{group(), pidsOf(at, r.IntN(5))})
			}
			m.synced(p, all)
		case 2, 3, 4:
			m.joined(p, group(), pids)
		case 5:
			m.left(p, pids, []any{group(), group()})
		case 6:
			if q := m.peers[p]; q != nil && r.IntN(3) == 0 {
				m.down(q.ref, p, "")
			}
		case 7:
			if g := group(); m.mayWatch(p, g, false) {
				refs = append(refs, m.watch(p, m.table.need(g)))
			} else if len(refs) > 0 {
				m.unwatch(refs[r.IntN(len(refs))])
			}
		case 8:
			if r.IntN(2) == 0 {
				m.join(group(), pidsOf("here", 2))
			} else {
				m.leave(group(), pidsOf("here", 2))
			}
		}
		if step%7 == 0 {
			consistent(t, m)
		}
	}
	require.NotZero(t, m.limits.refused[ofMembers].Load())
	require.NotZero(t, m.limits.refused[ofGroups].Load())
}

func limited(members, groups int) *limits {
	l := new(limits)
	l.set(members, groups)
	return l
}
