package gossip

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
)

// pretended is a connection from an address of the test's choice, which sends zeros without end.
type pretended struct {
	net.Conn
	from     net.Addr
	closed   bool
	deadline time.Time
}

func (p *pretended) RemoteAddr() net.Addr          { return p.from }
func (p *pretended) Close() error                  { p.closed = true; return nil }
func (p *pretended) Read(b []byte) (int, error)    { return len(b), nil }
func (p *pretended) SetDeadline(t time.Time) error { p.deadline = t; return nil }

func from(ip string) *pretended {
	return &pretended{from: net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(ip), 1))}
}

func bounded(t *testing.T, log *logtest.Text, c Config) *streams {
	c.Cookie, c.Log = "x", slog.New(slog.NewTextHandler(log, nil))
	require.NoError(t, c.validate())
	return newStreams(&c)
}

// wrong says which invariant is broken.
func (s *streams) wrong() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := map[netip.Prefix]share{}
	for st := range s.served {
		c := count[st.source]
		c.served++
		count[st.source] = c
	}
	for _, st := range s.waiting {
		if s.roomLocked(st.source) {
			return "1, 2: one waits that could be served"
		}
		c := count[st.source]
		c.waiting++
		count[st.source] = c
	}
	switch {
	case len(s.served) > s.max:
		return fmt.Sprintf("1: %d served", len(s.served))
	case len(s.waiting) > waitFactor*s.max:
		return fmt.Sprintf("2: %d wait", len(s.waiting))
	case len(count) != len(s.sources):
		return fmt.Sprintf("3: %d sources, want %d", len(s.sources), len(count))
	}
	for source, c := range count {
		switch {
		case c != s.sources[source]:
			return fmt.Sprintf("3: %v has %v, want %v", source, s.sources[source], c)
		case c.served > s.perSource:
			return fmt.Sprintf("1: %v has %d served", source, c.served)
		case c.waiting > s.perSource*sourceWaitFactor:
			return fmt.Sprintf("2: %v has %d waiting", source, c.waiting)
		}
	}
	return ""
}

// Streams come and go at random, and the invariants hold.
func TestStreamsByChance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chance := testkit.Rand(t)
		s := bounded(t, &logtest.Text{}, Config{MaxStreams: 4, MaxStreamsPerSource: 2})
		var taken []net.Conn
		for range 5000 {
			switch chance.IntN(5) {
			case 0, 1:
				s.admit(from(fmt.Sprintf("10.0.0.%d", chance.IntN(6))))
			case 2:
				select {
				case conn := <-s.out:
					taken = append(taken, conn)
				default:
				}
			case 3:
				if len(taken) > 0 {
					i := chance.IntN(len(taken))
					taken[i].Close()
					taken[i].Close() // has no effect
					taken = append(taken[:i], taken[i+1:]...)
				}
			case 4:
				time.Sleep(time.Duration(chance.Int64N(int64(time.Second)))) // by the bubble's clock
				synctest.Wait()
			}
			require.Empty(t, s.wrong())
		}
		s.close()
		for _, conn := range taken {
			conn.Close()
		}
		assert.Empty(t, s.sources)
		late := from("10.0.0.1")
		s.admit(late)
		assert.True(t, late.closed)
		_, err := s.outgoing(from("10.0.0.1"), time.Now())
		require.ErrorIs(t, err, net.ErrClosed)
	})
}

