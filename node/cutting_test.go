package node_test

import (
	"context"
	"net"
	"sync"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// cutting is TCP whose connections can be cut.
type cutting struct {
	dist.TCP
	mu    sync.Mutex
	conns []net.Conn
	cuts  int
}

func (c *cutting) Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error) {
	conn, err := c.TCP.Dial(ctx, addr, peer)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.conns = append(c.conns, conn)
	}
	return conn, err
}

// now cuts the connections there are.
func (c *cutting) now() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		if conn.Close() == nil {
			c.cuts++
		}
	}
	c.conns = nil
}

func (c *cutting) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cuts
}
