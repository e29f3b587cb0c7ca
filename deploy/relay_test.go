package deploy_test

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/porttest"
)

// relay forwards TCP connections from one address to another. It can be cut, as by a firewall that refuses, and
// stalled, as by a receiver that reads nothing.
type relay struct {
	t        *testing.T
	from, to string // HOST:PORT
	all      sync.WaitGroup

	mu      sync.Mutex
	ln      net.Listener // nil: the relay is cut
	conns   map[net.Conn]bool
	stalled chan struct{} // closed: the relay is not stalled
}

// newRelay starts a relay, which ends with the test.
func newRelay(t *testing.T, to string) *relay {
	r := &relay{t: t, from: fmt.Sprint("127.0.0.1:", porttest.Reserve(t)), to: to, conns: make(map[net.Conn]bool),
		stalled: make(chan struct{})}
	close(r.stalled)
	r.open()
	t.Cleanup(func() {
		r.open()
		r.cut()
		r.all.Wait()
	})
	return r
}

// open lets everything pass.
func (r *relay) open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.stalled:
	default:
		close(r.stalled)
	}
	if r.ln == nil {
		ln, err := net.Listen("tcp", r.from)
		require.NoError(r.t, err)
		r.ln = ln
		r.all.Go(func() { r.serve(ln) }) // until it is cut
	}
}

// cut ends all connections and refuses new ones.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.ln.Close()
	r.ln = nil
	for c := range r.conns {
		_ = c.Close()
	}
	clear(r.conns)
}

// stall lets nothing pass.
func (r *relay) stall() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stalled = make(chan struct{})
}

func (r *relay) serve(ln net.Listener) {
	for {
		near, err := ln.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", r.to)
		if err != nil {
			_ = near.Close()
			continue
		}
		r.mu.Lock()
		if r.ln != ln { // it has been cut meanwhile
			r.mu.Unlock()
			_ = near.Close()
			_ = far.Close()
			return
		}
		r.conns[near], r.conns[far] = true, true
		r.mu.Unlock()
		// Each ends with either connection, and cut closes both.
		r.all.Go(func() { r.copy(far, near) })
		r.all.Go(func() { r.copy(near, far) })
	}
}

func (r *relay) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		r.mu.Lock()
		stalled := r.stalled
		r.mu.Unlock()
		<-stalled
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}
