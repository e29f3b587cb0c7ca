package dist_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/actornode/actornode/wire/dist"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTCP(t *testing.T) {
	for _, tcp := range []dist.TCP{{}, {Delay: true}, {KeepAlive: time.Second}, {KeepAlive: -1}} {
		for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
			ln, err := tcp.Listen(t.Context(), addr)
			if err != nil && addr[0] == '[' {
				t.Skip("no IPv6 on this host")
			}
			require.NoError(t, err)
			go func() { // ended by the listener's end
				if c, err := ln.Accept(); err == nil {
					_, _ = c.Write([]byte("hello"))
					_ = c.Close()
				}
			}()
			c, err := tcp.Dial(t.Context(), ln.Addr().String(), "a@b")
			require.NoError(t, err)
			assert.IsType(t, &net.TCPConn{}, c)
			b, err := io.ReadAll(c)
			require.NoError(t, err)
			assert.Equal(t, "hello", string(b))
			require.NoError(t, c.Close())
			require.NoError(t, ln.Close())
		}
	}
	_, err := dist.TCP{}.Dial(t.Context(), "nowhere", "a@b")
	require.Error(t, err)
}
