package socket_test

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/actornode/actornode/internal/wire/socket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A Writer writes what fits, never waits, and leaves errors to the next write.
func TestWriter(t *testing.T) {
	a, b := tcp(t)
	try := socket.NewWriter(a)
	require.True(t, try.Able())
	block := bytes.Repeat([]byte("actornode"), 1<<16)
	var want []byte
	for n := -1; n != 0; want = append(want, block[:n]...) { // it may take a little more when the other end has room
		n = try.Send(block)
	}
	require.NotEmpty(t, want)
	assert.Zero(t, try.Send(nil))
	require.NoError(t, a.Close())
	assert.Zero(t, try.Send(block), "it is closed")
	got, err := io.ReadAll(b)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got), "%d bytes came of %d", len(got), len(want))

	p, q := net.Pipe()
	defer p.Close()
	defer q.Close()
	assert.False(t, socket.NewWriter(p).Able())
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
