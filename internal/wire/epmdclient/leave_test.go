package epmdclient

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire/epmd"
)

// halfConn can be closed for writing alone, as a TCP connection can.
type halfConn struct {
	net.Conn
	half chan struct{}
}

func (c halfConn) CloseWrite() error { close(c.half); return nil }

// Stop returns when the port mapper has forgotten the name: OTP's epmd reads other connections first, and would refuse
// a new registration meanwhile. A port mapper that does not close its end holds Stop up for 200 ms.
func TestStopWaitsUntilTheNameIsFree(t *testing.T) {
	for name, c := range map[string]struct {
		closes bool // the mapper closes the connection, 50 ms after it has forgotten the name
		waits  time.Duration
	}{"at once": {true, 50 * time.Millisecond}, "never": {false, 200 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				free := make(chan struct{})
				cfg := epmd.Config{Logger: quiet().Logger}
				cfg.Dial = func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					half := make(chan struct{})
					go func() { // ended by the end of the connection
						var head [2]byte
						_, _ = io.ReadFull(theirs, head[:])
						_, _ = io.CopyN(io.Discard, theirs, int64(head[1]))
						_, _ = io.WriteString(theirs, "v\x00\x00\x00\x00\x07")
						<-half
						if c.closes {
							time.Sleep(50 * time.Millisecond)
							close(free)
							_ = theirs.Close()
						}
					}()
					return halfConn{ours, half}, nil
				}
				a, err := newClient(t, cfg).Register(t.Context(), Registration{Name: "a"})
				require.NoError(t, err)
				begin := time.Now()
				a.Stop()
				require.Equal(t, c.waits, time.Since(begin))
				select {
				case <-free:
				default:
					require.False(t, c.closes, "the name is still taken")
				}
			})
		})
	}
}
