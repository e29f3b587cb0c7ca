package supervisor_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/isolation"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
	"github.com/actornode/actornode/wire"
)

// On a node that copies messages supervisors start, wait and restart as elsewhere: their own messages are not copied,
// and neither are the functions of children.
func TestSupervisorsOfANodeThatCopies(t *testing.T) {
	n := nodetest.Start(t, node.Config{Isolation: isolation.Config{Copy: true}})
	started := make(chan node.PID, 8)
	k := supervisor.Child{ID: atomA, Backoff: supervisor.Backoff{Initial: time.Millisecond, Max: time.Millisecond},
		Start: func(...any) (node.Actor, error) {
			return startFuncs{init: func(c *node.Context) error { started <- c.Self(); return nil }}, nil
		}}
	ctx := testkit.Context(t)
	app := application.Spec{Name: "shop", Start: func(x context.Context, p *node.Process) (node.PID, error) {
		return supervisor.Start(x, p, supervisor.Spec{Intensity: 10}, node.Options{Name: "shop_sup"})
	}}
	all, err := application.Start(ctx, n)
	require.NoError(t, err)
	require.NoError(t, all.Load(app))
	require.NoError(t, all.Start(ctx, "shop", application.Temporary))
	_, err = supervisor.StartChild(ctx, n, node.Atom("shop_sup"), k)
	require.NoError(t, err)
	first := testkit.Receive(t, started)
	n.Exit(first, wire.Atom("broken"))
	require.NotEqual(t, first, testkit.Receive(t, started), "it was restarted after its backoff")
	got, err := supervisor.ChildSpec(ctx, n, node.Atom("shop_sup"), atomA)
	require.NoError(t, err)
	require.NotNil(t, got.Start)
	require.NoError(t, all.Stop(ctx, "shop"))
}
