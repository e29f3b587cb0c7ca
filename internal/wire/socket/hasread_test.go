//go:build linux && amd64 && race && !msan && !actornode_portable && !actornode_no_spin

package socket_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Bytes that arrive over a connection order memory for the race detector, whoever reads them: a look reports that as a
// sleeping read does.
func TestLookOrders(t *testing.T) {
	a, b := tcp(t)
	l := newLooking(b)
	said := ""
	go func() { // ends at once
		said = "ball"
		a.Write([]byte("x"))
	}()
	for !l.await(time.Millisecond) {
	}
	l.until(t, 1)
	require.Equal(t, "ball", said)
}
