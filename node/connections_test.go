package node_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
)

// Nodes with few places connect, send, disconnect and stop at random. In the end everything that was counted has been
// given back.
func TestPlacesAreGivenBack(t *testing.T) {
	for round := range testkit.By(2, 4, 40) {
		seed := testkit.Seed(t)
		synctest.Test(t, func(t *testing.T) {
			w := clustertest.NewCluster(t)
			f := &far{Pipes: w.Pipes, r: randomOf(seed, 10*round)}
			r := randomOf(seed, 10*round+1)
			nodes := make([]*node.Node, 4)
			for i := range nodes {
				limits := node.ClusterLimits{Dials: 1 + r.IntN(3), Connections: 2 + r.IntN(4),
					Pending: 1 + r.IntN(8), PendingPerSource: 1 + r.IntN(8)}
				d := node.Distribution{Transport: f, Limits: node.Limits{Cluster: limits, Queue: 64 << 10},
					Timing: node.Timing{ConnectTimeout: 200 * time.Millisecond}}
				if r.IntN(2) == 0 {
					d.Timing.Grace = time.Second
				}
				nodes[i] = w.StartWith(string(rune('a'+i)), d)
				_, err := nodes[i].SpawnOpt(node.Options{Name: "echo"}, node.ActorFunc(echo))
				require.NoError(t, err)
			}
			var wg sync.WaitGroup
			for k := range 8 {
				r := randomOf(seed, 10*round+2+k)
				n := nodes[k%len(nodes)]
				wg.Go(func() {
					for range 200 {
						doAny(t, r, w, n, nodes)
						time.Sleep(time.Duration(r.IntN(30)) * time.Millisecond)
					}
				})
			}
			if round%2 == 1 {
				time.Sleep(time.Duration(r.IntN(3000)) * time.Millisecond)
				require.NoError(t, nodes[3].Stop())
			}
			wg.Wait()
			time.Sleep(10 * time.Second)
			for _, n := range nodes {
				for _, other := range n.AllNodes() {
					n.Disconnect(other)
				}
			}
			time.Sleep(10 * time.Second)
			synctest.Wait()
			for _, n := range nodes {
				require.Empty(t, n.Peers())
				for _, l := range n.LimitUsage() {
					if l.Name != "processes" {
						require.Zero(t, l.Used, "%s of %s", l.Name, n.Name())
					}
				}
			}
		})
	}
}

// doAny does something with another node, or with one that does not exist.
func doAny(t *testing.T, r *rand.Rand, w *clustertest.Cluster, n *node.Node, nodes []*node.Node) {
	other := nodes[r.IntN(len(nodes))].Name()
	nobody := node.Atom(fmt.Sprintf("nobody%d@127.0.0.1", r.IntN(20)))
	switch r.IntN(8) {
	case 0, 1:
		n.Connect(testkit.Context(t), other)
	case 2:
		n.Send(node.At{Name: "echo", Node: other}, make([]byte, r.IntN(100<<10)))
	case 3:
		n.Send(node.At{Name: "echo", Node: nobody}, 1)
	case 4:
		n.Disconnect(other)
	case 5:
		actortest.CallWithin[int](time.Duration(r.IntN(300))*time.Millisecond, n, node.At{Name: "echo", Node: other}, 1)
	case 6:
		actortest.CallWithin[int](time.Duration(r.IntN(300))*time.Millisecond, n, node.At{Name: "echo", Node: nobody}, 1)
	case 7:
		ends := n.Endpoints()
		c, err := w.Pipes.At("10.0.0.1").Dial(testkit.Context(t), ends[len(ends)-1].Addr, n.Name())
		if err != nil {
			return // the node has stopped
		}
		t.Cleanup(func() { c.Close() })
		if r.IntN(2) == 0 {
			c.SetDeadline(time.Now().Add(time.Second))
			head := []byte{0, byte(15 + len(other)), 'N', 0, 0, 0, 0x2d, 7, 0xdf, 0x7f, 0xbd, 0, 0, 0, 7, 0, byte(len(other))}
			c.Write(append(head, other...))
		}
	}
}
