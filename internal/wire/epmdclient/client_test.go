package epmdclient

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/epmdserver"

	"github.com/actornode/actornode/wire/epmd"
)

var sample = Registration{Name: "cart", Port: 0x1234, Highest: 6, Lowest: 5, Extra: []byte{0, 255}}

const sampleBytes = "\x12\x34M\x00\x00\x06\x00\x05\x00\x04cart\x00\x02\x00\xff"

// answering returns a client whose every connection reads the request and is then handed to peer.
func answering(t *testing.T, cfg epmd.Config, peer func(conn net.Conn)) *Client {
	cfg.Logger = quiet().Logger
	cfg.Dial = func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			var head [2]byte
			if _, err := io.ReadFull(theirs, head[:]); err != nil {
				return
			}
			if _, err := io.CopyN(io.Discard, theirs, int64(binary.BigEndian.Uint16(head[:]))); err != nil {
				return
			}
			peer(theirs)
		}()
		return ours, nil
	}
	return newClient(t, cfg)
}

func says(s string) func(net.Conn) {
	return func(c net.Conn) {
		for i := range len(s) { // a byte a segment
			if _, err := c.Write([]byte{s[i]}); err != nil {
				return
			}
		}
	}
}

func TestLookup(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		peer string
		want error
	}{
		{"w\x00" + sampleBytes, nil},
		{"w\x01", epmd.ErrNotFound},
		{"", errHungUp},
		{"w\x00" + sampleBytes[:7], epmdserver.ErrShort},
		{"v\x00", epmdserver.ErrMalformed},
	} {
		r, err := answering(t, epmd.Config{}, says(c.peer)).Lookup(ctx, "", "cart")
		if c.want != nil {
			require.ErrorIs(t, err, c.want, "%q", c.peer)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, sample, r)
	}
	_, err := newClient(t, epmd.Config{}).Lookup(ctx, "", "cart@host")
	require.ErrorIs(t, err, ErrName)
	_, err = newClient(t, (&memnet{}).config()).Lookup(ctx, "", "cart")
	require.ErrorIs(t, err, epmd.ErrUnreachable)
}

func TestNamesAreBounded(t *testing.T) {
	text := "\x00\x00\x11\x11name a at port 1\n"
	n, err := answering(t, epmd.Config{MaxNames: len(text)}, says(text)).Names(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, []Entry{{"a", 1}}, n)
	_, err = answering(t, epmd.Config{MaxNames: len(text) - 1}, says(text)).Names(t.Context(), "")
	require.ErrorIs(t, err, epmdserver.ErrTooLong)
	_, err = answering(t, epmd.Config{}, says("\x00\x00")).Names(t.Context(), "")
	require.ErrorIs(t, err, epmdserver.ErrShort)
}

func TestRegisterAnswers(t *testing.T) {
	for _, c := range []struct {
		peer string
		want error
	}{
		{"v\x01\x00\x00\x00\x63", epmd.ErrRefused},
		{"y\x01\x00\x63", epmd.ErrRefused},
		{"", errHungUp},
		{"v\x00", epmdserver.ErrShort},
		{"w\x00", epmdserver.ErrMalformed},
		{"y\x00\x00\x01\x02", nil}, // nobody waits for the byte too many, so it ends the connection later
	} {
		a, err := answering(t, epmd.Config{}, says(c.peer)).Register(t.Context(), Registration{Name: "a"})
		require.ErrorIs(t, err, c.want, "%q", c.peer)
		if err == nil {
			assert.EqualValues(t, 1, a.Creation())
			a.Stop()
		}
	}
	a, err := answering(t, epmd.Config{}, says("v\x00\x00\x00\x00\x00")).Register(t.Context(), Registration{Name: "a"})
	require.NoError(t, err)
	assert.NotZero(t, a.Creation(), "the port mapper gave 0, so we chose")
	a.Stop()
}

// A peer that accepts and says nothing holds nobody up for longer than Timeout, or than the caller's context.
func TestSilentPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) }
		start := time.Now()
		_, err := answering(t, epmd.Config{}, silent).Lookup(t.Context(), "", "a")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 10*time.Second, time.Since(start))

		start = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = answering(t, epmd.Config{}, silent).Register(ctx, Registration{Name: "a"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(start))
	})
}

// The second of the two hosts in Local is tried when the first does not answer.
func TestLocalHosts(t *testing.T) {
	var asked []string
	cfg := quiet()
	cfg.Port = 99
	cfg.Dial = func(_ context.Context, network, address string) (net.Conn, error) {
		asked = append(asked, network+" "+address)
		return nil, errors.New("no")
	}
	_, err := newClient(t, cfg).Names(t.Context(), "")
	require.ErrorIs(t, err, epmd.ErrUnreachable)
	require.Equal(t, []string{"tcp 127.0.0.1:99", "tcp [::1]:99"}, asked)
}

func TestRegistersAgainEveryTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memnet
		var seen statuses
		cfg := m.config()
		cfg.OnStatus = seen.add
		_, stop := m.serve(t, cfg)
		a, err := newClient(t, cfg).Register(t.Context(), Registration{Name: "cart", Port: 7, Extra: []byte("x")})
		require.NoError(t, err)
		ours := a.Creation()
		require.NotZero(t, ours)

		require.ErrorIs(t, stop(), epmdserver.ErrStopped)
		synctest.Wait()
		dials := m.dialled()
		time.Sleep(2*time.Second - 1) // the bubble's clock, not ours
		synctest.Wait()
		require.Equal(t, dials, m.dialled())
		require.Equal(t, []string{registered, lost}, seen.states())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Equal(t, dials+1, m.dialled(), "after 2 s")
		require.Equal(t, []string{registered, lost, lost}, seen.states(), "another cause: nobody answers")
		require.ErrorIs(t, a.Status().Err, epmd.ErrUnreachable)

		// If another node takes the name in the meantime, the registration is refused until that node is gone.
		_, stop = m.serve(t, cfg)
		rival, err := newClient(t, m.config()).Register(t.Context(), Registration{Name: "cart", Port: 8})
		require.NoError(t, err)
		time.Sleep(2*time.Second + epmdserver.ConflictGrace)
		synctest.Wait()
		require.Equal(t, refused, stateOf(a.Status()))
		require.ErrorIs(t, a.Status().Err, epmd.ErrRefused)
		rival.Stop()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, epmd.Status{Registered: true, Creation: ours}, a.Status(), "our creation is kept")
		r, err := newClient(t, cfg).Lookup(t.Context(), "", "cart")
		require.NoError(t, err)
		require.Equal(t, Registration{Name: "cart", Port: 7, Highest: 6, Lowest: 6, Extra: []byte("x")}, r)

		a.Stop()
		a.Stop()
		require.Equal(t, []string{registered, lost, lost, refused, registered, stopped}, seen.states())
		synctest.Wait()
		_, err = newClient(t, cfg).Lookup(t.Context(), "", "cart")
		require.ErrorIs(t, err, epmd.ErrNotFound)
		require.ErrorIs(t, stop(), epmdserver.ErrStopped)
	})
}

func TestChosenCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memnet
		_, stop := m.serve(t, m.config())
		a, err := newClient(t, m.config()).Register(t.Context(), Registration{Name: "cart", Creation: 42})
		require.NoError(t, err)
		require.EqualValues(t, 42, a.Creation())
		a.Stop()
		require.ErrorIs(t, stop(), epmdserver.ErrStopped)
	})
}

func TestBadConfig(t *testing.T) {
	for _, c := range []epmd.Config{{Port: -1}, {Port: 65536}, {MaxConns: -1}, {IdleTimeout: -1}, {MaxNames: -1}, {Retry: -1}} {
		_, err := NewClient(c)
		require.Error(t, err)
	}
}

// Where a keeper's server listens, depending on its configuration.
func TestListenAddresses(t *testing.T) {
	for _, c := range []struct{ addresses, want string }{
		{"", ":99"},
		{"0.0.0.0 192.0.2.2", ":99"},
		{"192.0.2.2", "192.0.2.2:99 127.0.0.1:99 [::1]:99"},
		{"::1", "[::1]:99 127.0.0.1:99"},
	} {
		var asked []string
		cfg := epmd.Config{Port: 99, Listen: func(_ context.Context, _, address string) (net.Listener, error) {
			asked = append(asked, address)
			return (&memnet{}).listen(t.Context(), "", "")
		}}
		for _, a := range strings.Fields(c.addresses) {
			cfg.Addresses = append(cfg.Addresses, netip.MustParseAddr(a))
		}
		s, err := settings(cfg).withDefaults()
		require.NoError(t, err)
		all, err := s.listenAll(t.Context())
		require.NoError(t, err)
		require.Equal(t, c.want, strings.Join(asked, " "))
		closeAll(all)
	}
}

func TestNames(t *testing.T) {
	assert.NoError(t, checkName("é-1"))
	for _, s := range []string{"", "a@b", "a\nb", "a\x00", "\xff", strings.Repeat("é", 256)} {
		assert.ErrorIs(t, checkName(s), ErrName, "%q", s)
	}
}

// ending is a connection that ends while it is read.
type ending struct {
	net.Conn
	end func()
}

func (c ending) Write(b []byte) (int, error) { return len(b), nil }
func (c ending) Read([]byte) (int, error)    { c.end(); return 0, io.EOF }
func (c ending) RemoteAddr() net.Addr        { return &net.TCPAddr{} }

// A context may end while the port mapper hangs up: the function that closes the connection then runs when the lookup
// has returned.
func TestLookupEndsTwice(t *testing.T) {
	why := errors.New("no longer wanted")
	for range 100 {
		ctx, cancel := context.WithCancelCause(t.Context())
		near, far := net.Pipe()
		c := newClient(t, epmd.Config{Logger: quiet().Logger, Dial: func(context.Context, string, string) (net.Conn, error) {
			return ending{near, func() { cancel(why) }}, nil
		}})
		_, err := c.Lookup(ctx, "", "a")
		require.ErrorIs(t, err, why)
		_, err = far.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF, "it is closed")
	}
}
