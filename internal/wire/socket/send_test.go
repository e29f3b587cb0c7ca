package socket_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/actornode/actornode/internal/wire/socket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Slices of all lengths arrive as one stream; sent bytes are counted on the way, also if the other end stops reading.
func TestSendAll(t *testing.T) {
	a, b := net.Pipe()
	pieces := net.Buffers{[]byte("x"), bytes.Repeat([]byte("large"), 200_000), nil, []byte("y"),
		bytes.Repeat([]byte("z"), 300_000), []byte("end")}
	want := bytes.Join(pieces, nil)
	var sent atomic.Uint64
	go func() {
		defer a.Close()
		assert.NoError(t, socket.SendAll(a, pieces, &sent))
	}()
	got, err := io.ReadAll(b)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, got))
	assert.EqualValues(t, len(want), sent.Load())

	a, b = net.Pipe()
	sent.Store(0)
	failed := make(chan error)
	go func() { failed <- socket.Send(a, want, &sent) }()
	_, err = io.ReadFull(b, make([]byte, 600_000))
	require.NoError(t, err)
	assert.EqualValues(t, 2*256<<10, sent.Load(), "it does not wait for the whole")
	b.Close()
	assert.True(t, errors.Is(<-failed, io.ErrClosedPipe))
}