// One source gets its share once, and the other sources get the rest.
func TestStreamsShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logtest.Text{}
		s := bounded(t, log, Config{})
		var all []*pretended
		for range 100 {
			all = append(all, from("10.0.0.1"))
			s.admit(all[len(all)-1])
		}
		var is Stats
		s.stats(&is)
		assert.Equal(t, Stats{Streams: 2, StreamsWaiting: 16, StreamsLimit: 16, StreamsRefused: 82}, is)
		assert.Equal(t, 1, strings.Count(log.Take(), "refused a TCP connection"), "one a second")
		first := (<-s.out).(*stream)
		assert.Equal(t, all[0], first.Conn)
		assert.Equal(t, time.Now().Add(5*time.Second), all[0].deadline)

		for i := range 7 { // other sources are served at once
			s.admit(from(fmt.Sprintf("10.0.1.%d", i)))
			s.admit(from(fmt.Sprintf("10.0.1.%d", i)))
		}
		s.stats(&is)
		assert.Equal(t, Stats{Streams: 16, StreamsWaiting: 16, StreamsLimit: 16, StreamsRefused: 82}, is)
		first.Close() // and those that wait, in turn
		require.True(t, all[0].closed)
		s.stats(&is)
		assert.Equal(t, Stats{Streams: 16, StreamsWaiting: 15, StreamsLimit: 16, StreamsRefused: 82}, is)

		time.Sleep(time.Second)
		synctest.Wait()
		assert.Contains(t, log.Take(), "not_logged=80", "the last of those that were held")
		s.admit(from("10.0.2.1"))
		s.stats(&is)
		assert.Equal(t, 16, is.StreamsWaiting, "no place is free")
		for range 99 {
			s.admit(from("10.0.0.1"))
		}
		assert.Empty(t, log.Take())
		time.Sleep(time.Second)
		synctest.Wait()
		text := log.Take()
		assert.Contains(t, text, "from=10.0.0.1:1 reason=\"too many connections from this address (Config.MaxStreamsPerSource)\"")
		assert.Contains(t, text, "not_logged=97")
		time.Sleep(time.Minute) // a stream that waits too long is refused
		s.stats(&is)
		assert.Equal(t, Stats{Streams: 16, StreamsLimit: 16, StreamsRefused: 82 + 98 + 17}, is)
		assert.Contains(t, log.Take(), "it was not served within 5s (Config.StreamTimeout)")
		s.close()
	})
}

// A refused or a cut stream that is held is logged when the second is over, and at the end.
func TestStreamsHeldLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logtest.Text{}
		s := bounded(t, log, Config{})
		lines := func() int { return strings.Count(log.Take(), "msg=\"gossip: ") }
		fail := func() {
			s.refuse(&stream{Conn: from("10.0.0.1"), all: s}, "of the test")
			(&stream{Conn: from("10.0.0.1"), all: s}).Read(make([]byte, 1))
		}
		fail()
		assert.Equal(t, 2, lines())
		fail()
		assert.Zero(t, lines())
		time.Sleep(logPause)
		synctest.Wait()
		assert.Equal(t, 2, lines())
		fail()
		assert.Zero(t, lines())
		s.close()
		assert.Equal(t, 2, lines())
		fail()
		time.Sleep(time.Hour)
		assert.Zero(t, lines())
		var is Stats
		s.stats(&is)
		assert.Equal(t, []uint64{4, 4}, []uint64{is.StreamsRefused, is.StreamsCut})
	})
}

// The number of waiting streams, over all sources, is bounded too.
func TestStreamsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logtest.Text{}
		s := bounded(t, log, Config{})
		for i := range 200 {
			s.admit(from(fmt.Sprintf("10.0.0.%d", i)))
		}
		var is Stats
		s.stats(&is)
		assert.Equal(t, Stats{Streams: 16, StreamsWaiting: 64, StreamsLimit: 16, StreamsRefused: 120}, is)
		assert.Contains(t, log.Take(), "too many connections (Config.MaxStreams)")
		s.close()
	})
}

func TestSourceOf(t *testing.T) {
	for ip, want := range map[string]string{
		"10.0.0.1": "10.0.0.1/32", "::ffff:10.0.0.1": "10.0.0.1/32",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64",
	} {
		assert.Equal(t, want, sourceOf(from(ip).from).String())
	}
	assert.Equal(t, "::/0", sourceOf(&net.UnixAddr{}).String())
}

// A stream is read up to its limit and no farther, and no deadline is later than its end.
func TestStreamBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logtest.Text{}
		s := bounded(t, log, Config{MaxStreamBytes: 10_000})
		raw := from("10.0.0.1")
		conn, err := s.outgoing(raw, time.Now().Add(time.Second))
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(time.Hour)))
		assert.Equal(t, time.Now().Add(time.Second), raw.deadline)
		require.NoError(t, conn.SetDeadline(time.Time{}))
		assert.Equal(t, time.Now().Add(time.Second), raw.deadline)
		require.NoError(t, conn.SetDeadline(time.Now()))
		assert.Equal(t, time.Now(), raw.deadline)
		n, err := io.Copy(io.Discard, conn)
		require.ErrorContains(t, err, "longer than 10000 bytes (Config.MaxStreamBytes)")
		assert.Equal(t, int64(10_000), n)
		var is Stats
		s.stats(&is)
		assert.Equal(t, uint64(1), is.StreamsCut)
		assert.Contains(t, log.Take(), "with=10.0.0.1:1 dialled_here=true")
		require.NoError(t, conn.Close())
		assert.Empty(t, s.dialled)
	})
}
