package command

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit/erltest"
)

// TestPublished: an Erlang node sees a published daemon, and shares names and locks with it.
func TestPublished(t *testing.T) {
	t.Parallel()
	erltest.Need(t)
	s := newCLITest(t)
	s.daemon(t, "--name", "go@127.0.0.1", "--demo", "--published")
	port, _ := s.lookup("ERL_EPMD_PORT")
	mapper, err := strconv.Atoi(port)
	require.NoError(t, err)
	erl := erltest.Start(t, erltest.Options{Name: "erl@127.0.0.1", EPMD: mapper, Cookie: "secret"})
	assert.Equal(t, "pong", erl.Ask("net_adm:ping('go@127.0.0.1')"))
	assert.Equal(t, "ok", erl.Ask("global:sync()"))
	assert.Equal(t, "['go@127.0.0.1']", erl.Ask("nodes()"))
	assert.Equal(t, "yes", erl.Ask("global:register_name(x, rpc:call('go@127.0.0.1', erlang, whereis, [counter]))"))
	assert.Equal(t, "5", erl.Ask("gen_server:call({global, x}, {add, 5})"))
	assert.Equal(t, "5", erl.Ask("gen_server:call({via, global, x}, get)"))
	status := s.shell(t, "actornode status")
	assert.Contains(t, status, "1 names and 0 locks with 1 nodes")
	assert.Contains(t, status, "ready")
	assert.Equal(t, "['go@127.0.0.1']", erl.Ask("nodes()"), "a command is no node of the cluster")
}
