package pg_test

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

func TestJoinAndLeave(t *testing.T) {
	p := startPeer(t, nil, "a", pg.Config{})
	w := p.spawn(3)
	assert.Empty(t, p.scope.Members("g"))
	assert.Empty(t, p.scope.Groups())

	p.join("g", w[0])
	p.join("g", w[1], w[2], w[0])
	assert.Equal(t, sorted([]node.PID{w[0], w[0], w[1], w[2]}), sorted(p.scope.Members("g")))
	assert.Equal(t, p.scope.Members("g"), p.scope.LocalMembers("g"))
	assert.Equal(t, p.scope.Members("g"), slices.Collect(p.scope.Each("g")))
	assert.Equal(t, []any{"g"}, p.scope.Groups())
	assert.Equal(t, []any{"g"}, p.scope.LocalGroups())

	p.leave("g", w[0])
	assert.Equal(t, sorted(w), sorted(p.scope.Members("g")))
	p.leave("g", w[0], w[0], w[1]) // one leave too many
	assert.Equal(t, []node.PID{w[2]}, p.scope.Members("g"))
	require.ErrorIs(t, p.scope.Leave(testkit.Context(t), p, "g", w[0]), pg.ErrNotJoined)
	require.ErrorIs(t, p.scope.Leave(testkit.Context(t), p, "h", w[2]), pg.ErrNotJoined)
	p.leave("g", w[2])
	assert.Empty(t, p.scope.Groups())

	p.join("g")
	assert.Empty(t, p.scope.Groups(), "nobody has joined")
}

func TestExitLeaves(t *testing.T) {
	p := startPeer(t, nil, "a", pg.Config{})
	w := p.spawn(2)
	p.join("g", w[0], w[0], w[1])
	p.join("h", w[0])
	p.Exit(w[0], node.Kill)
	p.sees("g", w[1])
	p.sees("h")
	p.join("g", w[0]) // dead: joins, and leaves
	p.sees("g", w[1])
}

// A caller may do with its slices what it wants.
func TestSlicesAreCopied(t *testing.T) {
	p := startPeer(t, nil, "a", pg.Config{})
	w := p.spawn(3)
	mine := slices.Clone(w)
	p.join("g", mine...)
	clear(mine)
	clear(p.scope.Members("g"))
	clear(p.scope.LocalMembers("g"))
	_, all, err := p.scope.Monitor(testkit.Context(t), p.self, "g")
	require.NoError(t, err)
	clear(all)
	_, groups, err := p.scope.MonitorScope(testkit.Context(t), p.self)
	require.NoError(t, err)
	clear(groups[0].PIDs)
	assert.Equal(t, sorted(w), sorted(p.scope.Members("g")))
}

// Equal terms name one group, whatever Go types they have.
func TestGroupTerms(t *testing.T) {
	p := startPeer(t, nil, "a", pg.Config{})
	w := p.spawn(1)[0]
	big1 := new(big.Int).Lsh(big.NewInt(1), 100)
	for i, spellings := range [][]any{
		{1, int64(1), uint8(1), big.NewInt(1)},
		{1.0, float32(1)},
		{big1, new(big.Int).Set(big1)},
		{"b", []byte("b"), wire.NewBitstring([]byte("b"), 8)},
		{wire.NewBitstring([]byte{0xe0}, 3)},
		{wire.Atom("b")},
		{true, wire.AtomTrue},
		{wire.Charlist("b"), wire.List{98}},
		{nil, wire.List{}, wire.List(nil), wire.Charlist("")},
		{wire.Tuple{wire.Atom("a"), "b", 1}, wire.Tuple{wire.Atom("a"), []byte("b"), int16(1)}},
		{wire.Tuple{wire.Atom("a"), "b", 1.0}},
		{wire.NewMap(1, 2, "a", wire.Charlist("b")), wire.NewMap([]byte("a"), wire.List{98}, 1, 2)},
		{wire.ImproperList{Head: []any{1}, Tail: 2}},
		{w}, {p.MakeRef()},
	} {
		for _, g := range spellings {
			require.Empty(t, p.scope.Members(g), "%d: %T", i, g)
		}
		p.join(spellings[0], w)
		for _, g := range spellings {
			require.Len(t, p.scope.Members(g), 1, "%d: %T", i, g)
		}
		require.Len(t, p.scope.Groups(), i+1)
	}
	for _, g := range p.scope.Groups() {
		p.leave(g, w)
	}
	assert.Empty(t, p.scope.Groups())

	for _, g := range []any{struct{}{}, []any{1}, wire.PID{}, wire.Tuple{wire.Ref{}}} {
		require.ErrorIs(t, p.scope.Join(testkit.Context(t), p, g, w), node.ErrArgument)
		assert.Empty(t, p.scope.Members(g))
	}
}

