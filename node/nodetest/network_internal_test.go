package nodetest

import (
	"bytes"
	"context"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/nettest"
)

// pair returns a connection.
func pair(t *testing.T, w *network) (a, b net.Conn, stop func(), err error) {
	l, err := transport{w, "b"}.Listen(t.Context(), "")
	if err != nil {
		return nil, nil, nil, err
	}
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		accepted <- c
	}()
	if a, err = (transport{w, "a"}).Dial(t.Context(), l.Addr().String(), "b"); err != nil {
		return nil, nil, nil, err
	}
	b = <-accepted
	return a, b, func() { a.Close(); b.Close(); l.Close() }, nil
}

// left returns the number of streams of the network.
func left(w *network) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range w.ways {
		n += len(v.streams)
	}
	return n
}

// A writer that waits for space while the way is cut learns after it is healed that the reader has closed.
func TestReaderCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork()
		a, b, stop, err := pair(t, w)
		require.NoError(t, err)
		w.change("a", "b", func(v *way) { v.cut = true })
		wrote := make(chan error, 1)
		go func() {
			_, err := a.Write(make([]byte, 2*window))
			wrote <- err
		}()
		synctest.Wait()
		b.Close()
		synctest.Wait()
		require.Empty(t, wrote)
		w.change("a", "b", func(v *way) { v.cut = false })
		require.ErrorIs(t, <-wrote, syscall.ECONNRESET)
		stop()
		require.Zero(t, left(w))
	})
}

// A dial that is given up leaves nothing.
func TestDialGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork()
		l, err := transport{w, "b"}.Listen(t.Context(), "")
		require.NoError(t, err)
		for _, cut := range []bool{false, true} {
			w.change("a", "b", func(v *way) { v.cut = cut })
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err = transport{w, "a"}.Dial(ctx, l.Addr().String(), "b")
			require.ErrorIs(t, err, context.DeadlineExceeded)
			cancel()
		}
		require.Zero(t, left(w))
		l.Close()
		w.change("a", "b", func(v *way) { v.cut = false })
		_, err = transport{w, "a"}.Dial(t.Context(), l.Addr().String(), "b")
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	})
}

// Two writes at once stay whole.
func TestWholeWrites(t *testing.T) {
	w := newNetwork()
	a, b, stop, err := pair(t, w)
	require.NoError(t, err)
	defer stop()
	for _, fill := range []byte{1, 2} {
		go a.Write(bytes.Repeat([]byte{fill}, 2*window))
	}
	all := make([]byte, 4*window)
	_, err = io.ReadFull(b, all)
	require.NoError(t, err)
	require.Equal(t, bytes.Repeat(all[:1], 2*window), all[:2*window])
}

// A connection of the network behaves as others of package net do.
func TestConn(t *testing.T) {
	nettest.TestConn(t, func() (a, b net.Conn, stop func(), err error) { return pair(t, newNetwork()) })
}
