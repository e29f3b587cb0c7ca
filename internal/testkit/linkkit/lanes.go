package linkkit

import (
	crand "crypto/rand"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/actornode/actornode/internal/wire/links"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// lanes runs several senders on one link: messages of one overtake a long message of another, but not its own.
func (k kit) lanes(t *testing.T) {
	a, b := k.pair(t)
	here, to := wire.NewOrigin(A), wire.NewOrigin(B).PID(1)
	blob := make([]byte, 4<<20)
	_, _ = crand.Read(blob)
	send := func(from uint64, v any) dist.Frame {
		return dist.Frame{Op: dist.OpSend, From: here.PID(from), To: to, Payload: v}
	}
	long, other := send(1, wire.Tuple{wire.Atom("long"), blob, 1}), send(2, wire.Tuple{blob[:1<<20], wire.Atom("long")})
	down := dist.Frame{Op: dist.OpExit, From: here.PID(1), To: to, Payload: blob[:100<<10]}
	n, err := a.Write(&long)
	if err != nil || n == 0 {
		t.Fatalf("Write: %d bytes for the next Flush, %v", n, err)
	}
	if whole := n > 1<<20; whole != k.whole {
		t.Fatalf("%d bytes of a message of %d wait for the next Flush", n, len(blob))
	}
	if k.whole {
		k.inOrder(t, a, b, []dist.Frame{long, down, other})
	} else {
		k.parts(t, a, b, [3]dist.Frame{long, down, other})
	}
	// Many at a time, more than may be in flight.
	const senders = 100
	c := read(b, 2*senders)
	go func() { // ends with the frames, which the test awaits
		for i := range uint64(2 * senders) {
			f := send(i%senders+1, wire.Tuple{int(i), blob[:200<<10]})
			if err := put(a, &f); err != nil {
				t.Errorf("Write: %v", err)
				return
			}
		}
		_ = flush(a)
	}()
	seen := make(map[wire.PID]int)
	for range 2 * senders {
		f := next(t, c)
		i := f.Payload.(wire.Tuple)[0].(int)
		if was, ok := seen[f.From]; ok && was > i {
			t.Errorf("message %d of %v comes after its %d", i, f.From, was)
		}
		seen[f.From] = i
	}
}

// inOrder sends the rest of l, whose first frame has been written, in order.
func (k kit) inOrder(t *testing.T, a, b dist.Link, l []dist.Frame) {
	t.Helper()
	c := read(b, len(l))
	for i := range l[1:] {
		if _, err := a.Write(&l[i+1]); err != nil {
			t.Fatalf("Write: %v", err)
		}
	}
	if err := flush(a); err != nil {
		t.Fatalf("Flush: %v", err)
	}
	for _, want := range l {
		if err := Same(want, next(t, c)); err != nil {
			t.Error(err)
		}
	}
}

// parts continues after a long message, l[0], has been written: later messages of its sender, or of the sender of the
// shorter l[2], must wait, and those of others must not.
func (k kit) parts(t *testing.T, a, b dist.Link, l [3]dist.Frame) {
	t.Helper()
	long, down, other := l[0], l[1], l[2]
	if n, err := a.Write(&other); err != nil || n > 1<<20 {
		t.Fatalf("Write: %d bytes for the next Flush, %v", n, err)
	}
	c := read(b, 3+3)  // all the time, since Flush may wait for it
	for i := range 3 { // everything of the others goes first
		f := dist.Frame{Op: dist.OpSend, From: wire.NewOrigin(A).PID(3), To: long.To, Payload: wire.Tuple{i, wire.Atom("small")}}
		if _, err := a.Write(&f); err != nil {
			t.Fatalf("Write: %v", err)
		}
		for _, f := range []*dist.Frame{&down, &other} {
			if _, err := a.Write(f); !errors.Is(err, dist.ErrLater) {
				t.Fatalf("Write of what would overtake a message of its sender says %v", err)
			}
		}
		left, err := a.Flush(false)
		if err != nil || left < 512<<10 {
			t.Fatalf("Flush leaves %d bytes of a long message, %v", left, err)
		}
		if err := Same(f, next(t, c)); err != nil {
			t.Error(err)
		}
	}
	if err := put(a, &down); err != nil {
		t.Fatalf("Write: %v", err)
	}
	if err := flush(a); err != nil {
		t.Fatalf("Flush: %v", err)
	}
	for _, want := range []dist.Frame{other, long, down} {
		if err := Same(want, next(t, c)); err != nil {
			t.Error(err)
		}
	}
}

// shared is a link written by many goroutines.
type shared struct {
	dist.Link
	mu sync.Mutex // of Flush
}

func (s *shared) put(f *dist.Frame) error {
	for {
		n, err := s.Write(f)
		if err != nil && !errors.Is(err, dist.ErrLater) {
			return err
		}
		if err == nil && n < 64<<10 {
			return nil
		}
		if e := s.flush(false); e != nil || err == nil {
			return e
		}
	}
}

func (s *shared) flush(all bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if all {
		return flush(s.Link)
	}
	_, err := s.Flush(false)
	return err
}

// crowd runs many senders that write messages of all sizes at once: those of each arrive in order.
func (k kit) crowd(t *testing.T) { Crowd(t, k.p, 20, 60) }

// Crowd sends messages of mixed sizes from each of the senders, and checks their order.
func Crowd(t *testing.T, p dist.Protocol, senders, messages int) {
	k := kit{p: p}
	l, b := k.pair(t)
	a := &shared{Link: l}
	c := read(b, senders*messages)
	from, to := wire.NewOrigin(A), wire.NewOrigin(B).PID(1)
	blob := make([]byte, 400<<10)
	done := make(chan error, senders)
	for s := range senders {
		go func() { // ends with its messages, which the test awaits
			r := rand.New(rand.NewPCG(uint64(s), 1))
			for i := range messages {
				size := r.IntN(200)
				if r.IntN(messages) < 5 {
					size = r.IntN(len(blob))
				}
				f := dist.Frame{Op: dist.OpSend, From: from.PID(uint64(s + 1)), To: to, Payload: wire.Tuple{s, i, blob[:size]}}
				if err := a.put(&f); err != nil {
					done <- err
					return
				}
			}
			done <- a.flush(true)
		}()
	}
	due := make([]int, senders)
	for range senders * messages {
		m, ok := next(t, c).Payload.(wire.Tuple)
		if !ok || len(m) != 3 {
			t.Fatalf("a message that was not sent: %.100s", wire.Format(m))
		}
		s, i := m[0].(int), m[1].(int)
		if i != due[s] {
			t.Fatalf("message %d of sender %d, where %d should come", i, s, due[s])
		}
		due[s]++
	}
	for range senders {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// ahead reads like a node that delays delivery while More reports more frames: it must never block. Ticks and parts of long
// messages could mislead it.
func (k kit) ahead(t *testing.T) {
	k.needs(t, LookAhead) // otherwise a node delivers at once
	a, b := k.pair(t)
	l := b.(links.LookAhead)
	from, to := wire.NewOrigin(A), wire.NewOrigin(B).PID(1)
	blob := make([]byte, 300<<10)
	const small = 200
	promised, saw := make(chan bool, small+20), false
	go func() { // ends with the link
		var f dist.Frame
		for {
			promised <- false // Read may wait
			for {
				if b.Read(&f) != nil {
					return
				}
				promised <- true
				if !l.More() {
					break
				}
			}
		}
	}()
	open := false // a pending Read must return
	await := func() {
		for open {
			select {
			case returned := <-promised:
				saw, open = saw || returned, returned
			case <-time.After(patience):
				t.Fatal("More says that Read does not wait, and it does")
			}
		}
	}
	for i := range uint64(small) {
		f := dist.Frame{Op: dist.OpSend, From: from.PID(i%5 + 1), To: to, Payload: int(i)}
		if i%20 == 7 {
			f.Payload = blob
		}
		if err := put(a, &f); err != nil {
			t.Fatalf("Write: %v", err)
		}
		if i%3 == 0 {
			if _, err := a.Flush(true); err != nil {
				t.Fatalf("Flush: %v", err)
			}
			if _, err := a.Flush(true); err != nil { // perhaps a tick after it
				t.Fatalf("Flush: %v", err)
			}
			open = true
			await()
		}
	}
	if err := flush(a); err != nil {
		t.Fatalf("Flush: %v", err)
	}
	if !saw {
		t.Error("nothing has been read")
	}
}
