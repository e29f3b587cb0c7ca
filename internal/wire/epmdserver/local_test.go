package epmdserver

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

// from is a connection that claims to go between two addresses.
type from struct {
	net.Conn
	local, remote string
}

func (f from) LocalAddr() net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(f.local)) }
func (f from) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(f.remote))
}

func TestWhoIsLocal(t *testing.T) {
	for _, c := range []struct {
		local, remote string
		want          bool
	}{
		{"127.0.0.1:1", "127.0.0.1:2", true},
		{"127.0.0.1:1", "127.9.9.9:2", true},
		{"[::1]:1", "[::1]:2", true},
		{"[::ffff:127.0.0.1]:1", "[::ffff:127.0.0.1]:2", true},
		{"192.0.2.2:1", "192.0.2.2:2", true},
		{"[fd00::2]:1", "[fd00::2]:2", true},
		{"127.0.0.1:1", "192.0.2.2:2", false}, // measured: OTP's does not trust it either
		{"192.0.2.2:1", "192.0.2.3:2", false},
		{"[::1]:1", "[fd00::2]:2", false},
	} {
		conn := from{local: c.local, remote: c.remote}
		assert.Equal(t, c.want, local(conn), "%s to %s", c.remote, c.local)
		assert.EqualValues(t, 1, port(conn))
	}
	one, two := net.Pipe()
	defer one.Close()
	defer two.Close()
	assert.True(t, local(one))
}
