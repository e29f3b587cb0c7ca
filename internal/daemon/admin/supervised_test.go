package admin_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/daemon/admin"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
)

// A killed service comes back under its supervisor, and knows that the node has been drained.
func TestSupervised(t *testing.T) {
	n := startNode(t, nil, "alone")
	ctx := testkit.Context(t)
	s, err := admin.New(admin.Config{Drain: func(context.Context) error { return nil }})
	require.NoError(t, err)
	_, err = supervisor.Start(ctx, n, supervisor.Spec{Children: []supervisor.Child{{
		ID: admin.Name, Start: func(...any) (node.Actor, error) { return s, nil }, Options: node.Options{Name: admin.Name},
	}}}, node.Options{})
	require.NoError(t, err)
	require.NoError(t, admin.Drain(ctx, n, n.Name()))
	pid, ok := n.Whereis(admin.Name)
	require.True(t, ok)
	n.Exit(pid, node.Kill)
	settles(t, func() bool { again, ok := n.Whereis(admin.Name); return ok && again != pid })
	status, err := admin.Status(ctx, n, n.Name())
	require.NoError(t, err)
	assert.True(t, status.Draining)
}
