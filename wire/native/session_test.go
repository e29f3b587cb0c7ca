package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// rough is a network between two nodes whose connections split, delay, damage and end traffic, as often as faults says.
type rough struct {
	t      *testing.T
	p      *Protocol // of the accepting side
	h      dist.Handshake
	mu     sync.Mutex // of r
	r      *rand.Rand
	faults atomic.Int64 // per thousand pieces; 0: none
	down   atomic.Bool  // nobody can be reached
	cuts   atomic.Int64
	links  chan dist.Link // returned by Accept
	errs   chan error     // returned by Accept, except ErrResumed
	wg     sync.WaitGroup
}

func newRough(t *testing.T, seed uint64, h dist.Handshake) *rough {
	return &rough{t: t, p: new(Protocol), h: h, r: rand.New(rand.NewPCG(seed, 3)), links: make(chan dist.Link, 1),
		errs: make(chan error, 1000)}
}

func (n *rough) int(max int) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.r.IntN(max)
}

// dial is a Redial.
func (n *rough) dial(context.Context) (net.Conn, error) {
	if n.down.Load() {
		return nil, errors.New("nobody is there")
	}
	a, x := net.Pipe()
	y, b := net.Pipe()
	n.wg.Add(3)
	go n.carry(x, y)
	go n.carry(y, x)
	go func() { // ends with the handshake
		defer n.wg.Done()
		l, err := n.p.Accept(n.t.Context(), b, n.h)
		switch {
		case err == nil:
			n.links <- l
		case !errors.Is(err, links.ErrResumed):
			n.errs <- err
		}
	}()
	return a, nil
}

// carry moves bytes from one connection to the other until one ends.
func (n *rough) carry(from, to net.Conn) {
	defer n.wg.Done()
	defer from.Close()
	defer to.Close()
	b := make([]byte, 40<<10)
	for {
		k, err := from.Read(b[:1+n.int(len(b))])
		if err != nil || n.down.Load() {
			return
		}
		if n.int(3) == 0 {
			time.Sleep(time.Duration(n.int(50)) * time.Millisecond)
		}
		if f := int(n.faults.Load()); n.int(1000) < f {
			n.cuts.Add(1)
			switch n.int(3) {
			case 0:
				return
			case 1:
				_, _ = to.Write(b[:n.int(k+1)])
				return
			default:
				b[n.int(k)] ^= 1 << n.int(8)
			}
		}
		if _, err := to.Write(b[:k]); err != nil {
			return
		}
	}
}

func secret(wire.Atom) (string, string) { return "secret", "secret" }

// lasting returns two ends of a link with a session, over n.
func lasting(t *testing.T, seed uint64, change func(a, b *dist.Handshake)) (n *rough, a, b *link) {
	ha := dist.Handshake{Local: nodeA, Peer: nodeB.Name, Cookies: secret, Grace: time.Minute, Silence: 5 * time.Second}
	hb := dist.Handshake{Local: nodeB, Cookies: secret, Grace: time.Minute, Silence: 5 * time.Second}
	n = newRough(t, seed, hb)
	ha.Redial = n.dial
	if change != nil {
		change(&ha, &hb)
		n.h = hb
	}
	conn, err := n.dial(t.Context())
	require.NoError(t, err)
	la, err := new(Protocol).Dial(t.Context(), conn, ha)
	require.NoError(t, err)
	return n, la.(*link), (<-n.links).(*link)
}

// Messages arrive exactly once and in order, whatever the network does.
func TestSessionModel(t *testing.T) {
	for range testkit.By(8, 30, 1000) {
		seed := testkit.Seed(t)
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { model(t, seed) })
		})
	}
}

const (
	modelSenders  = 5
	modelMessages = 120
)

