package active_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/observe"
)

// clerk is an object with methods without an argument.
type clerk struct{ done int }

func (k *clerk) Work(*active.Context) (int, error) { k.done++; return k.done, nil }

func (k *clerk) Hidden(*active.Context) (int, error) { return 0, nil }

// A method without an argument is called from outside, from its own group, and from another node by Go and by name. A
// function is called on the node of the object, and on no other.
func TestDo(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, c *clustertest.Cluster) {
		a, b := c.Start("a"), c.Start("b")
		c.Connect(a, b)
		k := start(t, a, &clerk{})
		require.Equal(t, 1, result(t, active.Do(a, k, (*clerk).Work)))
		require.Equal(t, 2, result(t, active.Do(a, k, func(k *clerk, c *active.Context) (int, error) {
			return active.Await(c, active.Do(c, active.Self[*clerk](c), (*clerk).Work))
		})))
		require.Equal(t, 3, result(t, active.Do(b, k, (*clerk).Work)))
		v, err := node.Call[int](testkit.Context(t), b, k.PID, node.Atom("work"))
		require.NoError(t, err)
		require.Equal(t, 4, v)
		for _, f := range []*node.Future[int]{
			active.Do(b, k, (*clerk).Hidden), active.Do(b, k, func(*clerk, *active.Context) (int, error) { return 0, nil }),
		} {
			_, err := node.Await(testkit.Context(t), b, f)
			require.ErrorIs(t, err, node.ErrNotHere)
			require.ErrorContains(t, err, "is not exported")
		}
	})
}

func TestAwait2(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	k := start(t, n, &clerk{})
	broken := errors.New("broken")
	ask := func(err error) func(*clerk, *active.Context) (string, error) {
		return func(_ *clerk, c *active.Context) (string, error) {
			c.Suspend()
			return "v", err
		}
	}
	type outcome struct {
		a   int
		b   string
		err error
	}
	both := func(first func(*clerk, *active.Context) (int, error), second error) outcome {
		return result(t, active.Do(n, k, func(_ *clerk, c *active.Context) (outcome, error) {
			self := active.Self[*clerk](c)
			a, b, err := active.Await2(c, active.Do(c, self, first), active.Do(c, self, ask(second)))
			return outcome{a, b, err}, nil
		}))
	}
	require.Equal(t, outcome{1, "v", nil}, both((*clerk).Work, nil))
	require.ErrorIs(t, both((*clerk).Work, broken).err, broken)
	require.ErrorIs(t, both(func(*clerk, *active.Context) (int, error) { return 0, broken }, nil).err, broken)
}

// A condition that comes to hold in time, one that does not, and one that holds at once; other activations of the group
// run meanwhile.
func TestUntilWithin(t *testing.T) {
	inBubble(t, node.Config{}, func(t *testing.T, n *node.Node) {
		k := start(t, n, &clerk{})
		within := func(d time.Duration, want int) *node.Future[bool] {
			return active.Do(n, k, func(k *clerk, c *active.Context) (bool, error) {
				return c.UntilWithin(d, func() bool { return k.done >= want }), nil
			})
		}
		began := time.Now()
		require.True(t, result(t, within(0, 0)))
		require.False(t, result(t, within(0, 1)))
		require.False(t, result(t, within(-1, 1)))
		require.Zero(t, time.Since(began))
		require.False(t, result(t, within(time.Minute, 1)))
		require.Equal(t, time.Minute, time.Since(began))

		f := within(time.Minute, 1)
		time.Sleep(time.Second)
		require.Equal(t, 1, result(t, active.Do(n, k, (*clerk).Work)))
		require.True(t, result(t, f))
		require.Equal(t, time.Minute+time.Second, time.Since(began))

		late := make([]*node.Future[bool], 100) // more than are evaluated after each step
		for i := range late {
			late[i] = within(time.Duration(i+1)*time.Second, 100)
		}
		for i, f := range late {
			require.False(t, result(t, f))
			require.Equal(t, time.Minute+time.Second+time.Duration(i+1)*time.Second, time.Since(began).Truncate(time.Second))
		}
		begin := time.Now()
		h, g := within(time.Minute, 2), within(time.Second, 100)
		require.False(t, result(t, g))
		require.Equal(t, 2, result(t, active.Do(n, k, (*clerk).Work)))
		require.True(t, result(t, h))
		require.Equal(t, time.Second, time.Since(begin))
	})
}

// A method sleeps as long as it asks for, while others of its object run; Info shows it, and it is unwound when the
// process ends.
func TestSleep(t *testing.T) {
	inBubble(t, node.Config{}, func(t *testing.T, n *node.Node) {
		k := start(t, n, &clerk{})
		unwound := make(chan struct{}, 1)
		sleep := func(d time.Duration) *node.Future[int] {
			return active.Do(n, k, func(k *clerk, c *active.Context) (int, error) {
				defer func() { unwound <- struct{}{} }()
				c.Sleep(d)
				return k.done, nil
			})
		}
		began := time.Now()
		for _, d := range []time.Duration{0, -1} {
			require.Zero(t, result(t, sleep(d)))
			<-unwound
		}
		require.Zero(t, time.Since(began))
		f := sleep(time.Minute)
		require.Equal(t, 1, result(t, active.Do(n, k, (*clerk).Work)))
		i, err := n.Info(k.PID)
		require.NoError(t, err)
		i.Activations.Since = time.Time{}
		require.Equal(t, observe.Activations{Asleep: 1}, i.Activations)
		require.Equal(t, 1, result(t, f))
		<-unwound
		require.Equal(t, time.Minute, time.Since(began))

		f = sleep(time.Minute)
		synctest.Wait()
		n.Exit(k.PID, node.Kill)
		<-unwound
		_, err = node.Await(t.Context(), n, f)
		require.Error(t, err)
		require.Equal(t, time.Minute, time.Since(began))
	})
}

// worker is an interface that clerk implements.
type worker interface {
	Work(c *active.Context) (int, error)
}

// An Addr converts to one of an interface that the object implements.
func TestAddrOfInterface(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	w := active.Addr[worker](start(t, n, &clerk{}))
	require.Equal(t, 1, result(t, active.Do(n, w, worker.Work)))
}
