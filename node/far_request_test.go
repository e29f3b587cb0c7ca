package node_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// seen says what a type switch finds a message to be, and answers it if it is a call.
func seen(msg any) string {
	answer := func(f node.From, body any) string {
		s := fmt.Sprintf("Request[%T]", body)
		f.Reply(s)
		return s
	}
	switch m := msg.(type) {
	case node.Request[int]:
		return answer(m.From, m.Body)
	case node.Request[bool]:
		return answer(m.From, m.Body)
	case node.Request[float64]:
		return answer(m.From, m.Body)
	case node.Request[*big.Int]:
		return answer(m.From, m.Body)
	case node.Request[wire.Atom]:
		return answer(m.From, m.Body)
	case node.Request[wire.Tuple]:
		return answer(m.From, m.Body)
	case node.Request[wire.PID]:
		return answer(m.From, m.Body)
	case node.Request[order]:
		return answer(m.From, m.Body)
	case node.Request[*order]:
		return answer(m.From, m.Body)
	case node.Request[[]byte]:
		return answer(m.From, m.Body)
	case node.Request[string]:
		return answer(m.From, m.Body)
	case node.Request[any]:
		return answer(m.From, m.Body)
	case node.Cast[int]:
		return "Cast[int]"
	case node.Cast[wire.Tuple]:
		return "Cast[wire.Tuple]"
	case node.Cast[any]:
		return "Cast[any]"
	}
	return fmt.Sprintf("%T", msg)
}

// A call from another node is the same Request as from this node, in every style of process.
func TestCallFromAfarIsRequest(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		a, b := startTwo(t, c, node.Distribution{})
		c.Connect(a, b)
		protocol, _ := node.FarProtocol(a, b.Name())
		big := new(big.Int).Lsh(big.NewInt(1), 80)
		actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
			pid := s.Spawn(t, b, func(_ actortest.Self, msg any) error { seen(msg); return nil })
			asks := func(want string, call func(ctx context.Context) (string, error)) {
				t.Helper()
				got, err := call(testkit.Context(t))
				require.NoError(t, err)
				assert.Equal(t, want, got)
			}
			asks("Request[int]", func(ctx context.Context) (string, error) { return node.Call[string](ctx, a, pid, 7) })
			asks("Request[float64]", func(ctx context.Context) (string, error) { return node.Call[string](ctx, a, pid, 1.5) })
			asks("Request[*big.Int]", func(ctx context.Context) (string, error) { return node.Call[string](ctx, a, pid, big) })
			asks("Request[wire.Atom]", func(ctx context.Context) (string, error) { return node.Call[string](ctx, a, pid, node.Atom("x")) })
			asks("Request[wire.Tuple]", func(ctx context.Context) (string, error) {
				return node.Call[string](ctx, a, pid, wire.Tuple{1, 2})
			})
			asks("Request[wire.PID]", func(ctx context.Context) (string, error) { return node.Call[string](ctx, a, pid, pid) })
			asks("Request[int]", func(ctx context.Context) (string, error) { return node.Call[string, any](ctx, a, pid, 7) })
			if protocol == "native" {
				asks("Request[bool]", func(ctx context.Context) (string, error) { return node.Call[string](ctx, a, pid, true) })
				asks("Request[<nil>]", func(ctx context.Context) (string, error) { return node.Call[string, any](ctx, a, pid, nil) })
				asks("Request[node_test.order]", func(ctx context.Context) (string, error) {
					return node.Call[string](ctx, a, pid, order{Item: "tea"})
				})
				asks("Request[*node_test.order]", func(ctx context.Context) (string, error) {
					return node.Call[string](ctx, a, pid, &order{Item: "tea"})
				})
			}
		})
	})
}

// A process that waits for requests of one type finds those from other nodes.
func TestReceiveOfFindsCallFromAfar(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		a, b := startTwo(t, c, node.Distribution{})
		pid, err := b.Spawn(node.ProcessFunc(func(p *node.Process) error {
			second := node.ReceiveOf[node.Request[int]](p)
			first := node.ReceiveOf[node.Request[node.Atom]](p)
			second.Reply("second")
			return first.Reply("first")
		}))
		require.NoError(t, err)
		first := node.Async[string](a, pid, node.Atom("x"))
		second := node.Async[string](a, pid, 1)
		for f, want := range map[*node.Future[string]]string{first: "first", second: "second"} {
			got, err := node.Await(testkit.Context(t), b, f)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		}
	})
}

