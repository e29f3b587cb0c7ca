package registry_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/registry"
	"github.com/actornode/actornode/supervisor"
)

// member is an Actor that runs the functions that it gets.
func member() node.Actor {
	return node.ActorFunc(func(c *node.Context, msg any) error {
		switch f := msg.(type) {
		case node.Request[func(*node.Context) error]:
			return c.Reply(f.From, f.Body(c))
		case func(*node.Context) error:
			return f(c)
		}
		return nil
	})
}

// at runs f in a process, and returns its error.
func at(t *testing.T, n *node.Node, pid node.PID, f func(c *node.Context) error) error {
	err, failed := node.Call[error](t.Context(), n, pid, f)
	require.NoError(t, failed)
	return err
}

func start[K comparable, V any](t *testing.T, n *node.Node, o registry.Options) *registry.Registry[K, V] {
	r, err := registry.Start[K, V](t.Context(), n, o)
	require.NoError(t, err)
	return r
}

func spawn(t *testing.T, n *node.Node) node.PID {
	pid, err := n.Spawn(member())
	require.NoError(t, err)
	return pid
}

func TestRegister(t *testing.T) {
	nodetest.CheckLeaks(t)
	n := nodetest.Start(t, node.Config{})
	r := start[string, int](t, n, registry.Options{Max: 4})
	a, b := nodetest.NewProbe(t, n), nodetest.NewProbe(t, n)
	require.NoError(t, r.Register(a, "lobby", 1))
	require.NoError(t, r.Register(b, "lobby", 2))
	require.NoError(t, r.Register(a, "attic", 3))
	require.ErrorIs(t, r.Register(a, "attic", 4), registry.ErrRegistered)
	require.Equal(t, map[node.PID]int{a.Self(): 1, b.Self(): 2}, maps.Collect(r.Lookup("lobby")))
	require.ElementsMatch(t, []string{"lobby", "attic"}, r.Keys(a.Self()))
	require.Empty(t, r.Keys(node.PID{}))
	all := 0
	for key, pid := range r.All() {
		require.Contains(t, r.Keys(pid), key)
		all++
	}
	require.Equal(t, 3, all)
	require.Equal(t, 3, r.Len())

	require.True(t, r.Update(a, "lobby", func(v int) int { return v + 10 }))
	require.False(t, r.Update(b, "attic", func(v int) int { return v + 10 }))
	require.Equal(t, map[node.PID]int{a.Self(): 11, b.Self(): 2}, maps.Collect(r.Lookup("lobby")))

	sent, err := r.Dispatch(n, "lobby", "hello")
	require.NoError(t, err)
	require.Equal(t, 2, sent)
	a.Expect("hello")
	b.Expect("hello")
	sent, err = r.Dispatch(n, "cellar", "hello")
	require.NoError(t, err)
	require.Zero(t, sent)

	require.NoError(t, r.Register(b, "cellar", 5))
	err = r.Register(b, "roof", 6)
	require.ErrorIs(t, err, registry.ErrFull)
	require.EqualError(t, err, "registry: it has as many entries as Max of its Options allows, 4")
	require.True(t, r.Unregister(b, "cellar"))
	require.False(t, r.Unregister(b, "cellar"))
	require.NoError(t, r.Register(b, "roof", 6))
}

// A process that has ended is not found, at once, and its entries go away.
func TestEnd(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	r := start[string, int](t, n, registry.Options{Unique: true})
	for range 100 {
		pid := spawn(t, n)
		require.NoError(t, at(t, n, pid, func(c *node.Context) error { return r.Register(c, "till", 1) }))
		n.Exit(pid, node.Kill)
		require.Empty(t, maps.Collect(r.Lookup("till")))
		require.Empty(t, r.Keys(pid))
		for range r.All() {
			t.Fatal("it has ended")
		}
	}
	nodetest.Settle(t, n)
	require.Zero(t, r.Len())
}

func TestUnique(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	r := start[string, int](t, n, registry.Options{Unique: true})
	a, b := nodetest.NewProbe(t, n), nodetest.NewProbe(t, n)
	require.NoError(t, r.Register(a, "till", 1))
	err := r.Register(b, "till", 2)
	require.ErrorIs(t, err, registry.ErrTaken)
	require.ErrorContains(t, err, a.Self().String())
	require.NoError(t, r.Register(b, "other", 2))
}

