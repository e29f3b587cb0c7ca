package pg

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

// OTP 29 adds a version to its discover. The scope answers it as it answers one without.
func TestDiscoverWithVersion(t *testing.T) {
	m := bounded(10, 8)
	peer := origin("a").PID(1)
	require.True(t, m.handle(wire.Tuple{discover, peer, 1}))
	assert.Contains(t, m.peers, peer)
	assert.False(t, m.handle(wire.Tuple{discover, peer, 1, 2}))
}
