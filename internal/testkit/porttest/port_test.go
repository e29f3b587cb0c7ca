package porttest_test

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/porttest"
)

func TestReserve(t *testing.T) {
	port := porttest.Reserve(t)
	_, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", port))
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	for range 2 { // a port can be listened at, and again
		for _, at := range []string{"127.0.0.1", "127.0.0.2", "", "[::1]"} {
			l, err := net.Listen("tcp", fmt.Sprint(at, ":", port))
			if errors.Is(err, syscall.EADDRNOTAVAIL) && at == "[::1]" {
				continue // there is no IPv6
			}
			require.NoError(t, err, at)
			c, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", port))
			if at == "127.0.0.1" || at == "" {
				require.NoError(t, err, at)
				require.NoError(t, c.Close())
			}
			require.NoError(t, l.Close())
		}
		u, err := net.ListenPacket("udp", fmt.Sprint("127.0.0.1:", port))
		require.NoError(t, err)
		require.NoError(t, u.Close())
	}
}

// The system gives a reserved port to nobody: asked for as many ports as there are, it hands out all the others.
func TestReserved(t *testing.T) {
	mine := map[int]bool{}
	for range 200 {
		port := porttest.Reserve(t)
		assert.False(t, mine[port])
		mine[port] = true
	}
	for range 3000 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		c, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		assert.False(t, mine[l.Addr().(*net.TCPAddr).Port])
		assert.False(t, mine[c.LocalAddr().(*net.TCPAddr).Port])
		require.NoError(t, c.Close())
		require.NoError(t, l.Close())
	}
}
