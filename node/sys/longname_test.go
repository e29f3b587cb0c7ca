package sys_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/statem"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

// wide is a generic type: the name of wide of itself is twice as long.
type wide[A, B any] struct{}

type (
	wide1  = wide[genserver.UnhandledError, node.Request[string]]
	wide2  = wide[wide1, wide1]
	widest = wide[wide2, wide2]
)

// The status of a behaviour whose Go type has a name longer than an atom can be is a term that travels, for every
// behaviour.
func TestStatusOfLongNames(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	servers := genserver.Define(genserver.OnInfo(func(*widest, *genserver.Context, node.Atom) error { return nil }))
	for name, b := range map[string]node.Actor{
		"genserver": servers.New(&widest{}),
		"statem":    statem.Define(idle).New(&widest{}),
		"sys":       sys.Answer(&longActor[widest]{}),
	} {
		t.Run(name, func(t *testing.T) {
			pid, err := n.Spawn(b)
			require.NoError(t, err)
			status, err := sys.GetStatus(testkit.Context(t), n, pid)
			require.NoError(t, err)
			_, err = etf.Append(nil, status)
			require.NoError(t, err)
			_, err = sys.GetState(testkit.Context(t), n, pid)
			require.NoError(t, err)
			require.NoError(t, sys.Suspend(testkit.Context(t), n, pid))
			status, err = sys.GetStatus(testkit.Context(t), n, pid)
			require.NoError(t, err)
			_, err = etf.Append(nil, status)
			require.NoError(t, err)
		})
	}
	require.Greater(t, len(fmt.Sprintf("%T", widest{})), wire.MaxAtomRunes)
}

func idle(*widest, *statem.Context, statem.Event) (statem.State[*widest], error) {
	return nil, statem.ErrUnhandled
}

type longActor[T any] struct{}

func (*longActor[T]) Receive(*node.Context, any) error { return nil }
