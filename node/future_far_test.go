package node_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/actortest"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// bill and promised are registered types; promised contains futures, among them of bill.
type bill struct{ Cents int }

type promised struct {
	Bill *node.Future[bill]
	None *node.Future[bill]
	Text *node.Future[string]
	Any  any
}

// futureNodes returns nodes that know these types.
func futureNodes(t *testing.T, names ...node.Atom) (all []*node.Node) {
	types := &node.Types{}
	require.NoError(t, types.Register(node.TypeOf[bill](), node.TypeOf[promised]()))
	c := clustertest.NewCluster(t)
	for _, name := range names {
		all = append(all, c.StartWith(string(name), node.Distribution{Types: types}))
	}
	return all
}

// openFuture makes a future on n, and returns the request that settles it.
func openFuture[R any](t *testing.T, n *node.Node) (*node.Future[R], node.Request[string], *node.Process) {
	server := nodetest.NewProbe(t, n)
	f := node.Async[R](n, server.Self(), "x")
	return f, nodetest.Expect[node.Request[string]](server), server.Process
}

// pass sends v to a process of another node and returns what arrives.
func pass[T any](t *testing.T, from *node.Node, to *nodetest.Probe, v any) T {
	t.Helper()
	require.NoError(t, from.Send(to.Self(), v))
	return nodetest.Expect[T](to)
}

// Waiters on several nodes wait for one future, each with a copy that has come in another way.
func TestFutureTravels(t *testing.T) {
	nodes := futureNodes(t, "a", "b", "c")
	a, b, c := nodes[0], nodes[1], nodes[2]
	onB, onC := nodetest.NewProbe(t, b), nodetest.NewProbe(t, c)
	f, r, _ := openFuture[bill](t, a)
	bare := pass[*node.Future[bill]](t, a, onB, f)
	inTuple := pass[wire.Tuple](t, a, onB, wire.Tuple{1, wire.List{f}})[1].(wire.List)[0].(*node.Future[bill])
	field := pass[promised](t, a, onC, promised{Bill: f, Any: f})
	require.Nil(t, field.None)
	onward := pass[*node.Future[bill]](t, b, onC, bare) // from the copy of b
	home := nodetest.NewProbe(t, a)
	require.Same(t, f, pass[*node.Future[bill]](t, c, home, onward), "where it is from it is itself")

	_, over, _ := bare.Result()
	require.False(t, over)
	all := map[*node.Future[bill]]*node.Node{f: a, bare: b, inTuple: b, field.Bill: c, field.Any.(*node.Future[bill]): c, onward: c}
	var done sync.WaitGroup
	for copy, at := range all {
		for range 3 {
			done.Go(func() {
				v, err := node.Await(testkit.Context(t), at, copy)
				if err != nil || v != (bill{7}) {
					t.Errorf("got %v, %v", v, err)
				}
			})
		}
	}
	inTuple.SendTo(onB.Self(), "tag")
	require.NoError(t, r.Reply(bill{7}))
	done.Wait()
	require.Equal(t, node.Result{Tag: "tag", Value: bill{7}}, nodetest.Expect[node.Result](onB))

	// A completed future travels, too, and so does a copy of it.
	late := pass[*node.Future[bill]](t, a, onB, f)
	<-late.Done()
	v, _, err := late.Result()
	require.NoError(t, err)
	require.Equal(t, bill{7}, v)
	v, err = node.Await(testkit.Context(t), c, pass[*node.Future[bill]](t, b, onC, bare))
	require.NoError(t, err)
	require.Equal(t, bill{7}, v)
}

