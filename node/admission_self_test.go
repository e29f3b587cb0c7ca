package node

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/limit"
	"github.com/actornode/actornode/internal/randtest"
)

func TestSourceOf(t *testing.T) {
	for _, c := range []struct {
		addr net.Addr
		want string
	}{
		{&net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 4}, "10.1.2.3/32"},
		{&net.TCPAddr{IP: net.ParseIP("::ffff:10.1.2.3")}, "10.1.2.3/32"},
		{&net.TCPAddr{IP: net.ParseIP("2001:db8:1:2:3::4")}, "2001:db8:1:2::/64"},
		{&net.TCPAddr{IP: net.ParseIP("fe80::1"), Zone: "eth0"}, "fe80::/64"},
		{&net.UnixAddr{Name: "/tmp/x"}, "invalid Prefix"},
		{&net.TCPAddr{}, "invalid Prefix"},
		{nil, "invalid Prefix"},
	} {
		require.Equal(t, c.want, sourceOf(c.addr).String())
	}
}

// check verifies the invariants of the table.
func (t *pending) check() error {
	n, most := 0, 0
	for of, s := range t.sources {
		k := s.arrivals.Len()
		n, most = n+k, max(most, k)
		if k == 0 || s.of != of || of.IsValid() && k > t.share {
			return fmt.Errorf("%v has %d", of, k)
		}
		there := false
		for e := t.levels[k].Front(); e != nil; e = e.Next() {
			there = there || e.Value == s
		}
		if !there {
			return fmt.Errorf("%v is not in level %d", of, k)
		}
	}
	levels := 0
	for _, l := range t.levels {
		levels += l.Len()
	}
	if n != t.n || n > t.max || most != t.most || levels != len(t.sources) {
		return fmt.Errorf("%d are there, %d are counted; %d is the most, %d is said; %d in levels", n, t.n, most, t.most, levels)
	}
	return nil
}

func host(i int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 32)
}

// Whatever comes and goes, the invariants hold, and who is dropped is the oldest of its
// source.
func TestPendingRandomly(t *testing.T) {
	r := randtest.New(t)
	for range 50 {
		p := newPending(1+r.IntN(20), 1+r.IntN(6))
		var in []*arrival
		for range 500 {
			if len(in) > 0 && r.IntN(3) == 0 {
				i := r.IntN(len(in))
				p.remove(in[i])
				p.remove(in[i])
				in = append(in[:i:i], in[i+1:]...)
			} else {
				a := &arrival{}
				if h := r.IntN(5); h > 0 {
					a.from = host(h)
				}
				dropped, share := p.add(a)
				if share {
					require.Equal(t, a.from, dropped.from)
				}
				for i, b := range in {
					if b.from == dropped.source() && dropped != nil {
						require.Same(t, dropped, b, "it is the oldest of its source")
						in = append(in[:i:i], in[i+1:]...)
						break
					}
				}
				in = append(in, a)
			}
			require.NoError(t, p.check())
			require.Len(t, in, p.n)
		}
	}
}

func (a *arrival) source() netip.Prefix {
	if a == nil {
		return netip.Prefix{}
	}
	return a.from
}

// A flood from one source, or from several, drops itself; one from very many drops who is
// oldest.
func TestPendingDrops(t *testing.T) {
	p := newPending(16, 4)
	honest := &arrival{from: host(200)}
	p.add(honest)
	for i := range 1000 {
		p.add(&arrival{from: host(1 + i%5)})
		require.NotNil(t, honest.at)
		require.NoError(t, p.check())
	}
	require.Equal(t, 16, p.n)
	require.Equal(t, 3, p.largest(), "15 of five")
	p = newPending(16, 4)
	p.add(honest)
	for i := range 15 {
		dropped, _ := p.add(&arrival{from: host(i)})
		require.Nil(t, dropped)
	}
	dropped, share := p.add(&arrival{from: host(100)})
	require.Same(t, honest, dropped)
	require.False(t, share)
}

