package peers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/wire"
)

// A peer is found only by the origin of its PIDs, until another takes its place or it is forgotten.
func TestRecent(t *testing.T) {
	type peer struct{ name string }
	of := func(name wire.Atom, creation uint32) wire.Origin {
		return wire.NewOrigin(wire.NodeID{Name: name, Creation: creation})
	}
	var r peers.Recent[peer]
	a, b := &peer{"a"}, &peer{"b"}
	require.Nil(t, r.Get(of("a@h", 1)))
	r.Put(of("a@h", 1), a)
	require.Same(t, a, r.Get(of("a@h", 1)))
	require.Nil(t, r.Get(of("b@h", 1)))
	require.Nil(t, r.Get(of("a@h", 17))) // an older life of the node, in the same place
	r.Put(of("b@h", 17), b)
	require.Nil(t, r.Get(of("a@h", 1)))
	r.Put(of("b@h", 2), b)
	require.Equal(t, []*peer{b, b}, r.All())
	r.Forget(a)
	require.Same(t, b, r.Get(of("b@h", 17)))
	r.Forget(b)
	require.Empty(t, r.All())
}
