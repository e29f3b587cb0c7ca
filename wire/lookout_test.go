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
	looks := 0
	assert.False(t, l.Await(time.Millisecond, func() { looks++ }))
	assert.Positive(t, looks)
	go a.Write([]byte("ball")) // sooner or later
	require.True(t, l.Await(long, nil))
	require.True(t, l.Await(long, nil))
	assert.Zero(t, testing.AllocsPerRun(10, func() { l.Await(long, nil) }))
	got := make([]byte, 4)
	_, err := b.Read(got)
	require.NoError(t, err)
	assert.Equal(t, "ball", string(got))
	assert.False(t, l.Await(0, nil))
	require.NoError(t, a.Close())
	assert.True(t, l.Await(long, nil), "there is nothing more to wait for")
	require.NoError(t, b.Close())
	assert.True(t, l.Await(long, nil))

	p, q := net.Pipe()
	defer p.Close()
	defer q.Close()
	assert.False(t, wire.NewLookout(p).Await(long, nil), "it cannot look there")
}
