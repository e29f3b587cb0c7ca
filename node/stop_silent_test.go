package node_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/event"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/global"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/node/statem"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/supervisor/application"
)

// An orderly stop logs nothing at WARN or above, whatever runs on the node, and restarts no children on the way.
func TestStopIsSilent(t *testing.T) {
	ctx := testkit.Context(t)
	leaf := func(id any, b func() node.Actor) supervisor.Child {
		return supervisor.Child{ID: id, Start: func(...any) (node.Actor, error) { return b(), nil }}
	}
	children := func() (all []supervisor.Child) {
		for i := range 5 {
			all = append(all, leaf(fmt.Sprint("server", i), func() node.Actor { return genserver.Define[cupsServer]().New(cupsServer{}) }))
		}
		return append(all,
			leaf("machine", func() node.Actor { return statem.Define((*cupsMachine).open).New(&cupsMachine{}) }),
			leaf("actor", func() node.Actor { return answering(nil) }),
			leaf("process", func() node.Actor {
				return node.ProcessFunc(func(p *node.Process) error {
					for {
						p.Receive()
					}
				})
			}))
	}
	run := func(t *testing.T, published, far bool) {
		c := clustertest.NewMemoryCluster(t)
		var with node.Distribution
		if published {
			with.Published = global.Join(global.Config{})
		}
		n, log := c.StartLogged("a", with)
		if far {
			b := c.StartWith("b", with)
			require.NoError(t, n.Connect(ctx, b.Name())) // b does not dial: that attempt might be refused while n stops
			testkit.UntilTrue(t, func() bool { return len(b.AllNodes()) > 0 }, "b is connected")
		}
		simple := supervisor.Spec{Strategy: supervisor.SimpleOneForOne, Children: children()[:1]}
		inner := supervisor.Child{ID: "inner", Type: supervisor.Supervisor, Start: func(...any) (node.Actor, error) {
			return supervisor.New(supervisor.Spec{Strategy: supervisor.OneForAll, Children: children()}), nil
		}}
		pool := supervisor.Child{ID: "pool", Type: supervisor.Supervisor, Options: node.Options{Name: "pool"},
			Start: func(...any) (node.Actor, error) { return supervisor.New(simple), nil }}
		_, err := supervisor.Start(ctx, n, supervisor.Spec{Children: append(children(), inner, pool)}, node.Options{})
		require.NoError(t, err)
		for range 20 {
			_, err = supervisor.StartDynamic(ctx, n, node.Atom("pool"))
			require.NoError(t, err)
		}
		_, err = event.Start(ctx, n, event.Config{}, node.Options{})
		require.NoError(t, err)
		scope, err := pg.Start(ctx, n, pg.Config{})
		require.NoError(t, err)
		member, err := n.Spawn(answering(nil))
		require.NoError(t, err)
		require.NoError(t, scope.Join(ctx, n, "g", member))
		apps, err := application.Start(ctx, n)
		require.NoError(t, err)
		require.NoError(t, apps.Load(application.Spec{Name: "shop", Type: application.Permanent, Top: &supervisor.Spec{Children: children()}}))
		require.NoError(t, apps.StartAll(ctx))
		before := log.String()
		require.NoError(t, n.Stop())
		for line := range strings.Lines(strings.TrimPrefix(log.String(), before)) {
			require.NotRegexp(t, "level=(WARN|ERROR)", line)
			require.NotContains(t, line, "progress report")
		}
	}
	for range 5 {
		for name, c := range map[string]struct{ published, far bool }{
			"hidden": {}, "published": {published: true}, "connected": {far: true}, "published and connected": {true, true},
		} {
			t.Run(name, func(t *testing.T) { run(t, c.published, c.far) })
		}
	}
}
