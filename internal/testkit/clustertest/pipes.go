package clustertest

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/actornode/actornode/wire"
)

// Pipes is an in-process dist.Transport for bubbles of testing/synctest: connections are pipes, and the dialling side
// chooses its address. NewPipes makes one.
type Pipes struct {
	from string // host of the dialling side; "" for 127.0.0.1

	*exchange
}

type exchange struct {
	mu     sync.Mutex
	ports  int
	at     map[string]*pipeListener
	dialed map[string]int // by address
}

// NewPipes returns a transport for nodes that share the Pipes.
func NewPipes() *Pipes {
	return &Pipes{exchange: &exchange{at: make(map[string]*pipeListener), dialed: make(map[string]int)}}
}

// Dialed returns how often an address was dialled.
func (p *Pipes) Dialed(addr string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dialed[addr]
}

// At returns the same transport for a side that dials from another host.
func (p *Pipes) At(host string) *Pipes { return &Pipes{host, p.exchange} }

func (p *Pipes) port() int { p.ports++; return p.ports }

type pipeListener struct {
	p    *Pipes
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

// CloseWrite exists since one side can be closed alone, as in TCP.
func (c pipeConn) CloseWrite() error { return nil }

// Listen implements dist.Transport.
func (p *Pipes) Listen(_ context.Context, addr string) (net.Listener, error) {
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

// Dial implements dist.Transport.
func (p *Pipes) Dial(ctx context.Context, addr string, _ wire.Atom) (net.Conn, error) {
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