// A full mailbox is an error of Dispatch, which goes on.
func TestDispatchFails(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	r := start[string, int](t, n, registry.Options{})
	hold, registered := make(chan struct{}), make(chan error)
	full, err := n.SpawnOpt(node.Options{Place: node.Detached(), Bounds: mailbox.Bounds{Messages: 1, Policy: mailbox.Refuse}},
		node.ActorFunc(func(c *node.Context, msg any) error {
			if msg == "register" {
				registered <- r.Register(c, "k", 0)
				<-hold
			}
			return nil
		}))
	require.NoError(t, err)
	require.NoError(t, n.Send(full, "register"))
	require.NoError(t, <-registered)
	p := nodetest.NewProbe(t, n)
	require.NoError(t, r.Register(p, "k", 0))
	sent, err := r.Dispatch(n, "k", 1)
	require.ErrorIs(t, err, node.ErrMailboxFull)
	require.ErrorContains(t, err, full.String())
	require.Equal(t, 1, sent)
	p.Expect(1)
	close(hold)
}

// A key that is not comparable, and a process of another node, are errors.
func TestRegisterWrong(t *testing.T) {
	c := nodetest.NewCluster(t, "a", "b")
	r := start[any, int](t, c.Node("a"), registry.Options{})
	a, b := nodetest.NewProbe(t, c.Node("a")), nodetest.NewProbe(t, c.Node("b"))
	err := r.Register(a, []int{1}, 1)
	require.ErrorIs(t, err, node.ErrArgument)
	require.ErrorContains(t, err, "a key of type []int is not comparable")
	require.NoError(t, r.Register(a, [1]any{1}, 1))
	require.ErrorIs(t, r.Register(a, [1]any{[]int{1}}, 1), node.ErrArgument)
	require.False(t, r.Unregister(a, []int{1}))
	require.False(t, r.Update(a, []int{1}, func(v int) int { return v }))
	for range r.Lookup([]int{1}) {
		t.Error("there is no such key")
	}
	require.ErrorIs(t, r.Register(a, math.NaN(), 1), node.ErrArgument)
	require.ErrorIs(t, r.Register(b, "k", 1), node.ErrArgument)
	require.ErrorIs(t, r.Watch(b), node.ErrArgument)
	require.Equal(t, 1, r.Len())
	second, err := r.Start()
	require.NoError(t, err)
	_, err = node.SpawnWait(t.Context(), c.Node("a"), node.Options{}, second)
	require.ErrorContains(t, err, "the registry has a process")
}

func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{})
		r := start[string, int](t, n, registry.Options{})
		p := nodetest.NewProbe(t, n)
		pid := spawn(t, n)
		change := func(v int) registry.Change[string, int] {
			return registry.Change[string, int]{Key: "k", PID: pid, Value: v}
		}
		do := func(f func(c *node.Context)) {
			require.NoError(t, at(t, n, pid, func(c *node.Context) error { f(c); return nil }))
		}
		do(func(c *node.Context) { _ = r.Register(c, "before", 1) })
		require.NoError(t, r.Watch(p))
		do(func(c *node.Context) { _ = r.Register(c, "k", 1) })
		do(func(c *node.Context) { r.Update(c, "k", func(int) int { return 2 }) })
		do(func(c *node.Context) { r.Unregister(c, "k") })
		do(func(c *node.Context) { _ = r.Register(c, "k", 3) })
		added, removed, again := change(1), change(2), change(3)
		added.Added, removed.Removed, again.Added = true, true, true
		p.Expect(added, change(2), removed, again)
		n.Exit(pid, node.Kill)
		again.Added, again.Removed = false, true
		before := again
		before.Key, before.Value = "before", 1
		p.ExpectAnyOrder(again, before)
		r.Unwatch(p)
		require.NoError(t, r.Register(p, "k", 4))
		p.ExpectNone()
	})
}

// A watcher that has ended is forgotten.
func TestWatcherEnds(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	r := start[string, int](t, n, registry.Options{})
	pid := spawn(t, n)
	require.NoError(t, at(t, n, pid, func(c *node.Context) error { return r.Watch(c) }))
	n.Exit(pid, node.Kill)
	nodetest.Settle(t, n)
	dead := n.DeadLetters(1)
	defer dead.Close()
	require.NoError(t, r.Register(nodetest.NewProbe(t, n), "k", 1))
	nodetest.Settle(t, n)
	require.Empty(t, dead.C)
}