func model(t *testing.T, seed uint64) {
	n, a, b := lasting(t, seed, nil)
	n.faults.Store(int64(5 + n.int(60)))
	var wg, ticks sync.WaitGroup
	stop := make(chan struct{})
	for i, l := range []*link{a, b} {
		wg.Add(1)
		ticks.Add(1)
		go ticking(l, stop, &ticks)
		go func() { // ends when everything has come
			defer wg.Done()
			heard(t, l, [2]wire.Origin{onB, onA}[i])
		}()
		for s := range modelSenders {
			wg.Add(1)
			go func() { // ends when everything is sent
				defer wg.Done()
				speak(t, l, [2]wire.Origin{onA, onB}[i].PID(uint64(s)), [2]wire.Origin{onB, onA}[i].PID(9),
					rand.New(rand.NewPCG(seed, uint64(s))))
			}()
		}
	}
	all := make(chan struct{})
	go func() { wg.Wait(); close(all) }()
	time.AfterFunc(10*time.Minute, func() {
		select {
		case <-all:
		default:
			t.Errorf("not all has come after 10 minutes and %d faults", n.cuts.Load())
			_, _ = a.Close(), b.Close()
		}
	})
	<-all
	close(stop)
	ticks.Wait()
	n.faults.Store(0)
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	synctest.Wait() // nobody dials any more
	n.wg.Wait()
	require.Empty(t, n.p.waiting.m)
	t.Logf("%d faults", n.cuts.Load())
}

// ticking does what a node does besides sending.
func ticking(l *link, stop chan struct{}, wg *sync.WaitGroup) {
	defer wg.Done()
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Second):
			if _, err := flushOnce(l, true); err != nil {
				return
			}
		}
	}
}

// flushing keeps the two goroutines that flush apart.
var flushing sync.Map

func flushOnce(l *link, tick bool) (int, error) {
	c, _ := flushing.LoadOrStore(l, make(chan struct{}, 1))
	c.(chan struct{}) <- struct{}{}
	defer func() { <-c.(chan struct{}) }()
	return l.Flush(tick)
}

func speak(t *testing.T, l *link, from, to wire.PID, r *rand.Rand) {
	for i := range modelMessages {
		size := r.IntN(100)
		if r.IntN(20) == 0 {
			size = r.IntN(300 << 10)
		}
		f := dist.Frame{Op: dist.OpSend, From: from, To: to,
			Payload: wire.Tuple{i, wire.Atom(fmt.Sprint("a", r.IntN(50))), make([]byte, size)}}
		for done := false; !done; {
			_, err := l.Write(&f)
			if done = err == nil; err != nil && !errors.Is(err, dist.ErrLater) {
				t.Errorf("Write: %v", err)
				return
			}
			if done && r.IntN(3) > 0 && i < modelMessages-1 {
				continue
			}
			for left := 1; left > 0; {
				if left, err = flushOnce(l, false); err != nil {
					t.Errorf("Flush: %v", err)
					return
				}
			}
		}
		if r.IntN(10) == 0 {
			time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
		}
	}
}

func heard(t *testing.T, l *link, from wire.Origin) {
	due := make(map[wire.PID]int)
	for range modelSenders * modelMessages {
		var f dist.Frame
		if err := l.Read(&f); err != nil {
			t.Errorf("Read: %v", err)
			return
		}
		m := f.Payload.(wire.Tuple)
		if !from.Minted(f.From) || m[0] != due[f.From] {
			t.Errorf("message %v of %v, where %d is due", m[0], f.From, due[f.From])
			return
		}
		due[f.From]++
	}
	go func() { // ticks and acks, until the link ends
		var f dist.Frame
		if err := l.Read(&f); err == nil {
			t.Errorf("a message too many: %v", f)
		}
	}()
}