func TestOnlyLocalProcesses(t *testing.T) {
	p := startPeer(t, nil, "a", pg.Config{})
	w := p.spawn(1)[0]
	other := wire.NewOrigin(wire.NodeID{Name: p.Name(), Creation: p.Creation() + 1}).PID(w.Number())
	require.ErrorIs(t, p.scope.Join(testkit.Context(t), p, "g", w, other), pg.ErrNotLocal)
	assert.Empty(t, p.scope.Members("g"))
	require.ErrorIs(t, p.scope.Leave(testkit.Context(t), p, "g", other), pg.ErrNotLocal)
}

func change(t *testing.T, p *peer) pg.Change {
	t.Helper()
	c, err := node.ReceiveOfWithin[pg.Change](p.self, testkit.Limit)
	require.NoError(t, err)
	return c
}

func TestMonitor(t *testing.T) {
	p := startPeer(t, nil, "a", pg.Config{})
	w := p.spawn(2)
	p.join("g", w[0])
	ref, all, err := p.scope.Monitor(testkit.Context(t), p.self, "g")
	require.NoError(t, err)
	assert.Equal(t, w[:1], all)
	p.join("other", w[0])
	p.join("g", w...)
	assert.Equal(t, pg.Change{Ref: ref, Join: true, Group: "g", PIDs: w}, change(t, p))
	p.leave("g", w[0])
	assert.Equal(t, pg.Change{Ref: ref, Group: "g", PIDs: w[:1]}, change(t, p))
	p.Exit(w[0], node.Kill)
	assert.Equal(t, pg.Change{Ref: ref, Group: "g", PIDs: w[:1]}, change(t, p))
	p.leave("g", w[1]) // stays in the mailbox, until:
	was, err := p.scope.Demonitor(testkit.Context(t), p.self, ref)
	require.NoError(t, err)
	assert.True(t, was)
	p.join("g", w[1])
	_, err = p.self.ReceiveWithin(0, nil)
	require.ErrorIs(t, err, node.ErrTimeout)
	was, err = p.scope.Demonitor(testkit.Context(t), p.self, ref)
	require.NoError(t, err)
	assert.False(t, was)

	_, _, err = p.scope.Monitor(testkit.Context(t), p, "g")
	require.EqualError(t, err, "pg: only a process can monitor groups")
	_, _, err = p.scope.Monitor(testkit.Context(t), p.self, struct{}{})
	require.ErrorIs(t, err, node.ErrArgument)
}

func TestMonitorScope(t *testing.T) {
	p := startPeer(t, nil, "a", pg.Config{})
	w := p.spawn(2)
	p.join("g", w...)
	p.join(1, w[0])
	ref, all, err := p.scope.MonitorScope(testkit.Context(t), p.self)
	require.NoError(t, err)
	assert.ElementsMatch(t, []pg.Members{{Group: "g", PIDs: w}, {Group: 1, PIDs: w[:1]}}, all)
	p.join("new", w[1])
	assert.Equal(t, pg.Change{Ref: ref, Join: true, Group: "new", PIDs: w[1:]}, change(t, p))
	p.leave("new", w[1])
	assert.Equal(t, pg.Change{Ref: ref, Group: "new", PIDs: w[1:]}, change(t, p))
}

// A watcher that exits is forgotten, and so is a group that only this process watched.
func TestWatcherExits(t *testing.T) {
	p := startPeer(t, nil, "a", pg.Config{})
	other := nodetest.NewProbe(t, p.Node)
	_, _, err := p.scope.Monitor(testkit.Context(t), other, "g")
	require.NoError(t, err)
	_, _, err = p.scope.MonitorScope(testkit.Context(t), other)
	require.NoError(t, err)
	monitors := func() any {
		state, err := sys.GetState(testkit.Context(t), p, wire.Atom("pg"))
		require.NoError(t, err)
		v, _ := state.(wire.Map).Get(wire.Atom("monitors"))
		return v
	}
	assert.Equal(t, 2, monitors())
	other.Close(nil)
	assert.Equal(t, 0, monitors()) // both Downs arrived before the question
	assert.Empty(t, p.scope.Groups())
}

