package migrate_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/migrate"
)

// found returns where the processes of the tests are, and whether one of them is still about to move.
func found(nodes []*node.Node) (at []node.PID, moving bool) {
	for _, n := range nodes {
		for pid := range n.Inside(process.Key{}).Processes() {
			switch i, err := n.Info(pid); {
			case err != nil:
			case i.Behaviour == "*migrate_test.ledger":
				at = append(at, pid)
			case strings.HasPrefix(i.Behaviour, "migrate.arrival"), strings.HasPrefix(i.Behaviour, "migrate.mover"):
				moving = true
			}
		}
	}
	return at, moving
}

// faults are the faults to inject at a step, on the node and in the process whose step it is.
var faults = map[string]func(c *cluster, x *node.Context){
	"kill":       func(_ *cluster, x *node.Context) { x.Node().Exit(x.Self(), node.Kill) },
	"cut":        func(c *cluster, _ *node.Context) { c.wire.Cut() },
	"disconnect": func(c *cluster, _ *node.Context) { c.nodes[0].Disconnect(c.nodes[1].Name()) },
	// Both nodes know that the connection has ended: what the process does next makes another one.
	"reconnect": func(c *cluster, _ *node.Context) {
		c.nodes[0].Disconnect(c.nodes[1].Name())
		c.nodes[1].Disconnect(c.nodes[0].Name())
	},
}

// Whatever happens at whatever step of a move, there is one process afterwards, here or there, that has had each
// message once; there is none only if the process itself was killed.
func TestFaults(t *testing.T) {
	for _, step := range []string{"source asks", "arrival asked", "source ready", "source commits", "source committed",
		"arrival commits", "arrival starts", "source finishes"} {
		for fault, do := range faults {
			for _, back := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/back=%v", step, fault, back), func(t *testing.T) {
					faultAt(t, step, do, back, fault == "kill" && strings.HasPrefix(step, "source"))
				})
			}
		}
	}
}

func faultAt(t *testing.T, step string, fault func(c *cluster, x *node.Context), back, dies bool) {
	var armed atomic.Bool
	c := newCluster(t)
	c.step = func(x *node.Context, at string) {
		if at == step && armed.CompareAndSwap(true, false) {
			fault(c, x)
		}
	}
	a, b := c.start("a"), c.start("b")
	pid := spawn(t, a, node.Options{Name: "counter"})
	if back {
		pid = move(t, a, pid, b)
		a, b = b, a
	}
	for k := range 3 {
		require.NoError(t, a.Send(pid, entry{"x", k + 1}))
	}
	armed.Store(true)
	_, err := migrate.To(testkit.Context(t), a, pid, b.Name())
	require.False(t, armed.Load(), "the step was reached")
	if dies && step != "source finishes" {
		require.Error(t, err)
	}
	var at []node.PID
	testkit.Until(t, func() string {
		moving := false
		if at, moving = found(c.nodes); moving {
			return "the move goes on"
		}
		if dies && len(at) > 0 || !dies && len(at) == 0 {
			return fmt.Sprint("processes: ", at)
		}
		return ""
	})
	if dies {
		return
	}
	require.Len(t, at, 1)
	if err != nil {
		t.Log(err)
	}
	n := c.nodes[0]
	if at[0].Node() != n.Name() {
		n = c.nodes[1]
	}
	require.NoError(t, n.Send(at[0], entry{"x", 4}))
	l := ledgerOf(t, n, at[0])
	assert.Equal(t, map[string]int{"x": 4}, l.Last)
	assert.Empty(t, l.Wrong)
	if err == nil {
		assert.Equal(t, b.Name(), at[0].Node())
	} else if !errors.Is(err, migrate.ErrUnknown) {
		assert.Equal(t, a.Name(), at[0].Node())
	}
}
