package active_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/active"
	"github.com/actornode/actornode/node/nodetest"
)

// machine is an object that can break.
type machine struct{ broken bool }

func (o *machine) Ready(c *active.Context, _ none) (none, error) {
	c.Until(func() bool {
		if o.broken {
			panic("the machine is broken")
		}
		return false
	})
	return none{}, nil
}

func (o *machine) Break(_ *active.Context, broken bool) (bool, error) {
	o.broken = broken
	return broken, nil
}

// A panic of a condition is the error of the activations that wait for it, and of no other: whether it is
// evaluated first, or later while another activation has the turn.
func TestConditionPanics(t *testing.T) {
	log := &logtest.Text{}
	n := nodetest.Start(t, node.Config{Log: log.Logger()})
	m := start(t, n, &machine{})
	first, second := active.Go(n, m, (*machine).Ready, none{}), active.Go(n, m, (*machine).Ready, none{})
	require.True(t, result(t, active.Go(n, m, (*machine).Break, true)))
	third := active.Go(n, m, (*machine).Ready, none{})
	for _, f := range []*node.Future[none]{first, second, third} {
		_, err := node.Await(testkit.Context(t), n, f)
		var exit *node.ExitError
		require.ErrorAs(t, err, &exit)
		require.Equal(t, "the machine is broken", exit.Reason.(*node.Crash).Reason)
	}
	log.Await(t, "a method panicked")
	require.False(t, result(t, active.Go(n, m, (*machine).Break, false)), "the object goes on")
	i, err := n.Info(m.PID)
	require.NoError(t, err)
	require.Zero(t, i.Activations)
}

// stubborn is an object whose activations do not end when they should.
type stubborn struct{ begun, release chan none }

func (o *stubborn) Run(*active.Context, none) (none, error) {
	close(o.begun)
	<-o.release
	return none{}, nil
}

func (o *stubborn) Unwind(c *active.Context, _ none) (none, error) {
	defer func() { <-o.release }()
	close(o.begun)
	c.Until(func() bool { return false })
	return none{}, nil
}

func (o *stubborn) Idle(*active.Context, none) (none, error) { return none{}, nil }

// An activation that never ends, be it in its method or in a deferred function, fails its future at once,
// and Stop says after its time that it is left.
func TestActivationOutlivesStop(t *testing.T) {
	for name, method := range map[string]func(*stubborn, *active.Context, none) (none, error){
		"method": (*stubborn).Run, "deferred": (*stubborn).Unwind,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // whose clock does not go on while others end
				n, err := node.Start(node.Config{Log: (&logtest.Text{}).Logger()})
				require.NoError(t, err)
				o := &stubborn{make(chan none), make(chan none)}
				s := start(t, n, o)
				f := active.Go(n, s, method, none{})
				<-o.begun
				if name == "deferred" {
					result(t, active.Go(n, s, (*stubborn).Idle, none{}))
				}
				stopped := make(chan error, 1)
				go func() { stopped <- n.Stop() }()
				_, err = node.Await(testkit.Context(t), n, f)
				var exit *node.ExitError
				require.ErrorAs(t, err, &exit)
				require.ErrorContains(t, <-stopped, "stopped, but 1 handlers and functions of killed processes have not")
				close(o.release)
			})
		})
	}
}

// Many activations are suspended at once, and all of them go on.
func TestManySuspended(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	a := start(t, n, &account{})
	const many = 20_000
	open := node.Async[int](n, h.Self(), "?")
	all := make([]*node.Future[int], many)
	for i := range all {
		all[i] = active.Go(n, a, (*account).Wait, open)
	}
	result(t, active.Go(n, a, (*account).Deposit, 0)) // all have begun
	i, err := n.Info(a.PID)
	require.NoError(t, err)
	require.Equal(t, many, i.Activations.Future)
	require.NoError(t, nodetest.Expect[node.Request[string]](h).Reply(1))
	for _, f := range all {
		require.Equal(t, 1, result(t, f))
	}
	i, err = n.Info(a.PID)
	require.NoError(t, err)
	require.Zero(t, i.Activations)
}
