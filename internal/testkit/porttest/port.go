// Package porttest finds ports for programs and listeners that a test starts later with a
// given port number.
package porttest

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// Reserve returns a port without a listener, over TCP or UDP, on any address of this host. Until the test ends the system
// does not assign it to a process that requests any TCP port. A process that names the port can listen on it with
// SO_REUSEADDR, which package net, OTP and epmd use. Until then connections to it are refused.
//
// It binds a socket that does not listen. On systems other than Unix the port was only free a moment ago.
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
