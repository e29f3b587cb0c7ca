package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// shop plays Shop.Orders: it takes terms, and replies as the Elixir process does.
type shop struct{ orders []string }

func (s *shop) asked(_ *genserver.Context, request any) (any, error) {
	if t, ok := request.(wire.Tuple); ok && len(t) == 3 && t[0] == wire.Atom("order") {
		item, _ := wire.AsText(t[1])
		s.orders = append(s.orders, item)
		return len(s.orders), nil
	} else if request == wire.Atom("ping") {
		return wire.Atom("pong"), nil
	}
	return nil, &genserver.UnhandledError{Request: request}
}

var shops = genserver.Define(genserver.OnAnyCall((*shop).asked))

type world struct {
	t        *testing.T
	cluster  *nodetest.Cluster
	go_, far *node.Node // the warehouse, and the node that stands for Elixir's
}

func play(t *testing.T, f func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		nodetest.CheckLeaks(t)
		c := nodetest.NewCluster(t, "go", "shop")
		w := &world{t, c, c.Node("go"), c.Node("shop")}
		top := warehouse(t, w.go_)
		f(t, w)
		p := nodetest.NewProbe(t, w.go_)
		ref := p.Monitor(top)
		w.go_.Exit(top, node.Shutdown)
		p.ExpectDown(ref)
	})
}

// warehouse starts on a node what the program runs on it.
func warehouse(t *testing.T, n *node.Node) node.PID {
	require.NoError(t, export(n))
	top, err := supervisor.Start(t.Context(), n, tree(settings{Shop: "shop@127.0.0.1"}), node.Options{Name: "warehouse"})
	require.NoError(t, err)
	return top
}

func (w *world) open() *shop {
	s := new(shop)
	_, err := shops.Start(w.t.Context(), w.far, s, node.Options{Name: "Elixir.Shop.Orders"})
	require.NoError(w.t, err)
	return s
}

// call is what Elixir's GenServer.call({:stock, go}, term) does.
func (w *world) call(body ...any) (any, error) {
	to := node.At{Name: "stock", Node: w.go_.Name()}
	return node.Call[any](w.t.Context(), w.far, to, wire.Tuple(body))
}

func (w *world) buying() Buying {
	b, err := genserver.Call(w.t.Context(), w.go_, node.Atom("buyer"), State{})
	require.NoError(w.t, err)
	return b
}

func (w *world) level(item string) int {
	left, err := genserver.Call(w.t.Context(), w.go_, node.Atom("stock"), Level{Item: item})
	require.NoError(w.t, err)
	return left
}

func (w *world) take(item string, count int) (int, error) {
	return genserver.Call(w.t.Context(), w.go_, node.Atom("stock"), Reserve{Item: item, Count: count})
}

func (w *world) kill(name node.Atom, n *node.Node) {
	pid, ok := n.Whereis(name)
	require.True(w.t, ok)
	n.Exit(pid, node.Kill)
	synctest.Wait()
}

func TestReserve(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		left, err := w.call(wire.Atom("reserve"), "tea", 2)
		require.NoError(t, err)
		require.EqualValues(t, 8, left)
		left, err = w.call(wire.Atom("level"), "tea")
		require.NoError(t, err)
		require.EqualValues(t, 8, left)
		for _, bad := range [][]any{{wire.Atom("reserve"), "tea", 9}, {wire.Atom("reserve"), "milk", 1}} {
			_, err = w.call(bad...)
			require.ErrorContains(t, err, errSoldOut.Error()) // Elixir gets the atom
		}
		for _, bad := range [][]any{{wire.Atom("reserve"), "tea", 0}, {wire.Atom("reserve"), "tea", -5}} {
			_, err = w.call(bad...)
			require.ErrorContains(t, err, errCount.Error())
		}
		for _, bad := range [][]any{{wire.Atom("reserve"), "tea", "many"}, {wire.Atom("steal"), "tea", 1}, {}} {
			_, err = w.call(bad...)
			require.Error(t, err)
		}
		require.Equal(t, 8, w.level("tea")) // it lives, and has given nothing
	})
}

