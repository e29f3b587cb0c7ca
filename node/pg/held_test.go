package pg_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/wire"
)

// A scope takes from another node what the limits allow, logs once that it refuses more, and what is within the limits
// goes on as before.
func TestScopeHolds(t *testing.T) {
	c, log := clustertest.NewCluster(t), new(logtest.Records)
	cfg := c.Config("a")
	cfg.Log = slog.New(log)
	a := newPeer(t, nodetest.Start(t, cfg), pg.Config{Members: 20, Groups: 8})
	b := startPeer(t, c, "b", pg.Config{})
	b.connect(a.Name())
	pids := b.spawn(15)
	b.join("g", pids[:9]...)
	a.sees("g", pids[:9]...)
	b.join("g", pids[9:]...)                    // there is room for one of them
	b.join(strings.Repeat("x", 5<<10), pids[0]) // it counts for 6 groups
	a.sees("g", pids[:10]...)
	use := func(i int) observe.Limit { return a.scope.Limits()[i] }
	refuses := func(i int) {
		t.Helper()
		testkit.Until(t, func() string {
			if use(i).Refused == 0 {
				return "nothing is refused"
			}
			return ""
		})
	}
	refuses(0)
	testkit.Until(t, func() string { // the count follows the table
		if use(1).Used != 1 {
			return "no group counts"
		}
		return ""
	})
	assert.Equal(t, [3]any{"pg_members", int64(20), int64(10)}, [3]any{use(0).Name, use(0).Max, use(0).Used})
	assert.Equal(t, [3]any{"pg_groups", int64(8), int64(1)}, [3]any{use(1).Name, use(1).Max, use(1).Used})
	b.leave("g", pids...)
	a.sees("g")
	for i := range 4 {
		b.join(i, pids[0])
		a.sees(i, pids[0])
	}
	b.join("fifth", pids[0])
	refuses(1)
	assert.Len(t, a.scope.Groups(), 4)
	for i := range 4 {
		b.leave(i, pids[0])
		a.sees(i)
	}
	b.join("sixth", pids[0])
	a.sees("sixth", pids[0])
	lines := log.Take("a request of a peer was refused: it has too many members or groups in this scope")
	require.Len(t, lines, 1)
	assert.Equal(t, "b@127.0.0.1", lines[0]["peer"])

	// Requests from other nodes.
	ask := func(request any) string {
		v, err := node.Call[any](testkit.Context(t), b.self, node.At{Name: "pg", Node: a.Name()}, request)
		if err != nil {
			return err.Error()
		}
		return wire.Format(v)
	}
	mine := a.spawn(1)[0]
	joins := func(group any) any { return wire.Tuple{wire.Atom("join_local"), group, mine} }
	assert.Equal(t, "ok", ask(joins("local")))
	const tooMany = "pg: other nodes have reached their limit of members or groups in this scope"
	assert.Equal(t, tooMany, ask(joins(strings.Repeat("x", 9<<10))))
	assert.Equal(t, tooMany, ask(wire.Tuple{wire.Atom("monitor"), strings.Repeat("x", 9<<10)}))
	a.join(strings.Repeat("x", 9<<10), mine) // the program itself may do this

	// The end of the connection gives everything back.
	a.Disconnect(b.Name())
	testkit.Until(t, func() string {
		if use(0).Used != 0 || use(1).Used != 0 {
			return "it is still there"
		}
		return ""
	})
}

// A scope refuses a limit that makes no sense.
func TestBadLimits(t *testing.T) {
	_, err := pg.New(pg.Config{Members: -1})
	require.ErrorContains(t, err, "Config.Members")
	_, err = pg.New(pg.Config{Groups: -1})
	require.Error(t, err)
}
