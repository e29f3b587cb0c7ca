package supervisor_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/supervisor"
)

// sessionsOf returns a supervisor of children that are named by their argument.
func sessionsOf(restart supervisor.Restart) supervisor.Spec {
	return supervisor.Spec{Strategy: supervisor.SimpleOneForOne, Intensity: 1000, Period: time.Second,
		Children: []supervisor.Child{{ID: "session", Start: echo, Restart: restart,
			NameOf: func(args ...any) node.Atom {
				if args[0] == "" {
					return ""
				}
				return node.Atom("session:" + args[0].(string))
			}}}}
}

// When many callers start a child under one name, one succeeds, and the others learn which process has the name, here
// and from another node. No caller gets an empty PID without an error.
func TestDynamicNames(t *testing.T) {
	test := func(t *testing.T, here, there *node.Node) {
		ctx := testkit.Context(t)
		sup, err := supervisor.Start(ctx, there, sessionsOf(supervisor.Permanent), node.Options{})
		require.NoError(t, err)
		var mu sync.Mutex
		var first node.PID
		var others []node.PID
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				pid, err := supervisor.StartDynamic(ctx, here, sup, "ann")
				mu.Lock()
				defer mu.Unlock()
				var taken *supervisor.AlreadyStartedError
				switch {
				case err == nil:
					assert.Zero(t, first)
					assert.NotZero(t, pid)
					first = pid
				case assert.ErrorIs(t, err, node.ErrNameTaken) && assert.ErrorAs(t, err, &taken):
					others = append(others, taken.PID)
				}
			})
		}
		all.Wait()
		require.Len(t, others, 19)
		for _, pid := range others {
			require.Equal(t, first, pid)
		}
		for range 2 {
			pid, err := supervisor.StartDynamic(ctx, here, sup, "")
			require.NoError(t, err)
			require.NotZero(t, pid, "it has no name")
		}
		_, err = supervisor.StartDynamic(ctx, here, sup, 1)
		require.ErrorContains(t, err, "interface conversion", "NameOf has panicked")
		pid, ok := there.Whereis("session:ann")
		require.True(t, ok)
		require.Equal(t, first, pid)

		there.Exit(pid, node.Kill)
		testkit.Until(t, func() string {
			if pid, ok := there.Whereis("session:ann"); !ok || pid == first {
				return "its name is not that of the child that was started again"
			}
			return ""
		})
	}
	t.Run("near", func(t *testing.T) {
		n := nodetest.Start(t, node.Config{})
		test(t, n, n)
	})
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		test(t, c.Start("a"), c.Start("b"))
	})
}

// A child that registers a name itself, which is taken, fails to start in the same way.
func TestNameTakenInInit(t *testing.T) {
	ctx := testkit.Context(t)
	n := nodetest.Start(t, node.Config{})
	spec := sessionsOf(supervisor.Temporary)
	spec.Children[0].NameOf = nil
	spec.Children[0].Start = func(...any) (node.Actor, error) {
		return startFuncs{func(c *node.Context) error { return n.Register("ann", c.Self()) },
			func(*node.Context, any) error { return nil }}, nil
	}
	sup, err := supervisor.Start(ctx, n, spec, node.Options{})
	require.NoError(t, err)
	_, err = supervisor.StartDynamic(ctx, n, sup, "ann")
	require.NoError(t, err)
	pid, err := supervisor.StartDynamic(ctx, n, sup, "ann")
	require.Zero(t, pid)
	require.ErrorIs(t, err, node.ErrNameTaken)
	require.False(t, errors.Is(err, node.ErrIgnore))
}
