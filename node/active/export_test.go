package active_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/internal/testkit/erltest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// shop is an object whose methods other nodes call.
type shop struct {
	stock  map[string]int
	opened bool
}

type order struct {
	Item  string
	Count int
}

var errSoldOut = errors.New("sold out")

func (s *shop) Buy(c *active.Context, o order) (order, error) {
	c.Until(func() bool { return s.opened })
	if s.stock[o.Item] < o.Count {
		return order{}, errSoldOut
	}
	s.stock[o.Item] -= o.Count
	return order{o.Item, s.stock[o.Item]}, nil
}

func (s *shop) Open(*active.Context, none) (bool, error) {
	s.opened = true
	return true, nil
}

func (s *shop) Count(_ *active.Context, item string) (int, error) { return s.stock[item], nil }

func (s *shop) Burn(*active.Context, int) (int, error) { panic("fire") }

func (s *shop) Close(*active.Context, none) (none, error) { return none{}, nil }

type shelf[T any] struct{ items []T }

func (s *shelf[T]) Len(*active.Context, none) (int, error) { return len(s.items), nil }

func init() {
	node.RegisterTypes(node.TypeOf[order](), node.ErrorOf(errSoldOut), node.TypeOf[active.Addr[*shop]]("ref.shop"))
	active.Export("buy", (*shop).Buy)
	active.Export("open", (*shop).Open)
	active.Export("next", (*buyer).Next)
	active.Export("count", (*shop).Count)
	active.Export("burn", (*shop).Burn)
	active.Export("withdraw", (*account).Withdraw)
	active.Export("open", (*account).Deposit) // a method of another type
	active.Export("len", (*shelf[int]).Len)
	active.ExportDo("work", (*clerk).Work)
}

// An object of another node is called like one of this node, by a PID, a name or as a member.
func TestFarCalls(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		near, far := c.Start("near"), c.Start("far")
		first, err := active.Start(far, &shop{stock: map[string]int{"tea": 3}}, node.Options{Name: "shop"})
		require.NoError(t, err)
		member, err := active.In(far, first, &shop{stock: map[string]int{"milk": 2}})
		require.NoError(t, err)
		late := active.Go(near, first, (*shop).Buy, order{"tea", 2}) // waits until the shop is open
		named := active.AddrOf[*shop](node.At{Name: "shop", Node: far.Name()})
		require.True(t, result(t, active.Go(near, named, (*shop).Open, none{})))
		require.Equal(t, order{"tea", 1}, result(t, late))
		_, err = node.Await(testkit.Context(t), near, active.Go(near, first, (*shop).Buy, order{"tea", 2}))
		require.ErrorIs(t, err, errSoldOut)
		require.Equal(t, 2, result(t, active.Go(near, member, (*shop).Count, "milk")))
		require.Zero(t, result(t, active.Go(near, first, (*shop).Count, "milk")))

		_, err = node.Await(testkit.Context(t), near, active.Go(near, first, (*shop).Burn, 1))
		var exit *node.ExitError
		require.ErrorAs(t, err, &exit)
		require.ErrorContains(t, err, "fire")
		require.Equal(t, 1, result(t, active.Go(near, first, (*shop).Count, "tea")), "the object lives")

		_, err = node.Await(testkit.Context(t), near, active.Go(near, first, (*shop).Close, none{}))
		require.ErrorIs(t, err, node.ErrNotHere)
		require.ErrorContains(t, err, "(*shop).Close is not exported")
		_, err = node.Await(testkit.Context(t), near, active.Go(near, active.AddrOf[*account](first.PID), (*account).Withdraw, 1))
		require.ErrorIs(t, err, node.ErrUnhandled)
		require.ErrorContains(t, err, "by the name withdraw")
		for _, bad := range []any{wire.Tuple{node.Atom("count"), wire.Tuple{1, 2}}, wire.Tuple{node.Atom("buy"), "tea"}} {
			_, err = node.Call[any](testkit.Context(t), near, first.Dest(), bad)
			require.ErrorContains(t, err, fmt.Sprintf("active: the argument of %v: ", bad.(wire.Tuple)[0]))
		}
		gone := member
		gone.Object = 1 << 40
		_, err = node.Await(testkit.Context(t), near, active.Go(near, gone, (*shop).Count, "milk"))
		require.ErrorIs(t, err, node.ErrUnhandled)

		// An object awaits a method of an object on another node.
		alice := start(t, near, &buyer{from: member})
		require.Equal(t, 1, result(t, active.Go(near, alice, (*buyer).Take, "milk")))

		waits := active.Go(near, start(t, far, &shop{}), (*shop).Buy, order{"tea", 1})
		require.NoError(t, far.Stop())
		_, err = node.Await(testkit.Context(t), near, waits)
		require.ErrorAs(t, err, &exit)
	})
}

