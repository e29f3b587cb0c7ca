package gossip

import (
	"log/slog"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
)

func listening(t *testing.T) *transport {
	tr, err := listen("127.0.0.1", 0, bounded(t, &logtest.Text{}, Config{}), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { tr.Shutdown() })
	return tr
}

// A datagram takes the memory of its own length, not that of the longest possible one: strangers send as many as they
// like, and memberlist keeps some.
func TestDatagramsAreSmall(t *testing.T) {
	tr := listening(t)
	conn, err := net.Dial("udp", tr.tcp.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	const many, size = 1000, 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range many {
		_, err := conn.Write(make([]byte, size))
		require.NoError(t, err)
		p := testkit.Receive(t, tr.PacketCh())
		require.Len(t, p.Buf, size)
		require.LessOrEqual(t, cap(p.Buf), 2*size)
		require.Equal(t, conn.LocalAddr().String(), p.From.String())
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(many*4096), "64 KiB each would be %d", many*maxPacket)
}

// Shutdown does not wait for memberlist to take what has arrived, and can be repeated.
func TestShutdown(t *testing.T) {
	tr := listening(t)
	udp, err := net.Dial("udp", tr.tcp.Addr().String())
	require.NoError(t, err)
	defer udp.Close()
	_, err = udp.Write([]byte("x"))
	require.NoError(t, err)
	tcp, err := net.Dial("tcp", tr.tcp.Addr().String())
	require.NoError(t, err)
	defer tcp.Close()
	require.NoError(t, tr.Shutdown())
	require.NoError(t, tr.Shutdown())
	_, err = tcp.Read(make([]byte, 1))
	require.Error(t, err, "it is closed")
	_, err = tr.DialTimeout(tr.tcp.Addr().String(), time.Second)
	require.Error(t, err)
}

func TestAdvertised(t *testing.T) {
	tr := listening(t)
	ip, port, err := tr.FinalAdvertiseAddr("", 0)
	require.NoError(t, err)
	assert.Equal(t, tr.tcp.Addr().String(), (&net.TCPAddr{IP: ip, Port: port}).String())
	ip, port, err = tr.FinalAdvertiseAddr("10.0.0.1", 7)
	require.NoError(t, err)
	assert.Equal(t, "10.0.0.1:7", (&net.TCPAddr{IP: ip, Port: port}).String())
	_, _, err = tr.FinalAdvertiseAddr("nowhere", 7)
	require.ErrorContains(t, err, `"nowhere" is not an IP address`)
}
