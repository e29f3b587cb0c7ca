package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

type (
	cartAdd struct {
		_     struct{} `etf:"add,tuple"`
		Item  string
		Price price
	}
	price struct {
		_     struct{} `etf:",tuple"`
		Cents int
	}
	cart struct{}
)

func (cart) add(*genserver.Context, cartAdd) (int, error) { return 1, nil }
func (cart) put(*genserver.Context, cartAdd) error        { return nil }

// A request in which one field does not fit its struct is refused with the field, the type wanted and the value given,
// for every caller, by either protocol, and as Erlang's gen_server:call does it; a cast is logged with the same.
func TestMisfitsOfRequests(t *testing.T) {
	carts := genserver.Define(genserver.OnAnyCall(cart.add), genserver.OnCast(cart.put))
	overEachPlace(t, func(f *failures) {
		pid, err := carts.Start(f.ctx, f.there, cart{}, node.Options{})
		require.NoError(t, err)
		add := node.Atom("add")
		n, err := node.Call[int](f.ctx, f.me, pid, wire.Tuple{add, "tea", wire.Tuple{5}})
		require.NoError(t, err)
		require.Equal(t, 1, n)
		for _, c := range []struct {
			request wire.Tuple
			wants   []string
		}{
			{wire.Tuple{add, "tea", wire.Tuple{"5"}}, []string{"cartAdd.Price.Cents: ", "int"}},
			{wire.Tuple{add, 7, wire.Tuple{5}}, []string{"cartAdd.Item: ", "7", "a binary"}},
			{wire.Tuple{add, "tea", 5}, []string{"cartAdd.Price: ", "5", "a tuple"}},
			{wire.Tuple{add, "tea"}, []string{"cartAdd: ", "a tuple with 2 fields"}},
		} {
			_, err := node.Call[int](f.ctx, f.me, pid, c.request)
			var unhandled *genserver.UnhandledError
			require.ErrorAs(t, err, &unhandled)
			for _, want := range c.wants {
				require.ErrorContains(t, err, want)
			}

			me := nodetest.NewProbe(t, f.here) // what is a term in OTP arrives as a term
			ref := f.here.MakeRef()
			require.NoError(t, me.Send(pid, wire.Tuple{node.Atom("$gen_call"), wire.Tuple{me.Self(), ref}, c.request}))
			reply := me.Receive().(wire.Tuple)
			require.Equal(t, ref, reply[0])
			var said string
			if failed, ok := reply[1].(wire.Tuple); ok {
				said = wire.Format(failed)
			}
			for _, want := range append(c.wants, "unhandled_request") {
				require.Contains(t, said, want)
			}
			me.Close(nil)
		}
		_, err = node.Call[int](f.ctx, f.me, pid, wire.Tuple{node.Atom("drop"), 1})
		require.ErrorContains(t, err, "does not handle calls of type wire.Tuple; it handles those of node_test.cartAdd")
		require.NoError(t, genserver.Cast(f.me, pid, wire.Tuple{add, 7, wire.Tuple{5}}))
		f.log.Await(t, `misfit="etf: at node_test.cartAdd.Item: `)
	})
}
