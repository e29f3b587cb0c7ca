package wire_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

// A lookout sees what has come and what is wrong at once, and gives up in time; what it
// has seen is still there to be read.
func TestLookout(t *testing.T) {
	a, b := tcp(t)
	const long = time.Minute
	l := wire.NewLookout(b)
	assert.False(t, l.Await(time.Millisecond))
	go a.Write([]byte("ball")) // sooner or later
	require.True(t, l.Await(long))
	require.True(t, l.Await(long))
	assert.Zero(t, testing.AllocsPerRun(10, func() { l.Await(long) }))
	got := make([]byte, 4)
	_, err := b.Read(got)
	require.NoError(t, err)
	assert.Equal(t, "ball", string(got))
	assert.False(t, l.Await(0))
	require.NoError(t, a.Close())
	assert.True(t, l.Await(long), "there is nothing more to wait for")
	require.NoError(t, b.Close())
	assert.True(t, l.Await(long))

	p, q := net.Pipe()
	defer p.Close()
	defer q.Close()
	assert.False(t, wire.NewLookout(p).Await(long), "it cannot look there")
}
