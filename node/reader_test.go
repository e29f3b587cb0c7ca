package node_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// farPair runs f with two nodes that are connected by TCP, in each of the protocols.
func farPair(t *testing.T, f func(t *testing.T, a, b *node.Node)) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		tcp := node.Distribution{Transport: dist.TCP{}}
		a, b := c.StartWith("a", tcp), c.StartWith("b", tcp)
		c.Connect(a, b)
		f(t, a, b)
	})
}

// Whatever a handler does with a message from another node, later messages from that node are delivered.
func TestHandlersDoNotKeepTheReader(t *testing.T) {
	farPair(t, func(t *testing.T, a, b *node.Node) {
		self := nodetest.NewProbe(t, a)
		echo, err := b.Spawn(node.ActorFunc(echo))
		require.NoError(t, err)
		release, released := make(chan struct{}), make(chan struct{}, 10)
		for name, handler := range map[string]node.ActorFunc{
			"waits":   func(*node.Context, any) error { <-release; released <- struct{}{}; return nil },
			"is gone": func(*node.Context, any) error { runtime.Goexit(); return nil },
			"panics":  func(*node.Context, any) error { panic("as it should") },
			"calls back": func(c *node.Context, msg any) error {
				_, err := node.Call[any](c.Context(), c, msg.(node.PID), "who are you")
				released <- struct{}{}
				return err
			},
		} {
			pid, err := b.Spawn(handler)
			require.NoError(t, err)
			for range 3 { // alone, so that the reader runs it
				require.NoError(t, self.Send(pid, self.Self()))
				_, err = node.Call[any](testkit.Context(t), self, echo, 1)
				require.NoError(t, err, name)
			}
			for i := 0; name == "calls back" && i < 3; i++ {
				r, ok := a.AsRequest(self.Receive())
				require.True(t, ok)
				r.Reply("me")
				testkit.Receive(t, released)
			}
		}
		close(release)
		testkit.Receive(t, released)
	})
}

// A handler's message leaves while the handler goes on, whatever the handler does then.
func TestWhatIsSentLeaves(t *testing.T) {
	farPair(t, func(t *testing.T, a, b *node.Node) {
		self := nodetest.NewProbe(t, a)
		release := make(chan struct{})
		defer close(release)
		for name, then := range map[string]func(){
			"waits": func() { <-release },
			"computes": func() {
				for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
				}
			},
			"returns": func() {},
			"is gone": runtime.Goexit,
		} {
			for i := range 6 {
				pid, err := b.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
					c.Send(msg.(node.PID), []byte(name))
					then()
					return nil
				}))
				require.NoError(t, err)
				if i%2 == 0 {
					require.NoError(t, b.Send(pid, self.Self())) // a worker runs it
				} else {
					require.NoError(t, self.Send(pid, self.Self())) // the reader runs it
				}
				assert.Equal(t, []byte(name), nodetest.Expect[[]byte](self))
			}
		}
	})
}

// The messages of one process arrive in order, through the writer or past it: calls, signals, bursts.
func TestOrderPastTheWriter(t *testing.T) {
	farPair(t, func(t *testing.T, a, b *node.Node) {
		self := nodetest.NewProbe(t, a)
		got := make(chan []any, 1)
		var all []any
		pid, err := b.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
			if r, ok := b.AsRequest(msg); ok {
				r.Reply(nil)
				msg = r.Body
			}
			if all = append(all, msg); msg == wire.Atom("end") {
				got <- all
			}
			return nil
		}))
		require.NoError(t, err)
		n := 0
		for i := range 300 {
			for range i % 40 {
				require.NoError(t, self.Send(pid, n))
				n++
			}
			_, err := node.Call[any](testkit.Context(t), self, pid, n)
			require.NoError(t, err)
			n++
		}
		require.NoError(t, self.Send(pid, wire.Atom("end")))
		seen := testkit.Receive(t, got)
		require.Len(t, seen, n+1)
		for i, msg := range seen[:n] {
			require.Equal(t, i, msg)
		}
	})
}

// Messages that come together are delivered together, to processes of all kinds: in order, with what comes between
// them, and none is forgotten at the end of a run.
func TestRuns(t *testing.T) {
	c, tcp := clustertest.NewCluster(t), node.Distribution{Transport: dist.TCP{}}
	a, b := c.StartWith("a", tcp), c.StartWith("b", tcp)
	self := nodetest.NewProbe(t, a)
	const n = 3000
	done := make(chan any, 8)
	count := func() func(any) bool {
		next := 0
		return func(msg any) bool {
			if msg != next {
				done <- msg
				return true
			}
			if next++; next == n {
				done <- "all"
				return true
			}
			return false
		}
	}
	actor := func() node.Actor {
		check := count()
		return node.ActorFunc(func(_ *node.Context, msg any) error {
			check(msg)
			return nil
		})
	}
	process := func() node.ProcessFunc {
		check := count()
		return func(p *node.Process) error {
			for !check(p.Receive()) {
			}
			return nil
		}
	}
	var pids []node.PID
	for _, s := range []struct {
		o node.Options
		b node.Actor
	}{
		{node.Options{}, actor()},
		{node.Options{Place: node.Detached()}, actor()},
		{node.Options{Bounds: mailbox.Bounds{Messages: 1 << 20}}, actor()},
		{node.Options{}, process()},
		{node.Options{Coroutine: true}, process()},
	} {
		pid, err := b.SpawnOpt(s.o, s.b)
		require.NoError(t, err)
		pids = append(pids, pid)
	}
	for i := range n {
		for _, pid := range pids { // runs of one while they take turns, of many otherwise
			if i < n/2 {
				require.NoError(t, self.Send(pid, i))
			}
		}
		if i%100 == 0 {
			self.DemonitorFlush(self.Monitor(pids[0]))
		}
	}
	for _, pid := range pids {
		for i := n / 2; i < n; i++ {
			require.NoError(t, self.Send(pid, i))
		}
	}
	for range pids {
		assert.Equal(t, "all", testkit.Receive(t, done))
	}
}
