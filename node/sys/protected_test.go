package sys_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

type nothing struct{}

func (nothing) State() any { return wire.Atom("as_it_was") }

// Messages that come as terms can only look at a protected process. Go code may do everything.
func TestProtected(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	ctx := testkit.Context(t)
	kind := genserver.Define[nothing]()
	pid, err := kind.Start(ctx, n, nothing{}, node.Options{Protected: true})
	require.NoError(t, err)
	h := nodetest.NewProbe(t, n)
	ask := func(what any) any {
		ref := n.MakeRef()
		require.NoError(t, h.Send(pid, wire.Tuple{wire.Atom("system"), wire.Tuple{h.Self(), ref}, what}))
		return nodetest.Expect[wire.Tuple](h)[1]
	}
	refused := wire.Tuple{wire.AtomError, wire.Atom("protected")}
	for _, what := range []any{
		wire.Atom("suspend"), wire.Atom("resume"), wire.Tuple{wire.Atom("terminate"), node.Normal},
		wire.Tuple{wire.Atom("replace_state"), 1}, wire.Tuple{wire.Atom("change_code"), wire.Atom("m"), 1, 2},
		wire.Tuple{wire.Atom("debug"), wire.Tuple{wire.Atom("log"), wire.AtomTrue}},
		wire.Atom("anything"), 1, nil,
	} {
		require.Equal(t, refused, ask(what), "%v", what)
	}
	require.Equal(t, wire.Atom("as_it_was"), ask(wire.Atom("get_state")))
	require.Equal(t, wire.Atom("status"), ask(wire.Atom("get_status")).(wire.Tuple)[0])
	require.NoError(t, sys.Suspend(ctx, n, pid))
	require.Equal(t, refused, ask(wire.Atom("resume")), "suspended, too")
	require.NoError(t, sys.Resume(ctx, n, pid))
	require.NoError(t, sys.Stop(ctx, n, pid, node.Normal))
	require.False(t, n.IsAlive(pid))
}
