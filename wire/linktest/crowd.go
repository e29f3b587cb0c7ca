package linktest

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/actornode/actornode/wire"
)

// shared is a link into which many goroutines write.
type shared struct {
	wire.Link
	mu sync.Mutex // of Flush
}

func (s *shared) put(f *wire.Frame) error {
	for {
		n, err := s.Write(f)
		if err != nil && !errors.Is(err, wire.ErrLater) {
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

// crowd has many senders write messages of all sizes at once: what each sends
// comes in that order.
func (k kit) crowd(t *testing.T) { Crowd(t, k.p, 20, 60) }

// Crowd sends so many messages of mixed sizes from each of so many senders, and
// checks their order.
func Crowd(t *testing.T, p wire.Protocol, senders, messages int) {
	k := kit{p}
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
				f := wire.Frame{Op: wire.OpSend, From: from.PID(uint64(s + 1)), To: to, Payload: wire.Tuple{s, i, blob[:size]}}
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