// A copy says why it failed.
func TestFutureFailsElsewhere(t *testing.T) {
	nodes := futureNodes(t, "a", "b")
	a, b := nodes[0], nodes[1]
	onB := nodetest.NewProbe(t, b)

	f, _, server := openFuture[int](t, a)
	far := pass[*node.Future[int]](t, a, onB, f)
	_, done, _ := far.Result() // asks
	require.False(t, done)
	server.Close(node.Atom("tired"))
	_, err := node.Await(testkit.Context(t), b, far)
	require.Equal(t, &node.ExitError{Reason: node.Atom("tired")}, err)

	f, r, _ := openFuture[int](t, a)
	far = pass[*node.Future[int]](t, a, onB, f)
	require.NoError(t, r.Fail(errSpoiled))
	_, err = node.Await(testkit.Context(t), b, far)
	require.ErrorContains(t, err, "spoiled")

	// Cancelling a copy cancels only that copy.
	f, r, _ = openFuture[int](t, a)
	far, other := pass[*node.Future[int]](t, a, onB, f), pass[*node.Future[int]](t, a, onB, f)
	require.True(t, far.Cancel())
	require.False(t, far.Cancel())
	_, err = node.Await(testkit.Context(t), b, far)
	require.ErrorIs(t, err, context.Canceled)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	last := pass[*node.Future[int]](t, a, onB, f)
	_, err = node.Await(ctx, b, last)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, r.Reply(5))
	v, err := node.Await(testkit.Context(t), a, f)
	require.NoError(t, err)
	require.Equal(t, 5, v)
	v, err = node.Await(testkit.Context(t), b, other)
	require.NoError(t, err)
	require.Equal(t, 5, v)

	// A future that no node knows any more, and one whose node is lost.
	gone := pass[*node.Future[int]](t, a, onB, f)
	node.ForgetFutures(a)
	_, err = node.Await(testkit.Context(t), b, gone)
	require.ErrorIs(t, err, node.ErrNoProcess)
	f, _, _ = openFuture[int](t, a)
	far, never := pass[*node.Future[int]](t, a, onB, f), pass[*node.Future[int]](t, a, onB, f)
	_, done, _ = far.Result()
	require.False(t, done)
	testkit.Until(t, func() string {
		if a.Disconnect(b.Name()) {
			return ""
		}
		return "not connected"
	})
	_, err = node.Await(testkit.Context(t), b, far)
	require.ErrorIs(t, err, node.ErrNoConnection)
	require.NoError(t, a.Stop())
	_, err = node.Await(testkit.Context(t), b, never)
	require.ErrorIs(t, err, node.ErrNoConnection)
}

// A future whose type no node knows by name is not sent.
func TestFutureOfUnknown(t *testing.T) {
	type own struct{ X int }
	nodes := futureNodes(t, "a", "b")
	onB := nodetest.NewProbe(t, nodes[1])
	f, r, _ := openFuture[own](t, nodes[0])
	_, err := node.Call[any](testkit.Context(t), nodes[0], onB.Self(), f)
	require.ErrorContains(t, err, "node.TypeOf[node_test.own]()")
	require.NoError(t, r.Reply(own{}))
}

// Await waits in each style, and ends when the waiter dies.
func TestAwaitFuture(t *testing.T) {
	nodes := futureNodes(t, "a", "b")
	a, b := nodes[0], nodes[1]
	onB := nodetest.NewProbe(t, b)
	actortest.EachStyle(t, func(t *testing.T, s actortest.Style) {
		for _, kill := range []bool{false, true} {
			f, r, _ := openFuture[int](t, a)
			far := pass[*node.Future[int]](t, a, onB, f)
			pid := s.Spawn(t, b, func(h actortest.Self, m any) error {
				v, err := node.Await(context.Background(), h.(node.Caller), m.(*node.Future[int]))
				if err == nil {
					err = h.Send(onB.Self(), v)
				}
				return err
			})
			ref := onB.Monitor(pid)
			require.NoError(t, b.Send(pid, far))
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			_, err := node.Await(ctx, onB, far)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded, "others go on")
			if kill {
				b.Exit(pid, node.Kill)
				onB.ExpectDown(ref)
				require.NoError(t, r.Reply(1))
				continue
			}
			require.NoError(t, r.Reply(8))
			require.Equal(t, 8, nodetest.Expect[int](onB))
			onB.DemonitorFlush(ref)
		}
	})
}
