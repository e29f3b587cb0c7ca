package discovery_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/epmdtest"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/wire"
)

// Without a Config, nodes are announced and found at the port mapper that the environment names.
func TestEPMDFollowsTheEnvironment(t *testing.T) {
	mapper := epmdtest.Serve(t, "127.0.0.1")
	t.Setenv("ERL_EPMD_PORT", strconv.Itoa(mapper.Port))
	t.Setenv("ERL_EPMD_ADDRESS", "127.0.0.1")
	stop, err := new(discovery.EPMD).Announce(testkit.Context(t), discovery.Announcement{Name: "go@127.0.0.1", Creation: 7,
		Endpoints: []discovery.Endpoint{{Protocol: "erlang", Addr: "127.0.0.1:4711"}}})
	require.NoError(t, err)
	defer stop()
	for name, f := range map[string]*discovery.EPMD{"the environment": {}, "a Config": {Config: mapper}} {
		found, err := f.Find(testkit.Context(t), "go@127.0.0.1")
		require.NoError(t, err, name)
		require.Equal(t, "127.0.0.1:4711", found[0].Addr, name)
		f.Hosts = []string{"127.0.0.1"}
		all, err := f.List(testkit.Context(t))
		require.NoError(t, err, name)
		require.Equal(t, []wire.Atom{"go@127.0.0.1"}, all, name)
	}
	t.Setenv("ERL_EPMD_PORT", "none")
	_, err = new(discovery.EPMD).Find(testkit.Context(t), "go@127.0.0.1")
	require.ErrorContains(t, err, `ERL_EPMD_PORT="none" is not a port`)
}