func TestScopesAreApart(t *testing.T) {
	p := startPeer(t, nil, "a", pg.Config{})
	other, err := pg.Start(testkit.Context(t), p, pg.Config{Name: "other"})
	require.NoError(t, err)
	w := p.spawn(1)
	p.join("g", w...)
	assert.Empty(t, other.Members("g"))
	assert.Equal(t, node.Atom("other"), other.Name())
	_, err = pg.Start(testkit.Context(t), p, pg.Config{Name: "other"})
	require.ErrorIs(t, err, node.ErrNameTaken)
	found, err := pg.Find(testkit.Context(t), p, "other")
	require.NoError(t, err)
	assert.Same(t, other, found)
	_, err = pg.Find(testkit.Context(t), p, "third")
	require.ErrorIs(t, err, node.ErrNoName)
	_, err = pg.New(pg.Config{Seek: -1})
	require.Error(t, err)
}

// When the scope's process ends, however it does, all groups are empty, and the handle serves the next one.
func TestScopeEnds(t *testing.T) {
	p := startPeer(t, nil, "a", pg.Config{Name: "-"})
	s, err := pg.New(pg.Config{})
	require.NoError(t, err)
	p.scope = s
	w := p.spawn(1)
	assert.Empty(t, s.Members("g"))
	require.Error(t, s.Join(testkit.Context(t), p, "g", w...))
	for _, end := range []func(pid node.PID){
		func(pid node.PID) { p.Exit(pid, node.Kill) },
		func(pid node.PID) { require.NoError(t, sys.Stop(testkit.Context(t), p, pid, node.Shutdown)) },
	} {
		pid, err := node.SpawnWait(testkit.Context(t), p, node.Options{}, s.Actor())
		require.NoError(t, err)
		p.join("g", w...)
		assert.Equal(t, w, s.Members("g"))
		end(pid)
		testkit.UntilTrue(t, func() bool { return len(s.Groups()) == 0 && len(s.Members("g")) == 0 }, "nobody is a member")
	}
}

func TestStartLink(t *testing.T) {
	p := startPeer(t, nil, "a", pg.Config{Name: "-"})
	starter := nodetest.NewProbe(t, p.Node)
	s, err := pg.Start(testkit.Context(t), starter, pg.Config{Link: true})
	require.NoError(t, err)
	pid, ok := p.Whereis(s.Name())
	require.True(t, ok)
	ref := p.self.Monitor(pid)
	starter.Close(node.Shutdown)
	assert.Equal(t, node.Down{Ref: ref, PID: pid, Reason: node.Shutdown}, p.self.Receive())
}

// Messages from elsewhere that make no sense do no harm.
func TestStrangeMessages(t *testing.T) {
	p := startPeer(t, nil, "a", pg.Config{})
	w := p.spawn(1)
	p.join("g", w...)
	far := wire.NewOrigin(wire.NodeID{Name: "far@h", Creation: 1}).PID(7)
	for _, m := range []any{
		wire.Atom("hello"), 1, wire.Tuple{}, wire.Tuple{wire.Atom("join")},
		wire.Tuple{wire.Atom("discover"), 1}, wire.Tuple{wire.Atom("discover"), far, 1, 2}, wire.Tuple{wire.Atom("discover"), w[0]},
		wire.Tuple{wire.Atom("discover"), far}, // not connected
		wire.Tuple{wire.Atom("join"), far, "g", far}, wire.Tuple{wire.Atom("join"), far, "g", 1},
		wire.Tuple{wire.Atom("join"), far, "g", wire.List{1}}, wire.Tuple{wire.Atom("leave"), far, w[0], wire.List{"g"}},
		wire.Tuple{wire.Atom("leave"), far, w[0], "g"}, wire.Tuple{wire.Atom("leave"), w[0], w[0], wire.List{"g"}},
		wire.Tuple{wire.Atom("$gen_cast"), 1}, wire.Tuple{wire.Atom("$gen_cast"), wire.Tuple{wire.Atom("sync"), w[0], wire.List{}}},
		wire.Tuple{wire.Atom("$gen_cast"), wire.Tuple{wire.Atom("sync"), far, wire.List{1}}},
		wire.Tuple{wire.Atom("$gen_cast"), wire.Tuple{wire.Atom("sync"), far, wire.List{wire.Tuple{"g", 1}}}},
	} {
		require.NoError(t, p.Send(node.Atom("pg"), m))
	}
	for _, q := range []any{1, wire.Atom("members"), wire.Tuple{wire.Atom("monitor")}, wire.Tuple{wire.Atom("join_local"), "g", 1},
		wire.Tuple{wire.Atom("x"), "g", w[0]}} {
		_, err := node.Call[any](testkit.Context(t), p, wire.Atom("pg"), q)
		var unhandled *genserver.UnhandledError
		require.ErrorAs(t, err, &unhandled, "%v", q)
	}
	assert.Equal(t, w, p.scope.Members("g"))
	assert.Equal(t, []any{"g"}, p.scope.Groups())
}

