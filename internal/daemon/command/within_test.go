package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
)

// If there is little memory, the limits of all peers together are lower, unless the configuration sets them.
func TestWithin(t *testing.T) {
	usual := node.DefaultClusterLimits(0)
	for _, c := range []struct {
		memory                  int64
		queued, fragments, held int
	}{
		{0, 256 << 20, 512 << 20, 96 << 20}, {1 << 40, 256 << 20, 512 << 20, 96 << 20}, {512 << 20, 32 << 20, 64 << 20, 32 << 20},
		{1, 1 << 20, 1 << 20, 1 << 20},
	} {
		got := within(usual, c.memory)
		require.Equal(t, []int{c.queued, c.fragments, c.held}, []int{got.Queued, got.Fragments, got.Held}, c.memory)
		got.Queued, got.Fragments, got.Held = usual.Queued, usual.Fragments, usual.Held
		require.Equal(t, usual, got, "nothing else changes")
	}
	set := usual
	set.Queued, set.Fragments, set.Held = 100<<20, 100<<20, 100<<20
	require.Equal(t, set, within(set, 512<<20))
}
