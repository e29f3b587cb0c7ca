// Package porttest finds ports for what a test starts later and can only be told
// the number of a port: another program, a listener that comes back.
package porttest

import (
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Reserve returns a port at which nobody listens, over TCP or UDP, at any address
// of this host. Until the test ends the system gives it to nobody who
// leaves the choice of a port to the system, in any process, over TCP; whoever names
// it can listen at it, with SO_REUSEADDR, as package net, OTP and epmd do. Until
// then connections to it are refused.
//
// It is a socket that is bound and does not listen.
func Reserve(t testing.TB) int {
	t.Helper()
	for range 20 {
		port := bind(t)
		u, err := net.ListenPacket("udp", fmt.Sprint(":", port))
		if err != nil {
			continue
		}
		require.NoError(t, u.Close())
		return port
	}
	t.Fatal("no port is free for both TCP and UDP")
	return 0
}

// bind returns a port of both versions of IP, or, where there is no IPv6, of IPv4.
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

// socket returns one that is closed when the test ends.
func socket(t testing.TB, family int) (int, error) {
	syscall.ForkLock.RLock() // no program that is being started inherits it
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