// Without a new connection, the first error ends both sides after the grace time, not before; and goroutines that wait
// in Flush go on.
func TestGraceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := lasting(t, 1, func(a, b *dist.Handshake) { b.Grace = 10 * time.Second })
		n.down.Store(true)
		began := time.Now()
		got := make(chan error, 2)
		for _, l := range []*link{a, b} {
			go func() { got <- l.Read(new(dist.Frame)) }() // ends with the link
		}
		blocked := make(chan error, 1)
		go func() { // until the link ends
			for {
				if _, err := a.Write(&dist.Frame{Op: dist.OpSend, From: onA.PID(1), To: onB.PID(1),
					Payload: make([]byte, 60<<10)}); err != nil {
					blocked <- err
					return
				}
				if _, err := a.Flush(false); err != nil {
					blocked <- err
					return
				}
			}
		}()
		for range 2 {
			err := <-got
			require.ErrorContains(t, err, "no new connection replaced it within 10s")
			require.GreaterOrEqual(t, time.Since(began), 10*time.Second)
			require.Less(t, time.Since(began), 17*time.Second)
		}
		require.ErrorContains(t, <-blocked, "no new connection")
		require.LessOrEqual(t, a.session.end-a.session.base, uint64(tailLimit+100<<10))
		n.wg.Wait()
	})
}

// A peer that has restarted, or given the link up, ends it at once.
func TestPeerHasGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := lasting(t, 1, nil)
		b.session.finish(io.EOF) // without a word
		require.ErrorIs(t, a.Read(new(dist.Frame)), errSession)
		n.wg.Wait()
	})
	synctest.Test(t, func(t *testing.T) {
		n, a, b := lasting(t, 1, nil)
		n.h.Local.Creation++
		n.p = new(Protocol)
		b.session.finish(io.EOF)
		err := a.Read(new(dist.Frame))
		require.ErrorIs(t, err, errSession)
		require.ErrorContains(t, err, "has restarted")
		n.wg.Wait()
	})
}

// A link that one side closes is over for both, at once.
func TestCloseEndsSession(t *testing.T) {
	for i := range 2 {
		synctest.Test(t, func(t *testing.T) {
			n, a, b := lasting(t, 1, nil)
			ends := []*link{a, b}
			got := make(chan error, 1)
			go func() { got <- ends[i].Read(new(dist.Frame)) }() // ends with the link
			began := time.Now()
			require.NoError(t, ends[1-i].Close())
			require.ErrorIs(t, <-got, io.EOF)
			require.Less(t, time.Since(began), time.Second)
			_, err := ends[1-i].Flush(true)
			require.ErrorIs(t, err, net.ErrClosed)
			n.wg.Wait()
		})
	}
}

// Silence counts as the end of a connection.
func TestSilenceBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := lasting(t, 1, nil)
		go func() { _ = b.Read(new(dist.Frame)) }() // ends with the link
		got := make(chan error, 1)
		go func() { got <- a.Read(new(dist.Frame)) }() // ends with the link
		a.session.mu.Lock()
		gen := a.session.gen
		a.session.mu.Unlock()
		time.Sleep(20 * time.Second)
		a.session.mu.Lock()
		require.Greater(t, a.session.gen, gen+1, "broken, and mended")
		a.session.mu.Unlock()
		require.NoError(t, a.Close())
		require.ErrorIs(t, <-got, net.ErrClosed)
		_ = b.Close()
		n.wg.Wait()
	})
}

// A session is alive if something has come since the last query, and only then.
func TestAliveSinceLastAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := lasting(t, 1, func(a, b *dist.Handshake) { a.Silence, b.Silence = time.Hour, time.Hour })
		go func() { _ = a.Read(new(dist.Frame)) }() // ends with the link
		synctest.Wait()
		a.session.isAlive() // the handshake
		for range 3 {
			require.False(t, a.session.isAlive(), "nothing has come")
			_, err := flushOnce(b, true)
			require.NoError(t, err)
			time.Sleep(time.Second) // the network's delay
			synctest.Wait()
			require.True(t, a.session.isAlive(), "a tick has come")
		}
		_, _ = a.Close(), b.Close()
		n.wg.Wait()
	})
}

