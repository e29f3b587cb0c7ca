package discovery_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/epmd"
)

func TestEPMDLists(t *testing.T) {
	mapper := epmdtest.Serve(t, "127.0.0.1")
	f := &discovery.EPMD{Config: mapper}
	all, err := f.List(t.Context())
	require.NoError(t, err)
	assert.Empty(t, all)
	f.Hosts = []string{"127.0.0.1"}
	for _, name := range []wire.Atom{"a@127.0.0.1", "b@127.0.0.1"} {
		nodetest.Start(t, node.Config{Name: name, Distribution: &node.Distribution{Cookie: "secret", Finder: f}})
	}
	all, err = f.List(t.Context())
	require.NoError(t, err)
	assert.ElementsMatch(t, []wire.Atom{"a@127.0.0.1", "b@127.0.0.1"}, all)
	f = &discovery.EPMD{Config: mapper, Hosts: []string{"127.0.0.1", "127.0.0.77"}} // no process listens at the second
	all, err = f.List(t.Context())
	require.ErrorIs(t, err, epmd.ErrUnreachable)
	require.ErrorContains(t, err, "cannot list the nodes on 127.0.0.77")
	assert.ElementsMatch(t, []wire.Atom{"a@127.0.0.1", "b@127.0.0.1"}, all)
}
