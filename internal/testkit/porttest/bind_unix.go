//go:build unix

package porttest

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// bind returns a port reserved for IPv4, and for IPv6 if available.
func bind(t testing.TB) int {
	t.Helper()
	fd, err := socket(t, syscall.AF_INET6)
	if err == nil {
		require.NoError(t, syscall.SetsockoptInt(fd, syscall.IPPROTO_IPV6, syscall.IPV6_V6ONLY, 0))
		err = syscall.Bind(fd, &syscall.SockaddrInet6{})
	}
	if err != nil {
		fd, err = socket(t, syscall.AF_INET)
		require.NoError(t, err)
		require.NoError(t, syscall.Bind(fd, &syscall.SockaddrInet4{}))
	}
	addr, err := syscall.Getsockname(fd)
	require.NoError(t, err)
	if six, ok := addr.(*syscall.SockaddrInet6); ok {
		return six.Port
	}
	return addr.(*syscall.SockaddrInet4).Port
}

// socket returns a socket that is closed when the test ends.
func socket(t testing.TB, family int) (int, error) {
	syscall.ForkLock.RLock() // keeps starting programs from inheriting it
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return 0, err
	}
	t.Cleanup(func() { require.NoError(t, syscall.Close(fd)) })
	require.NoError(t, syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	return fd, nil
}
