package pool

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

// The handler of a worker that has been killed may still run when its successor works: it changes nothing then.
func TestHandlerOfTheDead(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	var pids [2]node.PID
	for i := range pids {
		var err error
		pids[i], err = n.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
		require.NoError(t, err)
	}
	r := newRun(Options{Workers: 1, New: func() node.Actor { return nil }})
	r.node = n
	r.export()
	s := r.slots[0]
	dead := s.next()
	require.True(t, dead.begin(pids[0]))
	alive := s.next()
	require.True(t, alive.begin(pids[1]))
	require.True(t, alive.rest())

	require.False(t, dead.begin(pids[0]))
	require.False(t, dead.goesOn())
	require.True(t, dead.rest())
	require.Equal(t, pids[1], s.pid)
	require.Equal(t, []*slot{s}, s.line.idle)
	require.EqualValues(t, 1, s.line.idles.Load())
	s.leaves = true
	require.False(t, dead.goesOn())
	require.False(t, s.hasLeft)
	require.False(t, alive.goesOn())
	require.True(t, s.hasLeft)
}
