package clustertest

import (
	"cmp"
	"context"
	"net"
	"sync"
	"testing"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Pipes is a dist.Transport that several nodes share: the network of a nodetest.Cluster, seen from one host. It counts dials.
type Pipes struct {
	dist.Transport

	net   *nodetest.Cluster
	dials *dials
}

type dials struct {
	mu sync.Mutex
	to map[string]int // by address
}

// NewPipes returns a transport for nodes at 127.0.0.1.
func NewPipes(t testing.TB) *Pipes {
	return (&Pipes{net: nodetest.NewCluster(t), dials: &dials{to: make(map[string]int)}}).At("127.0.0.1")
}

// At returns the same transport for nodes at another host.
func (p *Pipes) At(host string) *Pipes {
	cfg := p.net.Config(node.Config{Name: node.Atom("any@" + host)})
	return &Pipes{cfg.Distribution.Transport, p.net, p.dials}
}

// Listen implements dist.Transport.
func (p *Pipes) Listen(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	return p.At(cmp.Or(host, "::")).Transport.Listen(ctx, addr)
}

// Dial implements dist.Transport.
func (p *Pipes) Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error) {
	p.dials.mu.Lock()
	p.dials.to[addr]++
	p.dials.mu.Unlock()
	return p.Transport.Dial(ctx, addr, peer)
}

// Dialed returns how often an address was dialled.
func (p *Pipes) Dialed(addr string) int {
	p.dials.mu.Lock()
	defer p.dials.mu.Unlock()
	return p.dials.to[addr]
}
