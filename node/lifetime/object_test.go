package lifetime_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/lifetime"
	"github.com/actornode/actornode/node/nodetest"
)

// counter is an active object that may hold its own address.
type counter struct {
	n    int
	self lifetime.Object[*counter]
}

func (o *counter) Add(_ *active.Context, d int) (int, error) {
	o.n += d
	return o.n, nil
}

func (o *counter) Keep(_ *active.Context, self lifetime.Object[*counter]) (bool, error) {
	o.self = self
	return true, nil
}

func (o *counter) UntilIs(c *active.Context, n int) (bool, error) {
	c.Until(func() bool { return o.n >= n })
	return true, nil
}

// An object is collected when nobody can reach it, even if it holds its own address and has waited before; it is not
// collected while a method waits.
func TestObject(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	o, err := lifetime.Start(n, &counter{}, node.Options{})
	require.NoError(t, err)
	pid := o.Addr().PID
	require.Equal(t, pid, o.Owner().PID())
	kept, err := node.Await(testkit.Context(t), n, lifetime.Go(n, o, (*counter).Keep, o))
	require.NoError(t, err)
	require.True(t, kept)
	f := lifetime.Go(n, o, (*counter).UntilIs, 3)
	require.NoError(t, lifetime.Idle(testkit.Context(t), n))
	o = lifetime.Object[*counter]{}
	survives(t, n, pid, "a method waits")
	i, err := n.Info(pid)
	require.NoError(t, err)
	require.Equal(t, 1, i.Activations.Condition)
	sum, err := node.Await(testkit.Context(t), n, active.Go(n, active.AddrOf[*counter](pid), (*counter).Add, 3))
	require.NoError(t, err)
	require.Equal(t, 3, sum)
	_, err = node.Await(testkit.Context(t), n, f)
	require.NoError(t, err)
	require.Equal(t, lifetime.Collected, collect(t, n, pid))
}

func TestObjectErrors(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	_, err := lifetime.Start(n, &counter{}, node.Options{Link: true})
	require.ErrorIs(t, err, node.ErrArgument)
}

// served is the state of a server.
type served struct{ owner *lifetime.Owner }

type keep struct {
	genserver.Returns[bool]
	owner *lifetime.Owner
}

func (s *served) keep(_ *genserver.Context, k keep) (bool, error) {
	s.owner = k.owner
	return true, nil
}

// ending is a state with a Terminate.
type ending struct {
	served
	ended chan any
}

func (s *ending) keep(c *genserver.Context, k keep) (bool, error) { return s.served.keep(c, k) }

func (s *ending) Terminate(_ *genserver.Context, reason any) { s.ended <- reason }

var (
	serves = genserver.Define(genserver.OnCall((*served).keep))
	ends   = genserver.Define(genserver.OnCall((*ending).keep))
)

// A server without Terminate is collected like any Actor; one with a Terminate runs it first.
func TestServer(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	o := own(t, n, serves.New(&served{}))
	pid := o.PID()
	ok, err := lifetime.Call[bool](context.Background(), n, o, keep{owner: o})
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, lifetime.Collected, collect(t, n, pid))

	ended := make(chan any, 1)
	o = own(t, n, ends.New(&ending{ended: ended}))
	pid = o.PID()
	ok, err = lifetime.Call[bool](context.Background(), n, o, keep{owner: nil})
	require.NoError(t, err)
	require.True(t, ok)
	runtime.KeepAlive(o)
	require.Equal(t, lifetime.Collected, collect(t, n, pid))
	require.Equal(t, lifetime.Collected, <-ended)
}
