// Package porttest finds ports for programs and listeners that a test starts later with a
// given port number.
package porttest

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// Reserve returns a port at which no socket listens, over TCP or UDP, at any address
// of this host. Until the test ends the system does not choose it for any process that
// leaves the choice of a TCP port to the system. A process that names the port
// can listen at it, with SO_REUSEADDR, as package net, OTP and epmd do. Until
// then connections to it are refused.
//
// It is a socket that is bound and does not listen. Where there is no Unix the port was
// free a moment ago, and that is all.
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