// A damaged frame of a session is refused, whatever its kind: also an ack or a goodbye.
func TestDamagedFrames(t *testing.T) {
	for op := range opMask + 1 {
		frame := []byte{0, 3, byte(op), 7, 8}
		frame = appendSum(frame, frame)
		take := func(b []byte) error {
			in := &input{sums: true, buf: b, to: len(b)}
			s := new(session)
			s.cond.L = &s.mu
			_, ok, err := s.takeLocked(in)
			if !ok {
				require.Zero(t, s.received, "op %d", op)
			}
			return err
		}
		require.NoError(t, take(frame), "op %d", op)
		for bit := sizeBytes * 8; bit < len(frame)*8; bit++ {
			b := bytes.Clone(frame)
			b[bit/8] ^= 1 << (bit % 8)
			require.ErrorIs(t, take(b), errDamaged, "op %d, bit %d", op, bit)
		}
	}
}

// A flushing goroutine waits while more than tailLimit is not acknowledged, with or without a connection, and at most
// until the session is over.
func TestTailIsBounded(t *testing.T) {
	for _, connected := range []bool{true, false} {
		for _, ends := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				s := &session{base: 1000, end: 1000 + tailLimit}
				s.cond.L = &s.mu
				s.done, s.cancel = context.WithCancel(t.Context())
				if connected {
					conn, other := net.Pipe()
					defer other.Close()
					s.conn = conn
				}
				require.NoError(t, s.freeSpace(), "the tail is full, and not more")
				s.end++
				over := false
				go func() { _, over = s.freeSpace(), true }() // until there is space
				synctest.Wait()
				require.False(t, over)
				if ends {
					s.finish(io.EOF)
				} else {
					s.mu.Lock()
					s.base++
					s.cond.Broadcast()
					s.mu.Unlock()
				}
				synctest.Wait()
				require.True(t, over)
				s.finish(io.EOF)
			})
		}
	}
}

// A peer that does not know the cookie, or the session, cannot take a session over.
func TestSessionIsNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := lasting(t, 1, func(_, b *dist.Handshake) {
			b.Accept = func(_ wire.Atom, knows func(string) bool) (string, bool) {
				if knows("further") {
					return "further", true
				}
				return "secret", knows("secret")
			}
		})
		id := a.session.id
		for _, c := range []struct {
			cookie string
			local  wire.NodeID
			id     sessionID
			kind   error
		}{
			{"other", nodeA, id, dist.ErrCookie},
			{"further", nodeA, id, errSession}, // the session has begun with another node
			{"secret", nodeA, sessionID{1}, errSession},
			{"secret", wire.NodeID{Name: "c@host", Creation: 1}, id, errSession},
			{"secret", wire.NodeID{Name: nodeA.Name, Creation: 8}, id, errSession},
		} {
			conn, err := n.dial(t.Context())
			require.NoError(t, err)
			h := dist.Handshake{Local: c.local, Peer: nodeB.Name, Cookies: func(wire.Atom) (string, string) { return c.cookie, c.cookie }}
			_, err = new(Protocol).shake(t.Context(), conn, h, true, func(m *machine) {
				m.ours.flags |= flagResume
				m.session = c.id
			})
			require.ErrorIs(t, err, c.kind)
			require.ErrorIs(t, <-n.errs, c.kind)
			require.Zero(t, b.session.gen, "the link is as it was")
		}
		_, _ = a.Close(), b.Close()
		n.wg.Wait()
	})
}

// There is no session if either side wants none.
func TestNoSession(t *testing.T) {
	for _, change := range []func(a, b *dist.Handshake){
		func(a, _ *dist.Handshake) { a.Grace = 0 },
		func(_, b *dist.Handshake) { b.Grace = 0 },
		func(a, _ *dist.Handshake) { a.Redial = nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			n, a, b := lasting(t, 1, change)
			require.Nil(t, a.session)
			require.Nil(t, b.session)
			n.down.Store(true)
			_ = a.Close()
			require.ErrorIs(t, b.Read(new(dist.Frame)), io.ErrUnexpectedEOF)
			_ = b.Close()
			n.wg.Wait()
		})
	}
}