// The requests that pg.erl's functions send to its process.
func TestErlangRequests(t *testing.T) {
	p := startPeer(t, nil, "a", pg.Config{})
	w := p.spawn(2)
	ask := func(q any) any {
		t.Helper()
		v, err := node.Call[any](testkit.Context(t), p.self, wire.Atom("pg"), q)
		require.NoError(t, err)
		return v
	}
	assert.Equal(t, wire.AtomOK, ask(wire.Tuple{wire.Atom("join_local"), "g", w[0]}))
	assert.Equal(t, wire.AtomOK, ask(wire.Tuple{wire.Atom("join_local"), "g", wire.List{w[1], w[1]}}))
	assert.Equal(t, wire.AtomOK, ask(wire.Tuple{wire.Atom("leave_local"), "g", w[1]}))
	assert.Equal(t, wire.Atom("not_joined"), ask(wire.Tuple{wire.Atom("leave_local"), "h", w[1]}))
	m := ask(wire.Tuple{wire.Atom("monitor"), "g"}).(wire.Tuple)
	assert.ElementsMatch(t, wire.List{w[0], w[1]}, m[1])
	s := ask(wire.Atom("monitor")).(wire.Tuple)
	all, _ := s[1].(wire.Map).Get("g")
	assert.ElementsMatch(t, wire.List{w[0], w[1]}, all)
	assert.Equal(t, wire.AtomOK, ask(wire.Tuple{wire.Atom("demonitor"), m[0]}))
	assert.Equal(t, wire.AtomFalse, ask(wire.Tuple{wire.Atom("demonitor"), m[0]}))
	assert.Equal(t, wire.AtomOK, ask(wire.Tuple{wire.Atom("demonitor"), s[0]}))
	far := wire.NewOrigin(wire.NodeID{Name: "far@h", Creation: 1}).PID(7)
	_, err := node.Call[any](testkit.Context(t), p, wire.Atom("pg"), any(wire.Tuple{wire.Atom("join_local"), "g", far}))
	require.ErrorIs(t, err, pg.ErrNotLocal)
	assert.Equal(t, wire.Tuple{wire.Atom("nolocal"), far}, values.ErrorTerm(err))
}

// Readers run while a writer works; each state that they see has existed.
func TestReadersMeetNoHalf(t *testing.T) {
	p := startPeer(t, nil, "a", pg.Config{})
	w := p.spawn(10)
	ctx, stop := context.WithCancel(testkit.Context(t))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				n := len(p.scope.Members("g"))
				if n%10 != 0 || n > 20 {
					t.Errorf("%d members", n)
					return
				}
				p.scope.Groups()
				p.scope.Members(wire.Tuple{"g"})
			}
		})
	}
	for i := range 300 {
		p.join("g", w...)
		p.join(wire.Tuple{"g", i % 3}, w[0])
		p.join("g", w...)
		p.leave("g", w...)
		p.leave(wire.Tuple{"g", i % 3}, w[0])
		p.leave("g", w...)
	}
	stop()
	wg.Wait()
	assert.Empty(t, p.scope.Groups())
}

// Budget: Members of 100 is one copy, 1 allocation and 1 µs; Each, 3 small allocations.
func BenchmarkMembers(b *testing.B) {
	for _, g := range []any{wire.Atom("g"), wire.Tuple{wire.Atom("room"), 7}} {
		p := startPeer(b, nil, "a", pg.Config{})
		p.join(g, p.spawn(100)...)
		b.Run(fmt.Sprintf("%T/Members", g), func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(4) // times GOMAXPROCS = 2: 8 readers
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if len(p.scope.Members(g)) != 100 {
						b.Fail()
					}
				}
			})
		})
		b.Run(fmt.Sprintf("%T/Each", g), func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(4)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					n := 0
					for range p.scope.Each(g) {
						n++
					}
					if n != 100 {
						b.Fail()
					}
				}
			})
		})
	}
}

// Budget: 10 µs for both in a group of 100, 40 allocations.
func BenchmarkJoinLeave(b *testing.B) {
	for _, size := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("members=%d", size), func(b *testing.B) {
			p := startPeer(b, nil, "a", pg.Config{})
			w := p.spawn(size)
			if size > 1 {
				p.join(wire.Atom("g"), w[1:]...)
			}
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				p.scope.Join(ctx, p, wire.Atom("g"), w[0])
				p.scope.Leave(ctx, p, wire.Atom("g"), w[0])
			}
		})
	}
}
