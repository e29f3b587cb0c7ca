package migrate_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/migrate"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/wire"
)

// moves is the number of moves of the process of TestTraffic.
const moves = 60

// While a process moves at random among three nodes, messages of senders on each of them to its first PID, to its later
// PIDs, and to its name arrive once and in order, calls are answered once, and its name, its groups, its monitors and
// its links stay.
func TestTraffic(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, of *clustertest.Cluster) { traffic(t, clusterOf(t, of)) })
}

func traffic(t *testing.T, c *cluster) {
	r := testkit.Rand(t)
	a := c.start("a")
	c.start("b")
	c.start("c")
	scope, err := pg.Start(testkit.Context(t), a, pg.Config{})
	require.NoError(t, err)
	old := spawn(t, a, node.Options{Name: "counter"})
	require.NoError(t, scope.Join(testkit.Context(t), a, "group", old))
	watchers := make([]*nodetest.Probe, len(c.nodes))
	refs := make([]node.Ref, len(c.nodes))
	for i, n := range c.nodes {
		watchers[i] = nodetest.NewProbe(t, n)
		watchers[i].TrapExit(true)
		watchers[i].Link(old)
		refs[i] = watchers[i].Monitor(old)
	}
	tell(t, a, old, do{Verb: "trap"})

	places := map[node.Atom]node.PID{a.Name(): old}
	var mu sync.Mutex
	var senders sync.WaitGroup
	stop := make(chan struct{})
	sent := map[string]int{}
	send := func(id string, n *node.Node, to node.Dest) {
		senders.Go(func() {
			self := nodetest.NewProbe(t, n)
			for k := 1; ; k++ {
				if k%4 == 0 {
					got, err := node.Call[int](testkit.Context(t), self, to, entry{id, k})
					if !assert.NoError(t, err) || !assert.Equal(t, k, got) {
						return
					}
				} else if !assert.NoError(t, self.Send(to, entry{id, k})) {
					return
				}
				select {
				case <-stop:
					if k%4 == 0 {
						mu.Lock()
						defer mu.Unlock()
						sent[id] = k
						return
					}
				default:
				}
			}
		})
	}
	for i, n := range c.nodes {
		send(fmt.Sprintf("old %d", i), n, old)
		send(fmt.Sprintf("name %d", i), n, node.At{Name: "counter", Node: a.Name()})
	}
	here := a
	for k := range moves {
		to := c.nodes[r.IntN(len(c.nodes))]
		if to == here {
			continue
		}
		now, err := migrate.To(testkit.Context(t), here, places[here.Name()], to.Name())
		require.NoError(t, err, "move %d", k)
		if was, ok := places[to.Name()]; ok {
			require.Equal(t, was, now, "one PID a node")
		} else {
			send("new "+string(to.Name()), c.nodes[r.IntN(len(c.nodes))], now)
		}
		places[to.Name()], here = now, to
		pid, _ := to.Whereis("counter")
		require.Equal(t, now, pid)
		require.Equal(t, []node.PID{old}, scope.Members("group"))
	}
	close(stop)
	senders.Wait()
	l := ledgerOf(t, a, old)
	assert.Empty(t, l.Wrong)
	assert.Equal(t, sent, l.Last)
	assert.Empty(t, l.Others)
	for _, w := range watchers {
		w.ExpectNone()
	}
	_, err = node.Call[node.Ref](testkit.Context(t), a, old, do{Verb: "stop"})
	if err != nil { // the end came before the reply
		require.Equal(t, &node.ExitError{Reason: wire.Atom("asked")}, err)
	}
	for i, w := range watchers {
		assert.ElementsMatch(t, []any{
			node.Down{Ref: refs[i], PID: old, Reason: wire.Atom("asked")}, node.Exited{From: old, Reason: wire.Atom("asked")},
		}, []any{w.Receive(), w.Receive()})
	}
	testkit.Until(t, func() string {
		if m := scope.Members("group"); len(m) > 0 {
			return fmt.Sprint(m)
		}
		return ""
	})
}
