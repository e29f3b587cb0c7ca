//go:build unix

package port

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

func TestSystemMessages(t *testing.T) {
	w := newPortTest(t)
	pid := w.start(counter(t), node.Options{})
	require.Equal(t, "3", w.call(pid, "{add,3}"))
	i := w.info(pid)
	require.Equal(t, counter(t).Command, i.Command)
	require.False(t, gone(i.OSPID))
	require.Equal(t, Info{Command: i.Command, OSPID: i.OSPID, FramesIn: 2, BytesIn: i.BytesIn, FramesOut: 2, Waiting: i.Waiting}, i)
	require.Greater(t, i.BytesIn, 2*header)

	require.NoError(t, sys.Suspend(ctx, w.n, pid))
	reply := node.Async[any](w.n, pid, wire.Atom("get"))
	require.Zero(t, w.info(pid).Calls)
	require.NoError(t, sys.Resume(ctx, w.n, pid))
	v, err := node.Await(ctx, w.n, reply)
	require.NoError(t, err)
	require.Equal(t, 3, v)

	status, err := sys.GetStatus(ctx, w.n, pid)
	require.NoError(t, err)
	require.Contains(t, format(status), "os_pid => ")
	_, err = sys.ReplaceState(ctx, w.n, pid, func(s any) (any, error) { return s, nil })
	require.ErrorContains(t, err, "the state of a port belongs to its program")
	require.NoError(t, sys.Stop(ctx, w.n, pid, wire.Atom("enough")))
	require.Equal(t, wire.Atom("enough"), w.reason(pid))
	require.True(t, gone(i.OSPID))
}

// A suspended port ends when it is told to, and when its parent ends it.
func TestSuspendedStops(t *testing.T) {
	w := newPortTest(t)
	for _, end := range []func(node.PID){
		func(pid node.PID) { require.NoError(t, sys.Stop(ctx, w.n, pid, node.Shutdown)) },
		func(pid node.PID) { w.self.Exit(pid, node.Shutdown) },
	} {
		pid := w.start(counter(t), node.Options{})
		require.NoError(t, sys.Suspend(ctx, w.n, pid))
		end(pid)
		require.Equal(t, node.Shutdown, w.reason(pid))
	}
}

func TestInspectWhatIsNoPort(t *testing.T) {
	w := newPortTest(t)
	_, err := Inspect(ctx, w.n, node.Atom("nobody"))
	require.ErrorIs(t, err, node.ErrNoName)
}
