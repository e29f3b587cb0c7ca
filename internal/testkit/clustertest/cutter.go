package clustertest

import (
	"context"
	"net"
	"sync"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Cutter is TCP whose connections can be cut while they are in use. The zero value is ready.
type Cutter struct {
	dist.TCP

	mu    sync.Mutex
	conns []net.Conn // dialled by nodes with this Cutter
	cuts  int
}

// Dial implements dist.Transport.
func (c *Cutter) Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error) {
	conn, err := c.TCP.Dial(ctx, addr, peer)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.conns = append(c.conns, conn)
	}
	return conn, err
}

// Cut cuts all open connections.
func (c *Cutter) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		if conn.Close() == nil {
			c.cuts++
		}
	}
	c.conns = nil
}

// Cuts returns how many connections have been cut.
func (c *Cutter) Cuts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cuts
}
