//go:build linux && amd64 && !msan && !actornode_portable && !actornode_no_spin

package socket_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/actornode/actornode/internal/wire/socket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// looking is a reader with a buffer, like those of links, and its Reader.
type looking struct {
	*socket.Reader
	buf  []byte
	n    int
	read func() error
}

func newLooking(conn net.Conn) *looking {
	l := &looking{Reader: socket.NewReader(conn), buf: make([]byte, 1<<10)}
	l.read = func() error {
		n, err := l.Read(l.buf[l.n:])
		l.n += n
		return err
	}
	return l
}

func (l *looking) await(d time.Duration) bool { return l.Await(d, nil, l.read) }

// until reads until n bytes have come.
func (l *looking) until(t *testing.T, n int) {
	t.Helper()
	for l.n < n {
		require.NoError(t, l.read())
	}
}

// A Reader finds new bytes and errors at once, and gives up in time. A read after it sleeps until there is more, even
// one byte.
func TestReader(t *testing.T) {
	a, b := tcp(t)
	const long = time.Minute
	l := newLooking(b)
	looks := 0
	for looks == 0 { // the time may be over before it has looked once
		require.False(t, l.Await(time.Millisecond, func() { looks++ }, l.read))
	}
	assert.Zero(t, testing.AllocsPerRun(10, func() { l.await(0) }))
	go a.Write([]byte("ball")) // sooner or later
	require.True(t, l.await(long))
	l.until(t, 4)
	assert.Equal(t, "ball", string(l.buf[:l.n]))
	for range 300 {
		l.n = 0
		assert.False(t, l.await(0))
		go a.Write([]byte("x"))
		l.until(t, 1)
		require.Equal(t, byte('x'), l.buf[0])
	}

	assert.False(t, l.await(0))
	l.n = 0
	go func() { // so much that the reader has to sleep in between
		for range 100 {
			a.Write([]byte(strings.Repeat("y", 1000)))
		}
		a.Close()
	}()
	for sum := 0; sum < 100_000; l.n = 0 {
		require.NoError(t, l.read())
		sum += l.n
	}
	require.True(t, l.await(long), "there is nothing more to wait for")
	require.ErrorIs(t, l.read(), io.EOF)
	require.NoError(t, b.Close())
	assert.True(t, l.await(long))
	require.ErrorIs(t, l.read(), net.ErrClosed)
	assert.True(t, newLooking(b).await(long))

	p, q := net.Pipe()
	defer p.Close()
	defer q.Close()
	assert.False(t, newLooking(p).await(long), "it cannot look there")
}

// A connection that is reset while nobody sleeps on it reports that.
func TestReaderReset(t *testing.T) {
	a, b := tcp(t)
	l := newLooking(b)
	assert.False(t, l.await(0))
	require.NoError(t, a.(*net.TCPConn).SetLinger(0))
	require.NoError(t, a.Close())
	require.True(t, l.await(time.Minute))
	require.ErrorContains(t, l.read(), "reset")
}

// Closing a connection wakes a goroutine that sleeps on it, quiet before or not.
func TestReaderClosed(t *testing.T) {
	_, b := tcp(t)
	l := newLooking(b)
	assert.False(t, l.await(0))
	go b.Close() // sooner or later
	require.ErrorIs(t, l.read(), net.ErrClosed)
}