func TestHold(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		basket := nodetest.NewProbe(t, w.far)
		basket.TrapExit(true)
		basket.Timeout = 2 * time.Minute
		open := func(args ...any) node.PID {
			hold, err := rpc.Spawn(t.Context(), w.far, w.go_.Name(), "stock", "hold", args...)
			require.NoError(t, err)
			basket.Link(hold)
			return hold
		}
		held := func(pid node.PID) {
			ok, err := node.Call[bool](t.Context(), w.far, pid, wire.Atom("held"))
			require.NoError(t, err)
			require.True(t, ok)
		}
		exited := func(pid node.PID, reason any) {
			require.Equal(t, node.Exited{From: pid, Reason: reason}, nodetest.Expect[node.Exited](basket))
			synctest.Wait()
		}
		first, second := open("tea", 3), open("tea", 4)
		held(first)
		held(second)
		require.Equal(t, 3, w.level("tea"))

		w.far.Exit(first, node.Atom("changed_my_mind")) // the basket is closed
		exited(first, node.Atom("changed_my_mind"))
		require.Equal(t, 6, w.level("tea"))

		refused := open("tea", 7)
		require.Contains(t, []any{node.Atom("sold_out"), node.Atom("noproc")}, nodetest.Expect[node.Exited](basket).Reason)
		require.False(t, w.go_.IsAlive(refused))
		require.Equal(t, 6, w.level("tea"))

		w.kill("stock", w.go_) // what has linked to it ends, across nodes
		exited(second, node.Killed)
		require.Equal(t, 10, w.level("tea")) // started again

		third := open("tea", 5)
		held(third)
		w.cluster.Cut(w.go_, w.far)
		exited(third, node.NoConnection)
		require.Equal(t, 10, w.level("tea"))
		w.cluster.Heal(w.go_, w.far)
		held(open("tea", 10))
		require.Equal(t, 0, w.level("tea"))
	})
}

func TestBadHold(t *testing.T) {
	for _, args := range [][]any{{1, 2}, {"tea", "two"}, {"tea", 0}, {"tea", -1}} {
		_, err := newHold(args)
		require.Error(t, err, args)
	}
}

func TestBuyer(t *testing.T) {
	play(t, func(t *testing.T, w *world) {
		_, err := w.call(wire.Atom("reserve"), "tea", 9)
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, Buying{Waiting: []string{"tea"}}, w.buying()) // there is no shop yet

		s := w.open()
		time.Sleep(again) // in the bubble
		synctest.Wait()
		require.Equal(t, Buying{Up: true, Made: 1}, w.buying())
		require.Equal(t, []string{"tea"}, s.orders)

		w.kill("Elixir.Shop.Orders", w.far)
		require.False(t, w.buying().Up)
		_, err = w.call(wire.Atom("reserve"), "coffee", 8)
		require.NoError(t, err)
		s = w.open() // restarted
		time.Sleep(again)
		synctest.Wait()
		require.Equal(t, Buying{Up: true, Made: 2}, w.buying())
		require.Equal(t, []string{"coffee"}, s.orders)

		w.cluster.Cut(w.go_, w.far)
		time.Sleep(2 * time.Minute) // the silence is noticed
		synctest.Wait()
		require.False(t, w.buying().Up)
		w.cluster.Heal(w.go_, w.far)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, Buying{Up: true, Made: 2}, w.buying())

		w.kill("buyer", w.go_) // the stock goes on without it
		require.Equal(t, 1, w.level("tea"))
		synctest.Wait()
		require.Equal(t, Buying{Up: true}, w.buying())
		w.kill("Elixir.Shop.Orders", w.far) // CheckLeaks would name it
	})
}