func TestEstablished(t *testing.T) {
	e := established{all: limit.New("connections", 3), share: 2, sources: make(map[netip.Prefix]int)}
	a, err := e.take(host(1), false)
	require.NoError(t, err)
	b, err := e.take(host(1), false)
	require.NoError(t, err)
	require.ErrorIs(t, e.room(host(1)), errFull)
	require.NoError(t, e.room(host(2)))
	_, err = e.take(host(1), false)
	require.ErrorContains(t, err, "2 of them are from 10.0.0.1 (limits.connections_per_source: 2)")
	c, err := e.take(host(1), true) // in place of one that is about to end
	require.NoError(t, err)
	_, err = e.take(netip.Prefix{}, false)
	require.ErrorContains(t, err, "limits.connections: 3")
	require.Equal(t, []LimitUse{{"connections", 3, 3, 1}, {"connections_per_source", 2, 3, 2}}, e.limits())
	for _, p := range []*place{a, b, c, a, nil} {
		e.give(p)
	}
	require.Zero(t, e.all.Used())
	require.Empty(t, e.sources)
}

// Peers without a node ask to be dialled.
func TestDialQueue(t *testing.T) {
	now := time.Unix(0, 0)
	s := newDialQueue(4, time.Second)
	peers := func(n int, first bool) (all []*peer) {
		for range n {
			p := &peer{}
			all = append(all, p)
			s.ask(p, first, now)
		}
		return all
	}
	second := peers(10, false)
	require.Equal(t, []int{3, 3, 7}, []int{s.dialing, s.dialing2, s.second.Len()})
	p := &peer{}
	require.Equal(t, dialNow, s.ask(p, true, now), "a dial is kept for the first line")
	first := peers(1, true)[0]
	next, late := s.done(second[0], now)
	require.Same(t, first, next)
	require.Empty(t, late)
	next, _ = s.done(p, now)
	require.Same(t, second[3], next)
	next, _ = s.done(first, now)
	require.Nil(t, next, "three dials are the second line's")

	require.Equal(t, dialNow, s.promote(second[9]), "out of its line, into the free dial")
	require.Equal(t, dialLater, s.promote(second[8]))
	require.Equal(t, dialLater, s.promote(second[8]), "once")
	require.True(t, s.withdraw(second[8]))
	require.False(t, s.withdraw(second[8]))

	now = now.Add(time.Second)
	young := peers(1, false)[0]
	next, late = s.done(second[1], now)
	require.Same(t, young, next)
	require.Equal(t, second[4:8], late)
	require.EqualValues(t, 4, s.refused)

	for n := 0; ; n++ {
		if s.ask(&peer{}, false, now) == dialRefused {
			require.Equal(t, 4*mostWaiting2, n)
			break
		}
	}
	require.Equal(t, LimitUse{"dials", 4, 4, 5}, s.limit())
}

// Whatever happens the invariants hold, and all are dialled.
func TestDialQueueRandomly(t *testing.T) {
	r := randtest.New(t)
	for range 50 {
		now := time.Unix(0, 0)
		s := newDialQueue(1+r.IntN(6), time.Hour)
		var under []*peer
		asked, had, left := 0, 0, 0
		var waiting []*peer
		for range 400 {
			switch k := r.IntN(10); {
			case k < 5:
				p := &peer{}
				switch s.ask(p, r.IntN(2) == 0, now) {
				case dialNow:
					under = append(under, p)
					had++
				case dialLater:
					waiting = append(waiting, p)
				case dialRefused:
					continue
				}
				asked++
			case k < 8 && len(under) > 0:
				i := r.IntN(len(under))
				next, late := s.done(under[i], now)
				require.Empty(t, late)
				under = append(under[:i:i], under[i+1:]...)
				if next != nil {
					under = append(under, next)
					had++
				}
			case len(waiting) > 0:
				p := waiting[r.IntN(len(waiting))]
				if k == 8 && s.withdraw(p) {
					left++
				} else if s.promote(p) == dialNow {
					under = append(under, p)
					had++
				}
			}
			require.Len(t, under, s.dialing)
			require.LessOrEqual(t, s.dialing, s.max)
			require.LessOrEqual(t, s.dialing2, s.max2)
			require.False(t, s.first.Len() > 0 && s.free(true))
			require.False(t, s.second.Len() > 0 && s.free(false))
			require.Equal(t, asked, had+left+s.first.Len()+s.second.Len())
		}
	}
}

func TestBrief(t *testing.T) {
	require.Equal(t, "x", briefError(errors.New("x")))
	long := briefError(errors.New(string(make([]byte, 1<<20))))
	require.Less(t, len(long), maxBrief+4)
}
