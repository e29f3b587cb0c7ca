package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
)

// Link, Unlink, Linked and Exit by a name towards an Erlang node; links as Erlang sees them.
func TestLinkByNameToOTP(t *testing.T) {
	c := newOTPHost(t)
	n := c.start(c.config("go"))
	e := c.erl("erl", "")
	require.NoError(t, n.Connect(testkit.Context(t), e.name))
	ask := func(module, function node.Atom, args ...any) any {
		t.Helper()
		v, err := rpc.Call[any](testkit.Context(t), n, e.name, module, function, args...)
		require.NoError(t, err)
		return v
	}
	linkByName(t, n, nameKit{
		node: e.name,
		spawn: func(name node.Atom) node.PID {
			pid, err := rpc.Spawn(testkit.Context(t), n, e.name, "far", "sink")
			require.NoError(t, err)
			if name != "" {
				ask("erlang", "register", name, pid)
			}
			return pid
		},
		end: func(pid node.PID, reason node.Atom) { ask("erlang", "exit", pid, reason) },
		move: func(name node.Atom, to node.PID) {
			ask("erlang", "unregister", name)
			ask("erlang", "register", name, to)
		},
		links: func(pid, to node.PID) bool {
			return ask("far", "linked", pid, to) == node.Atom("true")
		},
	})

	// What Erlang itself does for a name: its functions take a PID only.
	for _, call := range []string{"link(echo)", "unlink(echo)", "exit(echo, enough)", "link({echo, node()})"} {
		require.Contains(t, e.Ask("%s", call), "badarg", call)
	}
}
