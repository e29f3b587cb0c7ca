//go:build linux && amd64 && !msan && !actornode_portable && !actornode_no_spin

package socket_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A look does not wait, even if somebody has made the socket a blocking one.
func TestReaderBlockingSocket(t *testing.T) {
	_, b := tcp(t)
	l := newLooking(b)
	raw, err := b.(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) { err = unix.SetNonblock(int(fd), false) }))
	require.NoError(t, err)
	assert.False(t, l.await(0))
}
