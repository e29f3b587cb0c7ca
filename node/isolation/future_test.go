package isolation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/futures"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/node/nodetest"
)

// keeper is an object that reads a future in its methods.
type keeper struct{}

func (*keeper) Make(*active.Context, struct{}) ([]int, error) { return []int{1, 2, 3}, nil }

func (*keeper) Await(c *active.Context, f *node.Future[[]int]) ([]int, error) {
	return active.Await(c, f)
}

func (*keeper) Get(c *active.Context, f *node.Future[[]int]) ([]int, error) {
	return active.Block(c, f)
}

// Each reader of a future gets a value of its own, in whatever way it reads it.
func TestReadersOfAFuture(t *testing.T) {
	n := nodetest.Start(t, node.Config{Isolation: isolation.Config{Copy: true}})
	h := nodetest.NewProbe(t, n)
	o, err := active.Start(n, &keeper{}, node.Options{})
	require.NoError(t, err)
	f := active.Go(n, o, (*keeper).Make, struct{}{})
	read := func(v []int, err error) []int {
		require.NoError(t, err)
		return v
	}
	ways := map[string]func() []int{
		"Future.Result": func() []int {
			v, done, err := f.Result()
			require.True(t, done)
			return read(v, err)
		},
		"Future.SendTo": func() []int {
			f.SendTo(h.Self(), 1)
			return nodetest.Expect[node.Result](h).Value.([]int)
		},
		"node.Await by the node": func() []int { return read(node.Await(testkit.Context(t), n, f)) },
		"node.Await":             func() []int { return read(node.Await(testkit.Context(t), h, f)) },
		"active.Await": func() []int {
			return read(node.Await(testkit.Context(t), n, active.Go(n, o, (*keeper).Await, f)))
		},
		"active.Block": func() []int { return read(node.Await(testkit.Context(t), n, active.Go(n, o, (*keeper).Get, f))) },
		"futures.All":  func() []int { return read2(t, futures.All(n, f)) },
	}
	read(node.Await(testkit.Context(t), n, f))
	for name, way := range ways {
		for range 2 {
			v := way()
			require.Equal(t, []int{1, 2, 3}, v, name)
			v[0] = 100
		}
	}
}

func read2(t *testing.T, f *node.Future[[][]int]) []int {
	testkit.Receive(t, f.Done())
	v, _, err := f.Result()
	require.NoError(t, err)
	return v[0]
}