// A cast from another node is a Cast; a process that is shown its peers gets the request inside the PeerMessage, and
// AsRequest finds it.
func TestCastAndPeerMessageFromAfar(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		a, b := startTwo(t, c, node.Distribution{})
		h := nodetest.NewProbe(t, b)
		for _, c := range []struct {
			msg  any
			want string
		}{{node.Cast[int]{Body: 1}, "Cast[int]"}, {node.Cast[any]{Body: 1}, "Cast[int]"},
			{wire.Tuple{node.Atom("$gen_cast"), wire.Tuple{1}}, "Cast[wire.Tuple]"},
			{wire.Tuple{node.Atom("$gen_cast")}, "wire.Tuple"}, {wire.Tuple{node.Atom("$gen_call"), 1, 2}, "wire.Tuple"}} {
			require.NoError(t, a.Send(h.Self(), c.msg))
			assert.Equal(t, c.want, seen(h.Receive()))
		}
		got := make(chan node.PeerMessage, 1)
		pid, err := b.SpawnOpt(node.Options{ShowPeer: true}, node.ActorFunc(func(c *node.Context, msg any) error {
			got <- msg.(node.PeerMessage)
			r, ok := c.Node().AsRequest(msg)
			if !ok {
				return node.ErrStop
			}
			peer, _, _ := r.Peer()
			return c.Reply(r.From, wire.Tuple{r.Body, peer})
		}))
		require.NoError(t, err)
		v, err := node.Call[any](testkit.Context(t), a, pid, 5)
		require.NoError(t, err)
		assert.Equal(t, wire.Tuple{5, a.Name()}, v)
		m := testkit.Receive(t, got)
		r, ok := m.Message.(node.Request[int])
		require.True(t, ok, "%T", m.Message)
		peer, _, _ := r.Peer()
		assert.Equal(t, []node.Atom{a.Name(), a.Name()}, []node.Atom{m.Peer, peer})
	})
}

// A request that is sent on to a third node is the same request there; code that looks at terms sees the tuple with the
// original From.
func TestRequestSentOn(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		a, b := startTwo(t, c, node.Distribution{})
		h := nodetest.NewProbe(t, a)
		got := make(chan any, 1)
		worker, err := a.Spawn(node.ActorFunc(func(c *node.Context, msg any) error {
			got <- standsFor(msg)
			return msg.(node.Request[int]).Reply(11)
		}))
		require.NoError(t, err)
		front, err := b.Spawn(node.ActorFunc(func(c *node.Context, msg any) error { return c.Send(worker, msg) }))
		require.NoError(t, err)
		tag := h.Node().MakeRef()
		call := wire.Tuple{node.Atom("$gen_call"), wire.Tuple{h.Self(), tag}, 10}
		require.NoError(t, h.Send(front, call))
		assert.Equal(t, call, testkit.Receive(t, got))
		assert.Equal(t, wire.Tuple{tag, 11}, h.Receive())
	})
}

type farAccount struct{ balance int }

type farDeposit struct {
	genserver.Returns[int]
	Sum int
}

var farBank = genserver.Define(
	genserver.OnCall(func(s *farAccount, c *genserver.Context, d farDeposit) (int, error) {
		s.balance += d.Sum
		return s.balance, nil
	}),
	genserver.OnAnyCall(func(s *farAccount, c *genserver.Context, n int) (int, error) { return s.balance * n, nil }),
	genserver.OnCast(func(s *farAccount, c *genserver.Context, n int) error { s.balance = n; return nil }),
)

// A server answers calls and casts from another node with the handlers of their types, and answers calls without a
// handler at once.
func TestServerCalledFromAfar(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		a, b := startTwo(t, c, node.Distribution{})
		pid, err := farBank.Start(testkit.Context(t), b, &farAccount{}, node.Options{})
		require.NoError(t, err)
		h := nodetest.NewProbe(t, a)
		require.NoError(t, genserver.Cast(h, pid, 3))
		v, err := node.Call[int](testkit.Context(t), h, pid, 7)
		require.NoError(t, err)
		assert.Equal(t, 21, v)
		_, err = node.Call[int](testkit.Context(t), h, pid, 1.5)
		require.Error(t, err)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
	})
}

// watchersOf returns how many monitors the only peer of n has on processes of n.
func watchersOf(n *node.Node) int { return n.Peers()[0].Watchers }

func spawned(t *testing.T, n *node.Node, f node.ActorFunc) node.PID {
	pid, err := n.Spawn(f)
	require.NoError(t, err)
	return pid
}

