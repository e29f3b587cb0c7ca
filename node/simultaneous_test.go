package node_test

import (
	"context"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// far is a network in which messages take a while to arrive, and longer on some connections than on others.
type far struct {
	*clustertest.Pipes
	mu sync.Mutex
	r  *rand.Rand
}

func (f *far) wait() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Duration(f.r.IntN(4)) * time.Millisecond
}

type farConn struct {
	net.Conn
	delay time.Duration
}

func (c farConn) Write(b []byte) (int, error) {
	time.Sleep(c.delay)
	return c.Conn.Write(b)
}

type farListener struct {
	net.Listener
	f *far
}

func (l farListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return farConn{c, l.f.wait()}, err
}

func (f *far) Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := f.Pipes.Listen(ctx, addr)
	return farListener{l, f}, err
}

func (f *far) Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error) {
	time.Sleep(f.wait())
	c, err := f.Pipes.Dial(ctx, addr, peer)
	return farConn{c, f.wait()}, err
}

// Two nodes connect to each other at about the same time. Both attempts work, one link is left, and what is sent as
// soon as there is a connection arrives: no link that a caller has been told of is given up for another. Strangers that
// use both names change nothing.
func TestSimultaneousOverDistance(t *testing.T) {
	for _, protocols := range []string{"native erlang", "erlang", "native"} {
		seed := testkit.Seed(t)
		synctest.Test(t, func(t *testing.T) {
			w := clustertest.NewCluster(t)
			f := &far{Pipes: w.Pipes, r: randomOf(seed, 0)}
			var d node.Distribution
			chosen, err := d.ProtocolsByName(strings.Fields(protocols)...)
			require.NoError(t, err)
			nodes := make([]*node.Node, 2)
			logs := make([]interface{ String() string }, 2)
			for i, name := range []string{"a", "b"} {
				var log interface{ String() string }
				nodes[i], log = w.StartLogged(name, node.Distribution{Transport: f, Protocols: chosen})
				logs[i] = log
				_, err := nodes[i].SpawnOpt(node.Options{Name: "echo"}, node.ActorFunc(echo))
				require.NoError(t, err)
			}
			r := randomOf(seed, 1)
			for round := range testkit.By(60, 300, 3000) {
				offsets := []time.Duration{time.Duration(r.IntN(16)) * time.Millisecond, time.Duration(r.IntN(16)) * time.Millisecond}
				if r.IntN(4) == 0 {
					i := r.IntN(2)
					c := w.Dial(nodes[i], strings.Fields(protocols)[0], "10.0.0.1")
					if nodes[i].Endpoints()[0].Protocol == "erlang" {
						sayName(t, c, string(nodes[1-i].Name()))
					}
				}
				var wg sync.WaitGroup
				for i := range 2 {
					wg.Go(func() {
						time.Sleep(offsets[i])
						there := nodes[1-i].Name()
						begun := time.Now()
						if err := nodes[i].Connect(testkit.Context(t), there); err != nil {
							t.Errorf("round %d: %v", round, err)
							return
						}
						if took := time.Since(begun); took > 500*time.Millisecond {
							t.Errorf("round %d: it takes %v", round, took)
						}
						if _, err := node.Call[int](testkit.Context(t), nodes[i], node.At{Name: "echo", Node: there}, 1); err != nil {
							t.Errorf("round %d: a call from %s over the new connection: %v", round, nodes[i].Name(), err)
						}
					})
				}
				wg.Wait()
				require.False(t, t.Failed(), "%s\n%s", logs[0], logs[1])
				nodes[r.IntN(2)].Disconnect(nodes[r.IntN(2)].Name())
				for _, n := range nodes {
					for _, other := range n.AllNodes() {
						n.Disconnect(other)
					}
				}
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
				require.Empty(t, nodes[0].AllNodes())
				require.Empty(t, nodes[1].AllNodes())
			}
		})
	}
}
