package global_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/global"
)

// has waits until a node knows the owner of a name; the zero PID means none.
func has(t testing.TB, n *node.Node, name any, want node.PID) {
	t.Helper()
	testkit.Until(t, func() string {
		if pid, _ := global.Whois(n, name); pid != want {
			return string(n.Name()) + " knows " + pid.String()
		}
		return ""
	})
}

func TestNames(t *testing.T) {
	c := newCluster(t)
	a, b := c.start("a"), c.start("b")
	ctx := testkit.Context(t)
	early := sleeper(t, a)
	require.NoError(t, global.Register(ctx, a, "early", early, global.Options{}))
	c.connect(b, a.Name())
	has(t, b, "early", early)

	pid := sleeper(t, b)
	require.NoError(t, global.Register(ctx, a, node.Atom("x"), pid, global.Options{}))
	has(t, a, node.Atom("x"), pid)
	has(t, b, node.Atom("x"), pid)
	assert.ErrorIs(t, global.Register(ctx, b, node.Atom("x"), early, global.Options{}), global.ErrTaken)
	assert.ErrorIs(t, global.Register(ctx, b, node.Atom("y"), pid, global.Options{}), global.ErrTaken, "it has a name")
	require.NoError(t, a.Send(node.Global(node.Atom("x")), "end"))
	has(t, a, node.Atom("x"), node.PID{})
	has(t, b, node.Atom("x"), node.PID{})
	assert.ErrorIs(t, a.Send(node.Global(node.Atom("x")), "end"), node.ErrNoName)

	require.NoError(t, global.Unregister(ctx, b, "early"))
	has(t, a, "early", node.PID{})
}
