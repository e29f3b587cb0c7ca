package epmdclient

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/wire/epmdserver"
	"github.com/actornode/actornode/wire/epmd"
)

// memnet is one host's loopback made of pipes: it has at most one listener, whatever address that asks for.
type memnet struct {
	mu    sync.Mutex
	l     *memListener
	dials int
}

type memListener struct {
	net    *memnet
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (m *memnet) dial(ctx context.Context, _, address string) (net.Conn, error) {
	m.mu.Lock()
	l := m.l
	m.dials++
	m.mu.Unlock()
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *memnet) listen(context.Context, string, string) (net.Listener, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.l != nil {
		return nil, syscall.EADDRINUSE
	}
	m.l = &memListener{net: m, conns: make(chan net.Conn), closed: make(chan struct{})}
	return m.l, nil
}

func (m *memnet) dialled() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dials
}

func (l *memListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memListener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.net.mu.Lock()
		l.net.l = nil
		l.net.mu.Unlock()
	})
	return nil
}

func (l *memListener) Addr() net.Addr { return memAddr{} }

type memAddr struct{}

func (memAddr) Network() string { return "pipe" }
func (memAddr) String() string  { return "pipe" }

// config returns a Config on m that logs nothing.
func (m *memnet) config() epmd.Config {
	c := quiet()
	c.Dial, c.Listen, c.Local = m.dial, m.listen, []string{"here"}
	return c
}

func quiet() epmd.Config { return epmd.Config{Logger: slog.New(slog.DiscardHandler)} }

// serve starts a server on m and returns it and a function that ends it.
func (m *memnet) serve(t *testing.T, cfg epmd.Config) (*epmdserver.Server, func() error) {
	l, err := m.listen(t.Context(), "", "")
	require.NoError(t, err)
	return serve(t, cfg, l)
}

func serve(t *testing.T, cfg epmd.Config, l ...net.Listener) (s *epmdserver.Server, stop func() error) {
	s, err := epmdserver.New(settings(cfg).server())
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(context.Background(), l...) }() // ended by stop
	return s, func() error {
		s.Stop()
		return <-ended
	}
}

func newClient(t testing.TB, cfg epmd.Config) *Client {
	c, err := NewClient(cfg)
	require.NoError(t, err)
	return c
}

// statuses collects the statuses that OnStatus gets.
type statuses struct {
	mu  sync.Mutex
	all []epmd.Status
}

func (s *statuses) add(_ string, st epmd.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, st)
}

func (s *statuses) states() (l []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.all {
		l = append(l, stateOf(st))
	}
	return l
}

// The values that stateOf returns.
const (
	registered = "registered" // the port mapper holds our name
	lost       = "lost"       // it does not, and nobody has said why
	refused    = "refused"    // it does not: it is there but refuses
	stopped    = "stopped"    // Stop was called
)

// stateOf names the state of a status.
func stateOf(s epmd.Status) string { return state(s) }
