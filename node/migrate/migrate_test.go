package migrate_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/migrate"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// ledger is the state of the processes of the tests: what they have had from each sender.
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

// note takes an entry down.
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
	genserver.OnRequest(func(l *ledger, _ *genserver.Context, e entry) (int, error) { l.note(e); return e.N, nil }),
	genserver.OnCall(func(l *ledger, _ *genserver.Context, _ what) (ledger, error) {
		now := *l
		now.Last = maps.Clone(l.Last) // the caller may be of this node
		return now, nil
	}),
	genserver.OnRequest(func(l *ledger, c *genserver.Context, d do) (node.Ref, error) {
		switch d.Verb {
		case "link":
			c.Link(d.PID)
		case "unlink":
			c.Unlink(d.PID)
		case "monitor":
			return c.Monitor(d.PID), nil
		case "demonitor":
			if !c.Demonitor(d.Ref, true) {
				return node.Ref{}, genserver.ErrReplyLater
			}
		case "trap":
			c.TrapExit(true)
		case "alias":
			return c.Alias(false), nil
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

// cutter is TCP whose connections can be cut.
type cutter struct {
	dist.TCP
	mu    sync.Mutex
	conns []net.Conn
}

func (c *cutter) Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn, err := c.TCP.Dial(ctx, addr, peer)
	if err == nil {
		c.conns = append(c.conns, conn)
	}
	return conn, err
}

// cut closes all connections.
func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

// cluster is some nodes that move processes among them.
type cluster struct {
	t      *testing.T
	places nodetest.Places
	wire   cutter
	erlang bool // Erlang's protocol alone
	step   func(c *node.Context, at string)
	nodes  []*node.Node
	log    *slog.Logger

	transport dist.Transport // nil: wire
	queue     int            // of node.Distribution
	limits    node.ClusterLimits
}

func (c *cluster) config(name node.Atom) node.Config {
	d := &node.Distribution{Cookie: "secret", Finder: &c.places, Transport: &c.wire, Queue: c.queue,
		Cluster: c.limits}
	if c.transport != nil {
		d.Transport = c.transport
	}
	if c.erlang {
		var err error
		d.Protocols, err = d.ProtocolsByName("erlang")
		require.NoError(c.t, err)
	}
	return node.Config{Name: name, Distribution: d, Log: c.log}
}

func (c *cluster) start(name node.Atom) *node.Node {
	n := nodetest.Start(c.t, c.config(name))
	require.NoError(c.t, migrate.StartStepping(c.t.Context(), n, c.step, 10*time.Millisecond, kinds()))
	c.nodes = append(c.nodes, n)
	return n
}

func pair(t *testing.T) (c *cluster, a, b *node.Node) {
	c = &cluster{t: t}
	return c, c.start("a@127.0.0.1"), c.start("b@127.0.0.1")
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

// A process goes to another node with its state and its name, and what is sent to its old PID reaches it.
func TestMove(t *testing.T) {
	for _, erlang := range []bool{false, true} {
		t.Run(fmt.Sprintf("erlang=%v", erlang), func(t *testing.T) {
			c := &cluster{t: t, erlang: erlang}
			a, b := c.start("a@127.0.0.1"), c.start("b@127.0.0.1")
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
}
