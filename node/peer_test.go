package node_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

func TestPeers(t *testing.T) {
	at := new(clustertest.Places)
	start := func(name string) *node.Node {
		return nodetest.Start(t, node.Config{Name: node.Atom(name + "@127.0.0.1"), Distribution: &node.Distribution{Cookie: "secret", Finder: at}})
	}
	a, b := start("a"), start("b")
	assert.Empty(t, a.Peers())
	echoes, err := b.Spawn(node.ActorFunc(echo))
	require.NoError(t, err)
	const calls = 50
	for i := range calls {
		_, err := actortest.CallWithin[int](testkit.Limit, a, echoes, i)
		require.NoError(t, err)
	}
	for _, c := range []struct{ here, there *node.Node }{{a, b}, {b, a}} {
		all := c.here.Peers()
		require.Len(t, all, 1)
		p := all[0]
		assert.Equal(t, c.there.Name(), p.Name)
		assert.Equal(t, c.there.Creation(), p.Creation)
		assert.True(t, p.Up)
		assert.Equal(t, "native", p.Protocol)
		assert.NotEmpty(t, p.Addr)
		assert.True(t, p.Hidden)
		assert.WithinDuration(t, time.Now(), p.Since, testkit.Limit)
		assert.WithinDuration(t, time.Now(), p.LastIn, testkit.Limit)
		assert.Greater(t, p.BytesIn, uint64(calls*20))
		assert.Greater(t, p.BytesOut, uint64(calls*20))
		assert.GreaterOrEqual(t, p.FramesIn, uint64(calls))
		assert.GreaterOrEqual(t, p.FramesOut, uint64(calls))
		assert.False(t, p.Held)
	}
	in, out := a.Inside(process.Key{}).Traffic()
	assert.LessOrEqual(t, a.Peers()[0].BytesIn, in+1000)
	assert.LessOrEqual(t, a.Peers()[0].BytesOut, out+1000)

	require.NoError(t, a.Send(node.At{Name: "x", Node: "nowhere@127.0.0.1"}, 1))
	for _, p := range a.Peers() { // connecting, or given up already
		assert.Equal(t, p.Name == b.Name(), p.Up)
	}
	assert.True(t, a.Disconnect(b.Name()))
	for _, p := range a.Peers() {
		assert.NotEqual(t, b.Name(), p.Name)
	}
}

// searches is a Finder that searches until it is closed, and finds nothing.
type searches chan struct{}

func (s searches) Find(context.Context, node.Atom) ([]discovery.Endpoint, error) {
	<-s
	return nil, discovery.ErrUnknownNode
}

func (s searches) Announce(context.Context, discovery.Announcement) (func(), error) {
	return func() {}, nil
}

// Peers reports what waits for a peer that is not connected yet.
func TestPeersQueue(t *testing.T) {
	hold := make(searches)
	a := nodetest.Start(t, node.Config{Name: "a@127.0.0.1",
		Distribution: &node.Distribution{Cookie: "secret", Finder: hold, Limits: node.Limits{Queue: 1000}}})
	at := node.At{Name: "x", Node: "slow@127.0.0.1"}
	done := make(chan error, 1)
	go func() { done <- a.Send(at, wire.Tuple{make([]byte, 5000)}) }()
	testkit.UntilTrue(t, func() bool {
		all := a.Peers()
		return len(all) == 1 && !all[0].Up && all[0].Queue > 5000 && all[0].Frames == 1 && all[0].Held
	}, "what waits is told")
	close(hold)
	require.NoError(t, <-done)
}

// Stats count the messages that processes of every kind handle.
func TestStatsHandled(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	const messages = 640 // a multiple of what a Process reports at once
	before := n.Stats()
	nothing := node.ActorFunc(func(*node.Context, any) error { return nil })
	process := node.ProcessFunc(func(p *node.Process) error {
		for {
			p.Receive()
		}
	})
	for _, c := range []struct {
		o node.Options
		b node.Actor
	}{{node.Options{}, nothing}, {node.Options{Place: node.Detached()}, nothing}, {node.Options{}, process}, {node.Options{Coroutine: true}, process}} {
		pid, err := n.SpawnOpt(c.o, c.b)
		require.NoError(t, err)
		for i := range messages {
			require.NoError(t, n.Send(pid, i))
		}
	}
	testkit.UntilTrue(t, func() bool { return n.Stats().Handled == before.Handled+4*messages }, fmt.Sprintf("%d %d", before.Handled, n.Stats().Handled))
	h := nodetest.NewProbe(t, n)
	for i := range 10 {
		require.NoError(t, h.Send(h.Self(), i))
		h.Receive()
	}
	h.Close(nil)
	assert.Equal(t, before.Handled+4*messages+10, n.Stats().Handled)
	require.NoError(t, n.Register("one", func() node.PID { p, _ := n.Spawn(nothing); return p }()))
	assert.Equal(t, before.Names+1, n.Stats().Names)
}

