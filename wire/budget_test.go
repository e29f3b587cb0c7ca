package wire_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

// purse is a budget of so many bytes.
type purse struct{ left int }

func (p *purse) Take(n int) bool {
	if n > p.left {
		return false
	}
	p.left -= n
	return true
}

func (p *purse) Give(n int) { p.left += n }

func TestAccount(t *testing.T) {
	p := &purse{10}
	a, b := wire.NewAccount(p), wire.NewAccount(p)
	assert.True(t, a.Take(6))
	assert.False(t, b.Take(5), "4 are left")
	assert.True(t, b.Take(4))
	a.Give(2)
	a.Close()
	a.Close()
	assert.Equal(t, 6, p.left)
	assert.False(t, a.Take(1), "it is closed")
	a.Give(1)
	assert.Equal(t, 6, p.left)
	b.Close()
	assert.Equal(t, 10, p.left)

	none := wire.NewAccount(nil)
	assert.True(t, none.Take(1<<40))
	none.Give(1)
	none.Close()
}

// Slices of all lengths arrive as one stream; what has gone is counted on the way, also
// where the other end stops reading.
func TestSendAll(t *testing.T) {
	a, b := net.Pipe()
	pieces := net.Buffers{[]byte("x"), bytes.Repeat([]byte("large"), 200_000), nil, []byte("y"),
		bytes.Repeat([]byte("z"), 300_000), []byte("end")}
	want := bytes.Join(pieces, nil)
	var sent atomic.Uint64
	go func() {
		defer a.Close()
		assert.NoError(t, wire.SendAll(a, pieces, &sent))
	}()
	got, err := io.ReadAll(b)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, got))
	assert.EqualValues(t, len(want), sent.Load())

	a, b = net.Pipe()
	sent.Store(0)
	failed := make(chan error)
	go func() { failed <- wire.Send(a, want, &sent) }()
	_, err = io.ReadFull(b, make([]byte, 600_000))
	require.NoError(t, err)
	assert.EqualValues(t, 2*256<<10, sent.Load(), "it does not wait for the whole")
	b.Close()
	assert.True(t, errors.Is(<-failed, io.ErrClosedPipe))
}
