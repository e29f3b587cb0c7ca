package epmdclient

import (
	"context"
	"io"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/epmdserver"

	"github.com/actornode/actornode/wire/epmd"
)

// from is a connection that says it goes between two addresses.
type from struct {
	net.Conn
	local, remote string
}

func (f from) LocalAddr() net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(f.local)) }
func (f from) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(f.remote))
}

// call sends b over m and returns what comes until the end, and how long that took.
func (m *memnet) call(t *testing.T, b string) (answer string, took time.Duration) {
	start := time.Now()
	conn, err := m.dial(t.Context(), "", "")
	require.NoError(t, err)
	defer conn.Close()
	for i := range len(b) { // a byte a segment
		if _, err := io.WriteString(conn, b[i:i+1]); err != nil {
			break
		}
	}
	got, err := io.ReadAll(conn)
	require.NoError(t, err)
	return string(got), time.Since(start)
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memnet
		s, stop := m.serve(t, m.config())
		for _, b := range []string{"", "\x00", "\x00\x05z", "\x00\x00", "\xff\xff"} {
			answer, took := m.call(t, b)
			require.Empty(t, answer)
			require.Contains(t, []time.Duration{0, time.Minute}, took)
			require.Equal(t, b == "\x00\x00" || b == "\xff\xff", took == 0, "%q", b)
		}
		a, err := newClient(t, m.config()).Register(t.Context(), Registration{Name: "a"})
		require.NoError(t, err)
		reg, err := epmdserver.Request{Op: epmdserver.OpAlive, Registration: epmdserver.Registration{Name: "a", Highest: 6}}.Append(nil)
		require.NoError(t, err)
		answer, took := m.call(t, string(reg))
		require.Equal(t, "v\x01\x00\x00\x00\x63", answer)
		require.Equal(t, time.Minute, took, "a refused registration is left open, for a while")
		time.Sleep(time.Hour)
		require.Equal(t, registered, stateOf(a.Status()), "a live one is not idle")
		require.Equal(t, epmdserver.Stats{Conns: 1, Names: 1, Accepted: 7, Refused: 1, Bad: 5, Creation: a.Creation()}, s.Stats())
		a.Stop()
		synctest.Wait()
		require.Zero(t, s.Stats().Conns)
		require.ErrorIs(t, stop(), epmdserver.ErrStopped)
	})
}

func TestConnectionsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memnet
		cfg := m.config()
		cfg.MaxConns, cfg.MaxRemote = 3, 1
		s, stop := m.serve(t, cfg)
		open := func(remote string) net.Conn {
			ours, theirs := net.Pipe()
			m.l.conns <- from{theirs, "192.0.2.2:1", remote}
			synctest.Wait()
			return ours
		}
		closed := func(c net.Conn) bool {
			_ = c.SetReadDeadline(time.Now().Add(time.Nanosecond))
			_, err := c.Read(make([]byte, 1))
			return err == io.EOF
		}
		far := open("192.0.2.9:1")
		require.False(t, closed(far))
		require.True(t, closed(open("192.0.2.9:2")), "one remote connection is enough")
		require.False(t, closed(open("192.0.2.2:2")))
		require.False(t, closed(open("192.0.2.2:3")))
		require.True(t, closed(open("192.0.2.2:4")), "three are enough")
		require.Equal(t, epmdserver.Stats{Conns: 3, Accepted: 5, TurnedAway: 2}, s.Stats())
		require.NoError(t, far.Close())
		synctest.Wait()
		require.False(t, closed(open("192.0.2.9:3")))
		require.ErrorIs(t, stop(), epmdserver.ErrStopped)
		require.Zero(t, s.Stats().Conns)
	})
}

func TestKillAndForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memnet
		ctx := t.Context()
		c := newClient(t, m.config())
		_, stop := m.serve(t, m.config())
		a, err := c.Register(ctx, Registration{Name: "a"})
		require.NoError(t, err)
		require.ErrorIs(t, c.kill(ctx), errNotAllowed)
		require.ErrorIs(t, c.forget(ctx, "a"), errHungUp)
		a.Stop()
		synctest.Wait()
		require.NoError(t, c.kill(ctx))
		require.ErrorIs(t, stop(), epmdserver.ErrKilled)

		relaxed := m.config()
		relaxed.Relaxed = true
		_, stop = m.serve(t, relaxed)
		a, err = c.Register(ctx, Registration{Name: "a"})
		require.NoError(t, err)
		require.ErrorIs(t, c.forget(ctx, "b"), epmd.ErrNotFound)
		require.NoError(t, c.forget(ctx, "a"))
		synctest.Wait()
		require.Equal(t, lost, stateOf(a.Status()))
		dump, err := c.dump(ctx, "")
		require.NoError(t, err)
		require.Equal(t, "old/unused name <a>, port = 0, fd = 1 \n", dump)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, registered, stateOf(a.Status()))
		require.NoError(t, c.kill(ctx))
		require.ErrorIs(t, stop(), epmdserver.ErrKilled)
		a.Stop()
	})
}

// A node that comes back before the end of its former life was seen is not refused: the answer waits for that, but not
// for long.
func TestRivalsGetAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memnet
		_, stop := m.serve(t, m.config())
		c := newClient(t, m.config())
		old, err := c.Register(t.Context(), Registration{Name: "a"})
		require.NoError(t, err)
		start := time.Now()
		_, err = c.Register(t.Context(), Registration{Name: "a"})
		require.ErrorIs(t, err, epmd.ErrRefused)
		require.Equal(t, epmdserver.ConflictGrace, time.Since(start))

		go func() {
			time.Sleep(epmdserver.ConflictGrace / 2)
			old.Stop()
		}()
		a, err := c.Register(t.Context(), Registration{Name: "a"})
		require.NoError(t, err)
		require.Equal(t, epmdserver.ConflictGrace+epmdserver.ConflictGrace/2, time.Since(start))
		require.Greater(t, a.Creation(), old.Creation())
		a.Stop()
		require.ErrorIs(t, stop(), epmdserver.ErrStopped)
	})
}

func TestServeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memnet
		s, err := epmdserver.New(settings(m.config()).server())
		require.NoError(t, err)
		l, err := m.listen(t.Context(), "", "")
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, s.Serve(ctx, l), context.DeadlineExceeded)
		l, err = m.listen(t.Context(), "", "")
		require.NoError(t, err)
		require.ErrorIs(t, s.Serve(t.Context(), l), epmdserver.ErrStopped, "a server serves once")
		require.Nil(t, m.l, "and closes what it was given")
		s.Stop()

		s, err = epmdserver.New(settings(m.config()).server())
		require.NoError(t, err)
		s.Stop()
		l, err = m.listen(t.Context(), "", "")
		require.NoError(t, err)
		require.ErrorIs(t, s.Serve(t.Context(), l), epmdserver.ErrStopped, "stopped before it began")

		s, err = epmdserver.New(settings(m.config()).server())
		require.NoError(t, err)
		l, err = m.listen(t.Context(), "", "")
		require.NoError(t, err)
		time.AfterFunc(time.Second, func() { _ = l.Close() })
		require.ErrorIs(t, s.Serve(t.Context(), l), net.ErrClosed)
	})
}
