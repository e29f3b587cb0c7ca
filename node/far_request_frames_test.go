package node_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
)

// watchersOf returns how many monitors over processes of n its only peer has.
func watchersOf(n *node.Node) int { return n.Peers()[0].Watchers }

func spawned(t *testing.T, n *node.Node, f node.ActorFunc) node.PID {
	pid, err := n.Spawn(f)
	require.NoError(t, err)
	return pid
}

// A call over the native protocol is a frame there and a frame back, its monitor included.
func TestFarCallIsTwoFrames(t *testing.T) {
	a, b := pairOf(t, "native", node.Distribution{})
	echoes := spawned(t, b, func(_ *node.Context, msg any) error {
		r := msg.(node.Request[int])
		return r.Reply(r.Body)
	})
	const calls = 20
	call := func() (out, in uint64) {
		for i := range calls {
			got, err := nodetest.CallWithin[int](testkit.Limit, a, echoes, i)
			require.NoError(t, err)
			require.Equal(t, i, got)
		}
		return a.Peers()[0].FramesOut, a.Peers()[0].FramesIn
	}
	outBefore, inBefore := call()
	testkit.UntilTrue(t, func() bool { // the nodes ask each other something of their own at first
		out, in := call()
		there, back := out-outBefore, in-inBefore
		outBefore, inBefore = out, in
		return there == calls && back == calls
	}, "each call is one frame there and one back")
	testkit.UntilTrue(t, func() bool { return watchersOf(b) == 0 }, "nobody watches there") // theirs may be under way
}

// However a call ends, nothing of it is left at the node that was called.
func TestFarCallLeavesNoMonitor(t *testing.T) {
	bothProtocols(t, func(t *testing.T, protocol string) {
		a, b := pairOf(t, protocol, node.Distribution{})
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

		got, err := nodetest.CallWithin[string](testkit.Limit, a, server, "echo")
		require.NoError(t, err)
		require.Equal(t, "echo", got)
		none()
		_, err = nodetest.CallWithin[string](testkit.Limit, a, server, "fail")
		require.EqualError(t, err, "no")
		none()
		large, err := nodetest.CallWithin[[]byte](testkit.Limit, a, server, "large")
		require.NoError(t, err)
		require.Len(t, large, 300<<10)
		none()
		n, err := nodetest.CallWithin[int](testkit.Limit, a, server, make([]byte, 300<<10))
		require.NoError(t, err)
		require.Equal(t, 300<<10, n)
		none()

		_, err = nodetest.CallWithin[string](testkit.Limit, a, server, "cannot travel")
		require.ErrorContains(t, err, "chan int")
		none()

		// By another process than the one that was called, on the caller's node.
		answering := spawned(t, a, func(_ *node.Context, msg any) error {
			return msg.(node.From).Reply("from elsewhere")
		})
		future := node.Async[string](a, server, "keep")
		require.NoError(t, b.Send(answering, <-froms))
		ctx, cancel := context.WithTimeout(t.Context(), testkit.Limit)
		defer cancel()
		got, err = future.Await(ctx)
		require.NoError(t, err)
		require.Equal(t, "from elsewhere", got)
		none()

		// By nobody: the caller gives up.
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

		_, err = nodetest.CallWithin[string](testkit.Limit, a, server, "exit")
		var exit *node.ExitError
		require.ErrorAs(t, err, &exit)
		none()
		_, err = nodetest.CallWithin[string](testkit.Limit, a, server, "echo")
		require.ErrorIs(t, err, node.ErrNoProcess)
		_, err = nodetest.CallWithin[string](testkit.Limit, a, node.At{Name: "nobody", Node: b.Name()}, "echo")
		require.ErrorIs(t, err, node.ErrNoProcess)
		none()
	})
}
