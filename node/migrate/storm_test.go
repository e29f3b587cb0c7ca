package migrate_test

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/migrate"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// narrowBytes is how many bytes may be on their way in a narrow connection, in each of its buffers.
const narrowBytes = 64 << 10

// narrow is TCP with small buffers, so that a message waits behind few others.
type narrow struct{ dist.TCP }

func (n narrow) Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error) {
	conn, err := n.TCP.Dial(ctx, addr, peer)
	return narrowed(conn, err)
}

func (n narrow) Listen(ctx context.Context, addr string) (net.Listener, error) {
	ln, err := n.TCP.Listen(ctx, addr)
	return narrowListener{ln}, err
}

type narrowListener struct{ net.Listener }

func (l narrowListener) Accept() (net.Conn, error) { return narrowed(l.Listener.Accept()) }

func narrowed(conn net.Conn, err error) (net.Conn, error) {
	if c, ok := conn.(*net.TCPConn); ok && err == nil {
		_ = c.SetReadBuffer(narrowBytes)
		_ = c.SetWriteBuffer(narrowBytes)
	}
	return conn, err
}

// signaller links and monitors without a pause.
type signaller struct {
	to    node.PID
	steps *atomic.Int64
	stop  <-chan struct{}
	rand  *rand.Rand
}

// run returns when stop is closed.
func (s signaller) run(p *node.Process) {
	p.TrapExit(true)
	for {
		select {
		case <-s.stop:
			return
		default:
		}
		switch s.steps.Add(1); s.rand.IntN(3) {
		case 0:
			p.Link(s.to)
			p.Unlink(s.to)
		case 1:
			p.DemonitorFlush(p.Monitor(s.to))
		case 2:
			p.Link(s.to)
			ref := p.Monitor(s.to)
			p.Unlink(s.to)
			p.DemonitorFlush(ref)
		}
	}
}

// A move ends while six processes on one of the nodes link, unlink, monitor and demonitor the process without a pause:
// the number of its messages does not depend on what others send, and they wait only for what is ahead of them in the
// connection. That is little here, to keep the test short: see doc.go.
func TestStorm(t *testing.T) {
	for where, name := range []string{"old node", "new node", "third node"} {
		t.Run(name, func(t *testing.T) {
			clustertest.EachProtocol(t, func(t *testing.T, of *clustertest.Cluster) { stormFrom(t, where, clusterOf(t, of)) })
		})
	}
}

func stormFrom(t *testing.T, where int, c *cluster) {
	const signallers = 6
	moves := testkit.By(4, 30, 300) // an even number
	r := testkit.Rand(t)
	c.with = node.Distribution{Transport: &narrow{}, Limits: node.Limits{Queue: narrowBytes,
		Cluster: node.ClusterLimits{Answers: 1 << 30}}} // or one end closes the connection because of the other's unlinks
	a, b := c.start("a"), c.start("b")
	c.start("c")
	now := spawn(t, a, node.Options{})
	old := now
	require.NoError(t, b.Send(old, entry{"x", 1})) // this opens a connection
	require.NoError(t, c.nodes[2].Send(old, entry{"y", 1}))

	stop := make(chan struct{})
	var steps atomic.Int64
	var all sync.WaitGroup
	for range signallers {
		p, s := nodetest.NewProbe(t, c.nodes[where]), signaller{old, &steps, stop, rand.New(rand.NewPCG(r.Uint64(), 1))}
		all.Go(func() { s.run(p.Process) })
	}
	defer all.Wait()
	defer close(stop)

	here, there := a, b
	var sum, most time.Duration
	for k := range moves {
		before := steps.Load()
		testkit.Until(t, func() string {
			if steps.Load() < before+100 {
				return "the storm has not gone on"
			}
			return ""
		})
		began := time.Now()
		next, err := migrate.To(testkit.Context(t), here, now, there.Name())
		require.NoError(t, err, "move %d", k)
		took := time.Since(began)
		sum, most = sum+took, max(most, took)
		now, here, there = next, there, here
	}
	t.Logf("a move took %v, the longest %v, beside %d steps", sum/time.Duration(moves), most, steps.Load())
	require.Equal(t, old, now, "an even number of moves")
	l := ledgerOf(t, b, old)
	require.Equal(t, map[string]int{"x": 1, "y": 1}, l.Last)
	require.Empty(t, l.Wrong)
}
