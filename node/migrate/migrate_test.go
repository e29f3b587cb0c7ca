package migrate_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/migrate"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
)

// ledger is the state of the processes in the tests: the messages that they have had from each sender.
type ledger struct {
	Last   map[string]int
	Wrong  []string
	Others []any
	Refs   []node.Ref
	Peer   node.PID
}

// entry is a message of a sender: its numbers begin at 1 and have no gaps.
type entry struct {
	From string
	N    int
}

type (
	what struct{ genserver.Returns[ledger] }
	do   struct {
		Verb string
		PID  node.PID
		Ref  node.Ref
	}
)

func init() {
	node.RegisterTypes(node.TypeOf[ledger]("mt.ledger"), node.TypeOf[entry]("mt.entry"), node.TypeOf[what]("mt.what"),
		node.TypeOf[do]("mt.do"))
}

// note records an entry.
func (l *ledger) note(e entry) {
	if l.Last == nil {
		l.Last = map[string]int{}
	}
	if l.Last[e.From]+1 != e.N {
		l.Wrong = append(l.Wrong, fmt.Sprintf("%v after %d", e, l.Last[e.From]))
	}
	l.Last[e.From] = e.N
}

// counter is a server with a ledger.
var counter = genserver.Define(
	genserver.OnInfo(func(l *ledger, _ *genserver.Context, e entry) error { l.note(e); return nil }),
	genserver.OnCast(func(l *ledger, _ *genserver.Context, e entry) error { l.note(e); return nil }),
	genserver.OnAnyCall(func(l *ledger, _ *genserver.Context, e entry) (int, error) { l.note(e); return e.N, nil }),
	genserver.OnCall(func(l *ledger, _ *genserver.Context, _ what) (ledger, error) {
		now := *l
		now.Last = maps.Clone(l.Last) // the caller may be on this node
		return now, nil
	}),
	genserver.OnAnyCall(func(l *ledger, c *genserver.Context, d do) (node.Ref, error) {
		switch d.Verb {
		case "link":
			c.Link(d.PID)
		case "unlink":
			c.Unlink(d.PID)
		case "monitor":
			return c.Monitor(d.PID), nil
		case "demonitor":
			if !c.DemonitorFlush(d.Ref) {
				return node.Ref{}, genserver.ErrReplyLater
			}
		case "trap":
			c.TrapExit(true)
		case "alias":
			return c.Alias(), nil
		case "timer":
			_, err := c.SendAfter(1<<40, c.Self(), 1)
			return node.Ref{}, err
		case "stop":
			c.Stop(wire.Atom("asked"))
		}
		return d.Ref, nil
	}),
	genserver.OnInfo(func(l *ledger, _ *genserver.Context, m node.Exited) error { l.Others = append(l.Others, m); return nil }),
	genserver.OnInfo(func(l *ledger, _ *genserver.Context, m node.Down) error { l.Others = append(l.Others, m); return nil }),
)

func kinds() []migrate.Kind {
	return []migrate.Kind{{Name: "counter", New: func() node.Actor { return counter.New(nil) }}}
}

// cluster is a set of nodes that move processes among them, over TCP connections that can be cut.
type cluster struct {
	*clustertest.Cluster
	t     *testing.T
	wire  clustertest.Cutter
	with  node.Distribution // of each node
	step  func(c *node.Context, at string)
	nodes []*node.Node
}

func newCluster(t *testing.T) *cluster { return clusterOf(t, clustertest.NewCluster(t)) }

func clusterOf(t *testing.T, of *clustertest.Cluster) *cluster {
	c := &cluster{Cluster: of, t: t}
	c.with.Transport = &c.wire
	return c
}

func (c *cluster) config(name string) node.Config { return c.ConfigWith(name, c.with) }

// start starts a node that processes can move to and from.
func (c *cluster) start(name string) *node.Node {
	n := nodetest.Start(c.t, c.config(name))
	require.NoError(c.t, migrate.StartStepping(c.t.Context(), n, c.step, 10*time.Millisecond, kinds()))
	c.nodes = append(c.nodes, n)
	return n
}

func spawn(t *testing.T, n *node.Node, o node.Options) node.PID {
	pid, err := counter.Start(testkit.Context(t), n, &ledger{}, o)
	require.NoError(t, err)
	return pid
}

func ledgerOf(t *testing.T, from node.Caller, to node.Dest) ledger {
	l, err := node.Call[ledger](testkit.Context(t), from, to, what{})
	require.NoError(t, err)
	return l
}

func tell(t *testing.T, from node.Caller, to node.Dest, d do) node.Ref {
	r, err := node.Call[node.Ref](testkit.Context(t), from, to, d)
	require.NoError(t, err)
	return r
}

// A process moves to another node with its state and its name, and messages to its old PID reach it.
func TestMove(t *testing.T) {
	clustertest.EachProtocol(t, func(t *testing.T, of *clustertest.Cluster) {
		c := clusterOf(t, of)
		a, b := c.start("a"), c.start("b")
		old := spawn(t, a, node.Options{Name: "counter", Label: "the counter"})
		require.NoError(t, a.Send(old, entry{"x", 1}))
		now, err := migrate.To(testkit.Context(t), a, old, b.Name())
		require.NoError(t, err)
		require.Equal(t, b.Name(), now.Node())
		require.NoError(t, a.Send(old, entry{"x", 2}))
		require.NoError(t, a.Send(old, node.Cast[entry]{Body: entry{"x", 3}}))
		for _, to := range []node.Dest{old, now, node.Atom("counter")} {
			l := ledgerOf(t, a, to)
			assert.Equal(t, map[string]int{"x": 3}, l.Last)
			assert.Empty(t, l.Wrong)
		}
		assert.Equal(t, map[string]int{"x": 3}, ledgerOf(t, b, node.Atom("counter")).Last)
		info, err := a.Info(old)
		require.NoError(t, err)
		assert.Equal(t, "forwarder to "+now.String(), info.Behaviour)
		info, err = b.Info(now)
		require.NoError(t, err)
		assert.Equal(t, "*migrate_test.ledger", info.Behaviour)
		assert.Equal(t, "the counter", info.Label)

		back, err := migrate.To(testkit.Context(t), b, now, a.Name())
		require.NoError(t, err)
		assert.Equal(t, old, back, "it has its old PID again")
		require.NoError(t, a.Send(old, entry{"x", 4}))
		require.NoError(t, a.Send(old, entry{"x", 5}))
		l := ledgerOf(t, b, now)
		assert.Equal(t, map[string]int{"x": 5}, l.Last)
		assert.Empty(t, l.Wrong)
	})
}