// The entries survive a crash of the registry's process, whose successor finds out who has ended meanwhile.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t, node.Config{})
		r := registry.New[string, int](registry.Options{})
		top, err := supervisor.Start(t.Context(), n, supervisor.Spec{Children: []supervisor.Child{
			{ID: "registry", Start: r.Start, Backoff: supervisor.Backoff{Initial: time.Second}},
		}}, node.Options{})
		require.NoError(t, err)
		stays, ends, p := spawn(t, n), spawn(t, n), nodetest.NewProbe(t, n)
		for _, pid := range []node.PID{stays, ends} {
			require.NoError(t, at(t, n, pid, func(c *node.Context) error { return r.Register(c, "k", 1) }))
		}
		require.NoError(t, r.Watch(p))
		children, err := supervisor.WhichChildren(t.Context(), n, top)
		require.NoError(t, err)
		n.Exit(children[0].PID, node.Kill)
		synctest.Wait()
		n.Exit(ends, node.Kill)
		require.NoError(t, at(t, n, stays, func(c *node.Context) error { return r.Register(c, "new", 2) }))
		p.ExpectNone()
		p.Expect(registry.Change[string, int]{Key: "new", PID: stays, Value: 2, Added: true},
			registry.Change[string, int]{Key: "k", PID: ends, Value: 1, Removed: true})
		require.Equal(t, 2, r.Len())
		n.Exit(stays, node.Kill)
		synctest.Wait()
		require.Zero(t, r.Len())
	})
}

// A Registry may be used again for another node, once that of its processes has stopped.
func TestNextNode(t *testing.T) {
	r := registry.New[string, int](registry.Options{})
	for range 2 {
		n, err := node.Start(node.Config{})
		require.NoError(t, err)
		server, err := r.Start()
		require.NoError(t, err)
		_, err = node.SpawnWait(t.Context(), n, node.Options{}, server)
		require.NoError(t, err)
		p := nodetest.NewProbe(t, n)
		require.NoError(t, r.Register(p, "k", 1))
		require.Equal(t, 1, r.Len())
		require.NoError(t, n.Stop())
	}
}

// Processes come, register, change, leave and are killed, on all cores: those who watch see each key change in order, and what
// they have seen is what is there at the end.
func TestStorm(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	n := nodetest.Start(t, node.Config{})
	r := start[int, int](t, n, registry.Options{})
	p := nodetest.NewProbe(t, n)
	require.NoError(t, r.Watch(p))
	var wg sync.WaitGroup
	for g := range uint64(4) {
		rnd := rand.New(rand.NewPCG(seed, g))
		wg.Go(func() {
			for range 200 {
				pid, err := n.Spawn(member())
				if err != nil {
					t.Error(err)
					return
				}
				for range rnd.IntN(5) {
					key, what := rnd.IntN(5), rnd.IntN(3)
					_ = n.Send(pid, func(c *node.Context) error {
						switch what {
						case 0:
							r.Unregister(c, key)
						case 1:
							r.Update(c, key, func(v int) int { return v + 1 })
						default:
							if err := r.Register(c, key, 0); err != nil && !errors.Is(err, registry.ErrRegistered) {
								t.Error(err)
							}
						}
						return nil
					})
				}
				if rnd.IntN(4) > 0 {
					n.Exit(pid, []any{node.Kill, node.Normal, node.Shutdown}[rnd.IntN(3)])
				}
			}
		})
	}
	wg.Wait()
	nodetest.Settle(t, n)
	type entry struct {
		key int
		pid node.PID
	}
	seen := make(map[entry]int)
	for p.MailboxLen() > 0 {
		c := nodetest.Expect[registry.Change[int, int]](p)
		v, there := seen[entry{c.Key, c.PID}]
		switch {
		case c.Added:
			require.False(t, there, "%v", c)
			seen[entry{c.Key, c.PID}] = c.Value
		case c.Removed:
			require.True(t, there)
			require.Equal(t, v, c.Value)
			delete(seen, entry{c.Key, c.PID})
		default:
			require.True(t, there)
			require.Equal(t, v+1, c.Value)
			seen[entry{c.Key, c.PID}] = c.Value
		}
	}
	there := make(map[entry]int)
	for key := range 5 {
		for pid, v := range r.Lookup(key) {
			there[entry{key, pid}] = v
		}
	}
	require.Equal(t, there, seen)
	require.Len(t, seen, r.Len())
}

func Example() {
	n, err := node.Start(node.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Stop()
	rooms, err := registry.Start[string, string](context.Background(), n, registry.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ann, _ := n.Open()
	bob, _ := n.Open()
	defer ann.Close(nil)
	defer bob.Close(nil)
	_ = rooms.Register(ann, "lobby", "Ann")
	_ = rooms.Register(bob, "lobby", "Bob")

	var nicks []string
	for _, nick := range rooms.Lookup("lobby") {
		nicks = append(nicks, nick)
	}
	slices.Sort(nicks)
	sent, err := rooms.Dispatch(n, "lobby", "dinner")
	fmt.Println(nicks, sent, err, ann.Receive(), bob.Receive())
	// Output: [Ann Bob] 2 <nil> dinner dinner
}
