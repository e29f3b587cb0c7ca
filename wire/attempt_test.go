package wire_test

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

// An attempt writes what fits, never waits, and leaves errors to who writes next.
func TestAttempt(t *testing.T) {
	a, b := tcp(t)
	try := wire.NewAttempt(a)
	require.True(t, try.Able())
	block := bytes.Repeat([]byte("actornode"), 1<<16)
	sent := 0
	for n := len(block); n == len(block); sent += n {
		n = try.Send(block)
	}
	assert.Zero(t, try.Send(block), "nobody reads")
	assert.Zero(t, try.Send(nil))
	require.NoError(t, a.Close())
	assert.Zero(t, try.Send(block), "it is closed")
	got, err := io.ReadAll(b)
	require.NoError(t, err)
	require.Len(t, got, sent)
	for i := 0; i < sent; i += len(block) {
		part := got[i:min(i+len(block), sent)]
		require.True(t, bytes.Equal(block[:len(part)], part))
	}

	p, q := net.Pipe()
	defer p.Close()
	defer q.Close()
	assert.False(t, wire.NewAttempt(p).Able())
}

// tcp returns the two ends of a connection over loopback.
func tcp(t *testing.T) (a, b net.Conn) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	a, err = net.Dial("tcp", ln.Addr().String())
	require.NoError(t, err)
	b, err = ln.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}