// Next lets an object pass on the address that it is given.
func (b *buyer) Next(_ *active.Context, r active.Addr[*shop]) (active.Addr[*shop], error) {
	b.from = r
	return b.from, nil
}

// Addresses of objects travel to other nodes in messages, whether they hold a PID or a name.
func TestAddrsTravel(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		near, far := c.Start("near"), c.Start("far")
		first, err := active.Start(far, &shop{opened: true, stock: map[string]int{"tea": 3}}, node.Options{Name: "shop"})
		require.NoError(t, err)
		b, err := active.Start(far, &buyer{}, node.Options{})
		require.NoError(t, err)
		for _, r := range []active.Addr[*shop]{
			first, {PID: first.PID, Object: 7}, active.AddrOf[*shop](node.Atom("shop")),
			active.AddrOf[*shop](node.At{Name: "shop", Node: far.Name()}), {},
		} {
			require.Equal(t, r, result(t, active.Go(near, b, (*buyer).Next, r)))
		}
	})
}

// buyer is an object that calls an object of another node.
type buyer struct{ from active.Addr[*shop] }

func (b *buyer) Take(c *active.Context, item string) (int, error) {
	if _, err := active.Call(c, b.from, (*shop).Open, none{}); err != nil {
		return 0, err
	}
	left, err := active.Await(c, active.Go(c, b.from, (*shop).Buy, order{item, 1}))
	return left.Count, err
}

// Erlang calls a method by its name, with a term.
func TestErlangCalls(t *testing.T) {
	erltest.Need(t)
	cfg := epmdtest.Serve(t, "127.0.0.1")
	n := nodetest.Start(t, node.Config{Name: "go@127.0.0.1",
		Distribution: &node.Distribution{Cookie: erltest.Cookie, Finder: &discovery.EPMD{Config: cfg}}})
	r, err := active.Start(n, &shop{stock: map[string]int{"tea": 3}}, node.Options{Name: "shop"})
	require.NoError(t, err)
	member, err := active.In(n, r, &shop{stock: map[string]int{"milk": 2}})
	require.NoError(t, err)
	e := erltest.Start(t, erltest.Options{Name: "e@127.0.0.1", EPMD: cfg.Port})
	call := func(body string) string { return e.Ask("catch gen_server:call({shop, 'go@127.0.0.1'}, " + body + ")") }
	require.Equal(t, "true", call("open"))
	require.Equal(t, "3", call("{count, <<\"tea\">>}"))
	require.Equal(t, "2", call("{count, <<\"milk\">>, "+wire.Format(int64(member.Object))+"}"))
	require.Contains(t, call("{buy, #{item => <<\"tea\">>, count => 1}}"), "2")
	require.Contains(t, call("{buy, #{item => <<\"tea\">>, count => 9}}"), "sold out")
	require.Contains(t, call("{count, {1, 2}}"), "the argument of count")
	require.Contains(t, call("{close, {}}"), "by the name close")
	require.Contains(t, call("{burn, 1}"), "fire")
	require.Contains(t, call("[1]"), "no method")
}

// What cannot be exported is refused when the program starts.
func TestExportMisuse(t *testing.T) {
	require.PanicsWithValue(t, "active: Export: buy is exported for *active_test.shop already",
		func() { active.Export("buy", (*shop).Close) })
	require.Panics(t, func() { active.Export("purchase", (*shop).Buy) })
}
