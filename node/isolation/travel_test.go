package isolation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

type price struct {
	Name string
	Cost map[string]int
}

func init() { node.RegisterTypes(node.TypeOf[price]()) }

// To another node a Shared travels as its value, by both protocols: as a message, in a term, in a call.
func TestSharedTravels(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		near, far := c.Start("near"), c.Start("far")
		require.NoError(t, near.Connect(testkit.Context(t), far.Name()))
		h := nodetest.NewProbe(t, far)
		tea := price{"tea", map[string]int{"eur": 3}}
		require.NoError(t, near.Send(h.Self(), isolation.Share(tea)))
		require.Equal(t, tea, nodetest.Expect[price](h))
		require.NoError(t, near.Send(h.Self(), wire.Tuple{1, isolation.Share("text")}))
		require.Equal(t, wire.Tuple{1, "text"}, plainText(nodetest.Expect[wire.Tuple](h)))

		pid, err := far.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			if r, ok := far.AsRequest(msg); ok {
				return c.Reply(r.From, isolation.Share(r.Body))
			}
			return nil
		}))
		require.NoError(t, err)
		got, err := node.Call[price](testkit.Context(t), near, pid, isolation.Share(tea))
		require.NoError(t, err)
		require.Equal(t, tea, got)
	})
}

// plainText is a tuple whose binaries are texts, as Erlang's are.
func plainText(t wire.Tuple) wire.Tuple {
	for i, v := range t {
		if b, ok := v.([]byte); ok {
			t[i] = string(b)
		}
	}
	return t
}
