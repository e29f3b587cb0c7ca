package limits

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
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
		require.Equal(t, c.want, SourceOf(c.addr).String())
	}
}

// check verifies the invariants of the table.
func (t *Arrivals) check() error {
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

// Whatever comes and goes, the invariants hold, and the connection that is dropped is the oldest of its source.
func TestArrivalsRandomly(t *testing.T) {
	r := testkit.Rand(t)
	for range 50 {
		p := NewArrivals(1+r.IntN(20), 1+r.IntN(6))
		var in []*Arrival
		for range 500 {
			if len(in) > 0 && r.IntN(3) == 0 {
				i := r.IntN(len(in))
				p.Remove(in[i])
				p.Remove(in[i])
				in = append(in[:i:i], in[i+1:]...)
			} else {
				a := &Arrival{}
				if h := r.IntN(5); h > 0 {
					a.From = host(h)
				}
				dropped, share := p.Add(a)
				if share {
					require.Equal(t, a.From, dropped.From)
				}
				for i, b := range in {
					if b.From == dropped.source() && dropped != nil {
						require.Same(t, dropped, b, "it is the oldest of its source")
						in = append(in[:i:i], in[i+1:]...)
						break
					}
				}
				in = append(in, a)
			}
			require.NoError(t, p.check())
			require.Len(t, in, p.Len())
		}
	}
}

func (a *Arrival) source() netip.Prefix {
	if a == nil {
		return netip.Prefix{}
	}
	return a.From
}

// A flood from one source, or from several, drops its own connections; a flood from very many drops the oldest.
func TestArrivalsDrops(t *testing.T) {
	p := NewArrivals(16, 4)
	honest := &Arrival{From: host(200)}
	p.Add(honest)
	for i := range 1000 {
		p.Add(&Arrival{From: host(1 + i%5)})
		require.NotNil(t, honest.at)
		require.NoError(t, p.check())
	}
	require.Equal(t, 16, p.Len())
	require.Equal(t, 3, p.Largest(), "15 of five")
	p = NewArrivals(16, 4)
	p.Add(honest)
	for i := range 15 {
		dropped, _ := p.Add(&Arrival{From: host(i)})
		require.Nil(t, dropped)
	}
	dropped, share := p.Add(&Arrival{From: host(100)})
	require.Same(t, honest, dropped)
	require.False(t, share)
}

func TestPlaces(t *testing.T) {
	e := NewPlaces(3, 2)
	a, err := e.Take(host(1), false)
	require.NoError(t, err)
	b, err := e.Take(host(1), false)
	require.NoError(t, err)
	require.ErrorIs(t, e.Room(host(1)), ErrFull)
	require.NoError(t, e.Room(host(2)))
	_, err = e.Take(host(1), false)
	require.ErrorContains(t, err, "2 of them are from 10.0.0.1 (limits.connections_per_source: 2)")
	c, err := e.Take(host(1), true) // replaces one that is about to end
	require.NoError(t, err)
	_, err = e.Take(netip.Prefix{}, false)
	require.ErrorContains(t, err, "limits.connections: 3")
	require.Equal(t, []Use{
		{Name: "connections", Max: 3, Used: 3, Refused: 1}, {Name: "connections_per_source", Max: 2, Used: 3, Refused: 2},
	}, e.Limits())
	for _, p := range []*Place{a, b, c, a, nil} {
		e.Give(p)
	}
	require.Zero(t, e.all.Used())
	require.Empty(t, e.sources)
}

// peer is something to be dialled.
type peer struct{ dial Dial[peer] }

func newPeer() *peer {
	p := &peer{}
	p.dial.Of = p
	return p
}

func TestDials(t *testing.T) {
	now := time.Unix(0, 0)
	s := NewDials[peer](4, time.Second)
	peers := func(n int, first bool) (all []*peer) {
		for range n {
			p := newPeer()
			all = append(all, p)
			s.Ask(&p.dial, first, now)
		}
		return all
	}
	second := peers(10, false)
	require.Equal(t, []int{3, 3, 7}, []int{s.dialing, s.dialing2, s.second.Len()})
	p := newPeer()
	require.Equal(t, Now, s.Ask(&p.dial, true, now), "a dial is kept for the first line")
	first := peers(1, true)[0]
	next, late := s.Done(&second[0].dial, now)
	require.Same(t, first, next)
	require.Empty(t, late)
	next, _ = s.Done(&p.dial, now)
	require.Same(t, second[3], next)
	next, _ = s.Done(&first.dial, now)
	require.Nil(t, next, "three dials are the second line's")

	require.Equal(t, Now, s.Promote(&second[9].dial), "out of its line, into the free dial")
	require.Equal(t, Later, s.Promote(&second[8].dial))
	require.Equal(t, Later, s.Promote(&second[8].dial), "once")
	require.True(t, s.Withdraw(&second[8].dial))
	require.False(t, s.Withdraw(&second[8].dial))

	now = now.Add(time.Second)
	young := peers(1, false)[0]
	next, late = s.Done(&second[1].dial, now)
	require.Same(t, young, next)
	require.Equal(t, second[4:8], late)
	require.EqualValues(t, 4, s.refused)

	for n := 0; ; n++ {
		if s.Ask(&newPeer().dial, false, now) == Refused {
			require.Equal(t, 4*mostWaiting2, n)
			break
		}
	}
	require.Equal(t, Use{Name: "dials", Max: 4, Used: 4, Refused: 5}, s.Limit())
}

// Whatever happens, the invariants hold, and all peers are dialled.
func TestDialsRandomly(t *testing.T) {
	r := testkit.Rand(t)
	for range 50 {
		now := time.Unix(0, 0)
		s := NewDials[peer](1+r.IntN(6), time.Hour)
		var under []*peer
		asked, had, left := 0, 0, 0
		var waiting []*peer
		for range 400 {
			switch k := r.IntN(10); {
			case k < 5:
				p := newPeer()
				switch s.Ask(&p.dial, r.IntN(2) == 0, now) {
				case Now:
					under = append(under, p)
					had++
				case Later:
					waiting = append(waiting, p)
				case Refused:
					continue
				}
				asked++
			case k < 8 && len(under) > 0:
				i := r.IntN(len(under))
				next, late := s.Done(&under[i].dial, now)
				require.Empty(t, late)
				under = append(under[:i:i], under[i+1:]...)
				if next != nil {
					under = append(under, next)
					had++
				}
			case len(waiting) > 0:
				p := waiting[r.IntN(len(waiting))]
				if k == 8 && s.Withdraw(&p.dial) {
					left++
				} else if s.Promote(&p.dial) == Now {
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

// A changed maximum ends nothing that exists: nothing is added until there is less, and peers that wait to be dialled
// have their turn at once.
func TestSetMax(t *testing.T) {
	e := NewPlaces(3, 3)
	var places []*Place
	for range 3 {
		p, err := e.Take(host(1), false)
		require.NoError(t, err)
		places = append(places, p)
	}
	e.SetMax(2, 1)
	e.Give(places[0])
	require.ErrorContains(t, e.Room(host(1)), "limits.connections_per_source: 1")
	require.ErrorContains(t, e.Room(host(2)), "limits.connections: 2")
	e.SetMax(3, 3)
	require.NoError(t, e.Room(host(1)))

	a := NewPending(8, 8)
	var why []error
	enter := func(from int) {
		a.Enter(&Arrival{From: host(from), Drop: func(err error) { why = append(why, err) }})
	}
	for range 4 {
		enter(1)
	}
	a.SetMax(3, 2)
	require.Empty(t, why)
	enter(2)
	enter(1)
	require.Equal(t, []error{errDropped, errShare}, why)
	var all, share Use
	a.Count(&all, &share)
	require.Equal(t, []Use{{Used: 4, Refused: 1}, {Used: 3, Refused: 1}}, []Use{all, share})

	now := time.Unix(0, 0)
	d := NewDials[peer](4, time.Second)
	var asked []*peer
	for range 8 {
		p := newPeer()
		asked = append(asked, p)
		d.Ask(&p.dial, true, now)
	}
	next, late := d.SetMax(6, now)
	require.Equal(t, asked[4:6], next)
	require.Empty(t, late)
	d.SetMax(2, now)
	for _, p := range asked[:4] {
		p, _ := d.Done(&p.dial, now)
		require.Nil(t, p, "two of six go on")
	}
	p, _ := d.Done(&asked[4].dial, now)
	require.Same(t, asked[6], p)
	next, late = d.SetMax(9, now.Add(time.Second))
	require.Empty(t, next)
	require.Equal(t, asked[7:], late)
}
