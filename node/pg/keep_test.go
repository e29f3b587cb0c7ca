package pg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/pg"
)

// A scope that the node restarts begins empty: processes that were in a group here join again.
func TestKeep(t *testing.T) {
	n := nodetest.Start(t, node.Config{})
	ctx := testkit.Context(t)
	_, err := pg.Start(ctx, n, pg.Config{Keep: true, Link: true})
	require.ErrorContains(t, err, "cannot be combined")
	s, err := pg.Start(ctx, n, pg.Config{Keep: true})
	require.NoError(t, err)
	h := nodetest.NewProbe(t, n)
	require.NoError(t, s.Join(ctx, n, "g", h.Self()))
	require.Equal(t, []node.PID{h.Self()}, s.Members("g"))
	pid, _ := n.Whereis("pg")
	require.True(t, n.Inside(process.Key{}).AskerOf(nil).Protected(pid))
	n.Exit(pid, node.Kill)
	testkit.Until(t, func() string {
		if err := n.Inside(process.Key{}).CheckServices(ctx); err != nil {
			return err.Error()
		}
		if now, ok := n.Whereis("pg"); !ok || now == pid {
			return "it has not been started again"
		}
		return ""
	})
	require.Empty(t, s.Members("g"))
	require.NoError(t, s.Join(ctx, n, "g", h.Self()))
	require.Equal(t, []node.PID{h.Self()}, s.Members("g"))
}