// A call over the native protocol is one frame there and one frame back, its monitor included.
func TestFarCallIsTwoFrames(t *testing.T) {
	a, b := startTwo(t, clustertest.NewCluster(t), node.Distribution{})
	echoes := spawned(t, b, func(_ *node.Context, msg any) error {
		r := msg.(node.Request[int])
		return r.Reply(r.Body)
	})
	const calls = 20
	call := func() (out, in uint64) {
		for i := range calls {
			got, err := actortest.CallWithin[int](testkit.Limit, a, echoes, i)
			require.NoError(t, err)
			require.Equal(t, i, got)
		}
		return a.Peers()[0].FramesOut, a.Peers()[0].FramesIn
	}
	outBefore, inBefore := call()
	testkit.UntilTrue(t, func() bool { // at first the nodes exchange some frames of their own
		out, in := call()
		there, back := out-outBefore, in-inBefore
		outBefore, inBefore = out, in
		return there == calls && back == calls
	}, "each call is one frame there and one back")
	testkit.UntilTrue(t, func() bool { return watchersOf(b) == 0 }, "nobody watches there") // their own monitors may be under way
}

// However a call ends, it leaves nothing at the node that was called.
func TestFarCallLeavesNoMonitor(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		a, b := startTwo(t, c, node.Distribution{})
		froms := make(chan node.From, 1)
		server := spawned(t, b, func(_ *node.Context, msg any) error {
			switch m := msg.(type) {
			case node.Request[string]:
				switch m.Body {
				case "keep":
					froms <- m.From
				case "fail":
					return m.Fail(errors.New("no"))
				case "exit":
					return errors.New("over")
				case "large":
					return m.Reply(make([]byte, 300<<10))
				case "cannot travel":
					return m.Reply(make(chan int))
				default:
					return m.Reply(m.Body)
				}
			case node.Request[[]byte]:
				return m.Reply(len(m.Body))
			}
			return nil
		})
		gone := func() bool { return watchersOf(b) == 0 }
		none := func() { t.Helper(); testkit.UntilTrue(t, gone, "nobody watches there") }

		got, err := actortest.CallWithin[string](testkit.Limit, a, server, "echo")
		require.NoError(t, err)
		require.Equal(t, "echo", got)
		none()
		_, err = actortest.CallWithin[string](testkit.Limit, a, server, "fail")
		require.EqualError(t, err, "no")
		none()
		large, err := actortest.CallWithin[[]byte](testkit.Limit, a, server, "large")
		require.NoError(t, err)
		require.Len(t, large, 300<<10)
		none()
		n, err := actortest.CallWithin[int](testkit.Limit, a, server, make([]byte, 300<<10))
		require.NoError(t, err)
		require.Equal(t, 300<<10, n)
		none()

		_, err = actortest.CallWithin[string](testkit.Limit, a, server, "cannot travel")
		require.ErrorContains(t, err, "chan int")
		none()

		// Another process than the one that was called replies, on the caller's node.
		answering := spawned(t, a, func(_ *node.Context, msg any) error {
			return msg.(node.From).Reply("from elsewhere")
		})
		future := node.Async[string](a, server, "keep")
		require.NoError(t, b.Send(answering, <-froms))
		ctx, cancel := context.WithTimeout(t.Context(), testkit.Limit)
		defer cancel()
		got, err = node.Await(ctx, a, future)
		require.NoError(t, err)
		require.Equal(t, "from elsewhere", got)
		none()

		// Nobody replies: the caller gives up.
		given, giveUp := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := node.Call[string](given, a, server, "keep")
			done <- err
		}()
		from := <-froms
		testkit.UntilTrue(t, func() bool { return watchersOf(b) == 1 }, "the caller is watched")
		giveUp()
		require.ErrorIs(t, <-done, context.Canceled)
		none()
		letters := a.DeadLetters(10)
		defer letters.Close()
		require.NoError(t, from.Reply("late"))
		require.NotZero(t, testkit.Receive(t, letters.C).Alias)

		_, err = actortest.CallWithin[string](testkit.Limit, a, server, "exit")
		var exit *node.ExitError
		require.ErrorAs(t, err, &exit)
		none()
		_, err = actortest.CallWithin[string](testkit.Limit, a, server, "echo")
		require.ErrorIs(t, err, node.ErrNoProcess)
		_, err = actortest.CallWithin[string](testkit.Limit, a, node.At{Name: "nobody", Node: b.Name()}, "echo")
		require.ErrorIs(t, err, node.ErrNoProcess)
		none()
	})
}
