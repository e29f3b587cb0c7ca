package node_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// pipes is a transport within the program, which a bubble of testing/synctest can wait
// for: connections are pipes, and who dials chooses where he comes from.
type pipes struct {
	from string // the host that the dialling side has; "": 127.0.0.1

	*exchange
}

type exchange struct {
	mu     sync.Mutex
	ports  int
	at     map[string]*pipeListener
	dialed map[string]int // how often, by address
}

func newPipes() *pipes {
	return &pipes{exchange: &exchange{at: make(map[string]*pipeListener), dialed: make(map[string]int)}}
}

// as returns the same transport for a side at another host.
func (p *pipes) as(host string) *pipes { return &pipes{host, p.exchange} }

func (p *pipes) port() int { p.ports++; return p.ports }

type pipeListener struct {
	p    *pipes
	addr *net.TCPAddr
	in   chan net.Conn
	gone chan struct{}
	once sync.Once
}

type pipeConn struct {
	net.Conn
	local, remote net.Addr
}

func (c pipeConn) LocalAddr() net.Addr  { return c.local }
func (c pipeConn) RemoteAddr() net.Addr { return c.remote }

// CloseWrite says that the side can be closed alone, as that of TCP can.
func (c pipeConn) CloseWrite() error { return nil }

func (p *pipes) Listen(_ context.Context, addr string) (net.Listener, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	l := &pipeListener{p: p, addr: &net.TCPAddr{IP: net.ParseIP(host), Port: p.port()},
		in: make(chan net.Conn), gone: make(chan struct{})}
	p.at[l.addr.String()] = l
	return l, nil
}

func (p *pipes) Dial(ctx context.Context, addr string, _ wire.Atom) (net.Conn, error) {
	p.mu.Lock()
	l := p.at[addr]
	host := p.from
	if host == "" {
		host = "127.0.0.1"
	}
	from := &net.TCPAddr{IP: net.ParseIP(host), Port: p.port()}
	p.dialed[addr]++
	p.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("nobody listens at %s", addr)
	}
	here, there := net.Pipe()
	select {
	case l.in <- pipeConn{there, l.addr, from}:
		return pipeConn{here, from, l.addr}, nil
	case <-l.gone:
		return nil, fmt.Errorf("nobody listens at %s any more", addr)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.in:
		return c, nil
	case <-l.gone:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() {
		close(l.gone)
		l.p.mu.Lock()
		defer l.p.mu.Unlock()
		delete(l.p.at, l.addr.String())
	})
	return nil
}

func (l *pipeListener) Addr() net.Addr { return l.addr }

// network is a cluster over pipes.
type network struct {
	pipes  *pipes
	places *nodetest.Places
}

func newNetwork() *network { return &network{newPipes(), &nodetest.Places{}} }

// config is that of a node; d may leave out what all have in common.
func (w *network) config(name string, d node.Distribution) node.Config {
	if d.Cookie == "" {
		d.Cookie = "secret"
	}
	if d.Finder == nil {
		d.Finder = w.places
	}
	if d.Transport == nil {
		d.Transport = w.pipes
	}
	return node.Config{Name: node.Atom(name + "@127.0.0.1"), Workers: 2, Distribution: &d}
}

func (w *network) start(t *testing.T, name string, d node.Distribution) *node.Node {
	return nodetest.Start(t, w.config(name, d))
}

// dial opens a connection to a node by one of its protocols, from a host.
func (w *network) dial(t *testing.T, n *node.Node, protocol, host string) net.Conn {
	t.Helper()
	for _, e := range n.Endpoints() {
		if e.Protocol == protocol {
			c, err := w.pipes.as(host).Dial(testkit.Context(t), e.Addr, n.Name())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			return c
		}
	}
	t.Fatalf("%s does not speak %s", n.Name(), protocol)
	return nil
}
