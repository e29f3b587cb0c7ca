package pg_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/wire"
)

// Tests between nodes of this program.

// startTwo starts two nodes that are connected.
func startTwo(t *testing.T) (a, b *peer) {
	c := clustertest.NewCluster(t)
	a, b = startPeer(t, c, "a", pg.Config{}), startPeer(t, c, "b", pg.Config{})
	a.connect(b.Name())
	return a, b
}

func TestFarJoinAndLeave(t *testing.T) {
	a, b := startTwo(t)
	wa, wb := a.spawn(3), b.spawn(2)
	a.join("g", wa[0])
	b.sees("g", wa[0])
	b.join("g", wb[0], wb[1], wb[0])
	a.sees("g", wa[0], wb[0], wb[0], wb[1])
	assert.Equal(t, wa[:1], a.scope.LocalMembers("g"))
	a.join("g", wa...)
	a.join(wire.Tuple{"h", 1}, wa[0])
	b.sees("g", append(append(wa, wb...), wa[0], wb[0])...)
	b.sees(wire.Tuple{"h", 1}, wa[0])
	assert.Equal(t, []any{"g"}, b.scope.LocalGroups())
	a.Exit(wa[0], node.Kill)
	b.sees("g", wa[1], wa[2], wb[0], wb[0], wb[1])
	b.sees(wire.Tuple{"h", 1})
	b.leave("g", wb[0])
	a.sees("g", wa[1], wa[2], wb[0], wb[1])
	require.ErrorIs(t, a.scope.Join(testkit.Context(t), a, "g", wb[0]), pg.ErrNotLocal)
}

// A new connection begins with a report of what was there before it.
func TestFarSync(t *testing.T) {
	c := clustertest.NewCluster(t)
	a, b := startPeer(t, c, "a", pg.Config{}), startPeer(t, c, "b", pg.Config{})
	wa, wb := a.spawn(2), b.spawn(2)
	for i := range 100 {
		a.join(i, wa...)
		b.join(i, wb[i%2], wb[i%2])
	}
	b.connect(a.Name())
	for i := range 100 {
		a.sees(i, wa[0], wa[1], wb[i%2], wb[i%2])
		b.sees(i, wa[0], wa[1], wb[i%2], wb[i%2])
	}
}

func TestFarDisconnect(t *testing.T) {
	a, b := startTwo(t)
	wa, wb := a.spawn(1), b.spawn(1)
	a.join("g", wa...)
	b.join("g", wb...)
	for range 10 {
		a.sees("g", wa[0], wb[0])
		b.sees("g", wa[0], wb[0])
		require.True(t, a.Disconnect(b.Name()))
		a.sees("g", wa...)
		b.sees("g", wb...)
		assert.Empty(t, a.AllNodes(), "nothing connects again by itself")
		b.connect(a.Name())
	}
	a.sees("g", wa[0], wb[0])
	b.sees("g", wa[0], wb[0])
}

// A change while the connection is lost does not open one.
func TestFarNothingConnects(t *testing.T) {
	a, b := startTwo(t)
	wa, wb := a.spawn(1), b.spawn(1)
	b.join("g", wb...)
	a.sees("g", wb...)
	for range 100 {
		a.connect(b.Name())
		a.sees("g", wb...)
		go a.Disconnect(b.Name())
		a.join("g", wa...)
		a.leave("g", wa...)
		a.sees("g")
		require.Empty(t, a.AllNodes())
	}
}

// The scope's process may end on one node and come back.
func TestFarScopeEnds(t *testing.T) {
	a, b := startTwo(t)
	wa, wb := a.spawn(1), b.spawn(1)
	a.join("g", wa...)
	b.join("g", wb...)
	a.sees("g", wa[0], wb[0])
	b.sees("g", wa[0], wb[0])
	for range 3 {
		pid, _ := b.Whereis("pg")
		ref := b.self.Monitor(pid)
		b.Exit(pid, node.Kill)
		a.sees("g", wa...)
		require.Equal(t, ref, node.ReceiveOf[node.Down](b.self).Ref)
		b.start(pg.Config{})
		b.sees("g", wa...)
		b.join("g", wb...)
		a.sees("g", wa[0], wb[0])
	}
}

func TestFarLateScope(t *testing.T) {
	c := clustertest.NewCluster(t)
	a, b := startPeer(t, c, "a", pg.Config{}), startPeer(t, c, "b", pg.Config{Name: "-"})
	a.connect(b.Name())
	wa, wb := a.spawn(1), b.spawn(1)
	a.join("g", wa...)
	b.start(pg.Config{})
	b.sees("g", wa...)
	b.join("g", wb...)
	a.sees("g", wa[0], wb[0])
}

func TestFarOtherScope(t *testing.T) {
	c := clustertest.NewCluster(t)
	a, b := startPeer(t, c, "a", pg.Config{Name: "one"}), startPeer(t, c, "b", pg.Config{Name: "one"})
	other, err := pg.Start(testkit.Context(t), b, pg.Config{Name: "two"})
	require.NoError(t, err)
	a.connect(b.Name())
	wa := a.spawn(1)
	a.join("g", wa...)
	b.sees("g", wa...)
	assert.Empty(t, other.Members("g"))
}

