// Package porttest finds ports for what a test starts later and can only be told
// the number of a port: another program, a listener that comes back.
package porttest

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// Reserve returns a port at which nobody listens, over TCP or UDP, at any address
// of this host. Until the test ends the system gives it to nobody who
// leaves the choice of a port to the system, in any process, over TCP; whoever names
// it can listen at it, with SO_REUSEADDR, as package net, OTP and epmd do. Until
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
