package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// The sender of a term that the other node would not take, because of maps in keys of maps, gets an error; a term that
// is sent arrives.
func TestSenderIsToldOfDeepKeys(t *testing.T) {
	large := func(key any) (m wire.Map) {
		for i := range 32 {
			m.Put(i, i)
		}
		m.Put(key, 1)
		return m
	}
	nested := func(depth int) (m any) {
		for range depth {
			m = wire.NewMap(m, 1)
		}
		return m
	}
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		a, b := c.Start("a"), c.Start("b")
		h := nodetest.NewProbe(t, b)
		c.Connect(a, b)
		refused := 0
		for _, term := range []any{
			nested(2), nested(33), nested(34), nested(2000), wire.Tuple{nested(34)}, large(wire.AtomOK), large(large(wire.AtomOK)), large(large(large(wire.AtomOK))),
			wire.NewMap(wire.NewMap(large(wire.AtomOK), 1), 1), []any{nested(34)}, map[string]any{"k": large(large(large(wire.AtomOK)))},
		} {
			if err := a.Send(h.Self(), term); err != nil {
				require.ErrorContains(t, err, "nested in keys of maps deeper than")
				refused++
				continue
			}
			require.True(t, wire.Equal(nodetest.Expect[any](h), term) || !isTerm(term), "%v", term)
		}
		require.GreaterOrEqual(t, refused, 2)
	})
}

// isTerm reports whether a value of this test is a term, not a Go value that represents one.
func isTerm(t any) bool {
	switch t.(type) {
	case []any, map[string]any:
		return false
	}
	return true
}