// Actors that wait for a stage are counted.
func TestStatsRunQueue(t *testing.T) {
	n := nodetest.Start(t, node.Config{Stages: 1, Workers: 1, Blocked: testkit.Limit})
	hold, begun := make(chan struct{}), make(chan struct{})
	first, err := n.Spawn(node.ActorFunc(func(c *node.Context, _ any) error {
		for range 5 {
			pid, err := c.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
			if err != nil {
				return err
			}
			c.Send(pid, 1)
		}
		close(begun)
		<-hold
		return nil
	}))
	require.NoError(t, err)
	require.NoError(t, n.Send(first, 1))
	<-begun
	assert.Equal(t, 5, n.Stats().RunQueue)
	close(hold)
	testkit.UntilTrue(t, func() bool { return n.Stats().RunQueue == 0 }, "nothing waits to run")
}

// The contents of a connection's tables are shown on both sides, and gone when the connection ends.
func TestPeersTables(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	a, b := c.Start("a"), c.Start("b")
	here, there := nodetest.NewProbe(t, a), nodetest.NewProbe(t, b)
	there.TrapExit(true)
	here.TrapExit(true)
	here.Link(there.Self())
	ref := here.Monitor(there.Self())
	here.Monitor(node.At{Name: "nobody", Node: b.Name()})
	here.MonitorNode(b.Name())
	node.SendRequest(here, there.Self(), "tag", 1)
	_ = nodetest.Expect[node.Down](here) // for a PID that no process has
	counts := func(n *node.Node) (k [4]int) {
		for _, p := range n.Peers() {
			k = [4]int{p.Links, p.Monitors, p.Watchers, p.Calls}
		}
		return k
	}
	becomes := func(n *node.Node, want [4]int) {
		testkit.Until(t, func() string {
			if got := counts(n); got != want {
				return fmt.Sprintf("%s has %v, not %v", n.Name(), got, want)
			}
			return ""
		})
	}
	becomes(a, [4]int{1, 2, 0, 1})
	becomes(b, [4]int{1, 0, 2, 0}) // the call monitors, too
	here.DemonitorFlush(ref)
	here.Unlink(there.Self())
	becomes(a, [4]int{0, 1, 0, 1})
	becomes(b, [4]int{0, 0, 1, 0})
	assert.True(t, a.Disconnect(b.Name()))
	becomes(a, [4]int{})
	becomes(b, [4]int{})
}

// A connection that is over is not kept, with its buffers, only to make looking it up faster.
func TestPeerIsForgotten(t *testing.T) {
	c := clustertest.NewMemoryCluster(t)
	a := c.Start("a")
	for range 20 {
		b, err := node.Start(c.Config("b"))
		require.NoError(t, err)
		pid, err := b.Spawn(node.ActorFunc(echo))
		require.NoError(t, err)
		for i := range 3 {
			_, err := actortest.CallWithin[int](testkit.Limit, a, pid, i)
			require.NoError(t, err)
		}
		require.NoError(t, b.Stop())
		testkit.Until(t, func() string {
			if kept := node.FarKept(a); len(a.Peers()) > 0 || len(kept) > 0 {
				return fmt.Sprint("there still are ", a.Peers(), kept)
			}
			return ""
		})
	}
}

// A link does not keep a message that was sent and taken until something else takes its place.
func TestSentIsNotKept(t *testing.T) {
	for _, proto := range []string{"native", "erlang"} {
		at := new(clustertest.Places)
		start := func(name string) *node.Node {
			d := &node.Distribution{Cookie: "secret", Finder: at, Timing: node.Timing{TickTime: time.Hour}} // no tick replaces it
			var err error
			d.Protocols, err = d.ProtocolsByName(proto)
			require.NoError(t, err)
			return nodetest.Start(t, node.Config{Name: node.Atom(name + "@127.0.0.1"), Distribution: d})
		}
		a, b := start("a"), start("b")
		come := make(chan struct{}, 2)
		to, err := b.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error { come <- struct{}{}; return nil }))
		require.NoError(t, err)
		send := func(size int) weak.Pointer[byte] {
			b := make([]byte, size)
			require.NoError(t, a.Send(to, b))
			return weak.Make(&b[0])
		}
		queued := send(1 << 10) // until the connection is up
		testkit.Receive(t, come)
		direct := send(1 << 20)
		testkit.Receive(t, come)
		testkit.Until(t, func() string {
			runtime.GC()
			if queued.Value() != nil || direct.Value() != nil {
				return fmt.Sprint(proto, " keeps what has been sent: ", queued.Value() != nil, direct.Value() != nil)
			}
			return ""
		})
	}
}
