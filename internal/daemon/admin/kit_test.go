package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
)

func startNode(t testing.TB, f discovery.Finder, name string) *node.Node {
	t.Helper()
	c := node.Config{Name: node.Atom(name + "@127.0.0.1")}
	if f != nil {
		c.Distribution = &node.Distribution{Cookie: "secret", Finder: f}
	}
	return nodetest.Start(t, c)
}

// two starts a node with a service and another node, which makes requests.
func two(t testing.TB, c admin.Config) (far, near *node.Node) {
	t.Helper()
	f := new(clustertest.Places)
	far, near = startNode(t, f, "far"), startNode(t, f, "near")
	require.NoError(t, admin.Start(testkit.Context(t), far, c))
	return far, near
}

// echo answers calls with the request.
func echo(c *node.Context, msg any) error {
	if r, ok := c.Node().AsRequest(msg); ok {
		if r.Body == node.Atom("die") {
			return node.ExitWith(node.Atom("oops"))
		}
		c.Reply(r.From, r.Body)
	}
	return nil
}

func spawn(t testing.TB, n *node.Node, name node.Atom, b node.Actor) node.PID {
	t.Helper()
	pid, err := n.SpawnOpt(node.Options{Name: name}, b)
	require.NoError(t, err)
	return pid
}

// next takes the next event of a stream.
func next[T any](t testing.TB, s *admin.Stream[T]) T {
	t.Helper()
	select {
	case e, ok := <-s.C:
		require.True(t, ok, "the stream has ended: %v %v", s.Why(), s.Err())
		return e
	case <-time.After(testkit.Limit):
		require.Fail(t, "no event")
		panic("unreachable")
	}
}

// drained reads a stream to its end.
func drained[T any](t testing.TB, s *admin.Stream[T]) (all []T) {
	t.Helper()
	for timeout := time.After(testkit.Limit); ; {
		select {
		case e, ok := <-s.C:
			if !ok {
				return all
			}
			all = append(all, e)
		case <-timeout:
			require.Fail(t, "the stream does not end")
		}
	}
}

// settles waits until what holds, for what other processes are about to do.
func settles(t testing.TB, what func() bool) {
	t.Helper()
	testkit.UntilTrue(t, what, "what other processes are about to do")
}
