//go:build !unix

package porttest

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// bind returns a port that is free now. This system cannot reserve it.
func bind(t testing.TB) int {
	t.Helper()
	ln, err := net.Listen("tcp", ":0")
	require.NoError(t, err)
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port
}