// A process on another node can monitor by message, as pg.erl's functions do.
func TestFarMonitor(t *testing.T) {
	a, b := startTwo(t)
	w := b.spawn(1)
	m, err := node.Call[any](testkit.Context(t), a.self, node.At{Name: "pg", Node: b.Name()}, any(wire.Atom("monitor")))
	require.NoError(t, err)
	ref := m.(wire.Tuple)[0]
	b.join("g", w...)
	assert.True(t, wire.Equal(wire.Tuple{ref, wire.Atom("join"), "g", wire.List{w[0]}}, a.self.Receive()))
	b.leave("g", w...)
	assert.True(t, wire.Equal(wire.Tuple{ref, wire.Atom("leave"), "g", wire.List{w[0]}}, a.self.Receive()))
}

// A node that comes back at once under its name counts as another node.
func TestFarNewLife(t *testing.T) {
	c := clustertest.NewCluster(t)
	a := startPeer(t, c, "a", pg.Config{})
	wa := a.spawn(1)
	a.join("g", wa...)
	for range 3 {
		b := startPeer(t, c, "b", pg.Config{})
		b.connect(a.Name())
		w := b.spawn(1)
		b.join("g", w...)
		a.sees("g", wa[0], w[0])
		b.sees("g", wa[0], w[0])
		b.self.Close(nil)
		require.NoError(t, b.Stop())
	}
	a.sees("g", wa...)
}

// storm makes n random changes on a node. The scope itself must know in the end which of pids are where.
func storm(p *peer, pids []node.PID, seed uint64, n int) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range n {
		g := fmt.Sprint(r.IntN(10))
		some := []node.PID{pids[r.IntN(len(pids))], pids[r.IntN(len(pids))]}[:1+r.IntN(2)]
		if r.IntN(2) == 0 {
			assert.NoError(p.t, p.scope.Join(testkit.Context(p.t), p, g, some...))
		} else if err := p.scope.Leave(testkit.Context(p.t), p, g, some...); err != nil {
			assert.ErrorIs(p.t, err, pg.ErrNotJoined)
		}
	}
}

func TestFarStorm(t *testing.T) {
	c := clustertest.NewCluster(t)
	var all []*peer
	var views []func() map[string]string
	for i := range 3 {
		p := startPeer(t, c, fmt.Sprint("n", i), pg.Config{})
		for _, q := range all {
			p.connect(q.Name())
		}
		all, views = append(all, p), append(views, p.view)
	}
	var wg sync.WaitGroup
	for i, p := range all {
		wg.Go(func() {
			pids := p.spawn(10)
			storm(p, pids, uint64(i), 1000)
			for _, pid := range pids[:5] {
				p.Exit(pid, node.Kill)
			}
			storm(p, pids[5:], uint64(i), 100)
		})
		wg.Go(func() { // connections come and go meanwhile
			for range 20 {
				p.Disconnect(all[(i+1)%3].Name())
				p.Connect(testkit.Context(t), all[(i+1)%3].Name())
			}
		})
	}
	wg.Wait()
	for i, p := range all {
		for _, q := range all[:i] {
			p.connect(q.Name())
		}
	}
	for _, p := range all { // a last change, by which the others know all changes before it
		w := p.spawn(1)
		p.join("last", w...)
		for _, q := range all {
			testkit.UntilTrue(t, func() bool { return slices.Contains(q.scope.Members("last"), w[0]) }, "the last word is heard")
		}
	}
	alike(t, views...)
	require.NotEmpty(t, all[0].scope.Groups())
}

// LeaveAll takes the processes of its node, and no others, out of all groups, for other nodes too. They may join again.
func TestLeaveAll(t *testing.T) {
	a, b := startTwo(t)
	wa, wb := a.spawn(2), b.spawn(1)
	a.join("g", wa[0], wa[0], wa[1])
	a.join(wire.Tuple{"h", 1}, wa[1])
	b.join("g", wb...)
	b.sees("g", wa[0], wa[0], wa[1], wb[0])
	b.sees(wire.Tuple{"h", 1}, wa[1])
	a.sees("g", wa[0], wa[0], wa[1], wb[0])
	n, err := a.scope.LeaveAll(testkit.Context(t), a)
	require.NoError(t, err)
	assert.Equal(t, 4, n)
	assert.Empty(t, a.scope.LocalGroups())
	assert.Equal(t, wb, a.scope.Members("g"))
	b.sees("g", wb...)
	b.sees(wire.Tuple{"h", 1})
	n, err = a.scope.LeaveAll(testkit.Context(t), a)
	require.NoError(t, err)
	assert.Zero(t, n)
	a.join("g", wa[0])
	b.sees("g", wa[0], wb[0])
}
