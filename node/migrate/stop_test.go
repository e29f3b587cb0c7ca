package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/migrate"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// unreachable is TCP that can be cut until it is healed.
type unreachable struct {
	dist.TCP
	mu    sync.Mutex
	off   bool
	conns []net.Conn
}

func (u *unreachable) Dial(ctx context.Context, addr string, peer wire.Atom) (net.Conn, error) {
	conn, err := u.TCP.Dial(ctx, addr, peer)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.off {
		conn.Close()
		return nil, errors.New("cut off")
	}
	u.conns = append(u.conns, conn)
	return conn, nil
}

// set cuts all connections until further notice, or heals them.
func (u *unreachable) set(off bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.off = off
	for _, conn := range u.conns {
		conn.Close()
	}
	u.conns = nil
}

// steps lists the steps of a move, in their order except for arrival asked.
var steps = []string{"source asks", "arrival asked", "source ready", "source commits", "source committed",
	"arrival commits", "arrival starts"}

// target is a node a, whose process has had three entries, and a node b that the process is to move to.
type target struct {
	c   *cluster
	a   *node.Node
	b   atomic.Pointer[node.Node]
	pid node.PID
	log logtest.Text
}

// newTarget lets fault happen once, at a step.
func newTarget(t *testing.T, at string, back bool, wire dist.Transport, fault func(x *node.Context, g *target)) *target {
	g := &target{}
	var armed atomic.Bool
	g.c = newCluster(t)
	g.c.Log = g.log.Logger()
	if wire != nil {
		g.c.with.Transport = wire
	}
	g.c.step = func(x *node.Context, step string) {
		if step == at && armed.CompareAndSwap(true, false) {
			fault(x, g)
		}
	}
	g.a = g.c.start("a")
	g.b.Store(g.c.start("b"))
	if b := g.b.Load(); back {
		g.pid = move(t, b, spawn(t, b, node.Options{Name: "counter"}), g.a)
	} else {
		g.pid = spawn(t, g.a, node.Options{Name: "counter"})
	}
	for k := range 3 {
		require.NoError(t, g.a.Send(g.pid, entry{"x", k + 1}))
	}
	armed.Store(true)
	return g
}

// renew starts a new node in the place of b.
func (g *target) renew() { g.b.Store(g.c.start("b")) }

// behaves waits until Info shows, for the process on a, a behaviour with the prefix as.
func (g *target) behaves(t *testing.T, as string) {
	t.Helper()
	testkit.Until(t, func() string {
		if i, err := g.a.Info(g.pid); err != nil || !strings.HasPrefix(i.Behaviour, as) {
			return fmt.Sprint(i.Behaviour, " ", err)
		}
		return ""
	})
}

// whole waits until the process, which is on n, has had that many entries, and checks that it has had each once.
func whole(t *testing.T, n *node.Node, pid node.PID, entries int) {
	t.Helper()
	var l ledger
	testkit.Until(t, func() string {
		if l = ledgerOf(t, n, pid); l.Last["x"] < entries {
			return fmt.Sprint("entries: ", l.Last)
		}
		return ""
	})
	assert.Equal(t, map[string]int{"x": entries}, l.Last)
	assert.Empty(t, l.Wrong)
}

const inDoubt = "migrate.mover to b@127.0.0.1: in doubt"

// The node that a process moves to stops, at each step. The process goes on where it was, with all its messages, or
// waits; it ends with the other node only if it has started there.
func TestTargetStops(t *testing.T) {
	for _, step := range steps {
		for _, back := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/back=%v", step, back), func(t *testing.T) {
				t.Parallel()
				stopped := make(chan error, 1)
				g := newTarget(t, step, back, nil, func(x *node.Context, g *target) {
					b := g.b.Load()
					go func() { stopped <- b.Stop() }() // ends with Stop
					if x.Node() == b {
						<-x.Context().Done()
					} else {
						assert.NoError(t, testkit.Receive(t, stopped))
						stopped <- nil
					}
				})
				now, err := migrate.To(testkit.Context(t), g.a, g.pid, "b@127.0.0.1")
				require.NoError(t, testkit.Receive(t, stopped))
				t.Log(now, err)
				if err == nil { // it has started there, and ended with the node
					testkit.Until(t, func() string {
						if g.a.IsAlive(g.pid) {
							return "the forwarder is alive"
						}
						return ""
					})
					require.Contains(t, []string{"source committed", "arrival commits", "arrival starts"}, step)
					return
				}
				require.NoError(t, g.a.Send(g.pid, entry{"x", 4}))
				if errors.Is(err, migrate.ErrUnknown) {
					g.behaves(t, inDoubt)
					g.renew()
				}
				whole(t, g.a, g.pid, 4)
			})
		}
	}
}

// The connection to the node that a process moves to is cut, at each step, and stays cut. The process goes on where it
// was if it has not sent the commit. Otherwise it waits: To says so, Info shows it, and the log has it once. When the
// connection is back, there is one process, which has had each message once.
func TestTargetUnreachable(t *testing.T) {
	for _, step := range steps {
		for _, back := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/back=%v", step, back), func(t *testing.T) {
				t.Parallel()
				var wire unreachable
				g := newTarget(t, step, back, &wire, func(*node.Context, *target) { wire.set(true) })
				_, err := migrate.To(testkit.Context(t), g.a, g.pid, "b@127.0.0.1")
				require.Error(t, err)
				require.NoError(t, g.a.Send(g.pid, entry{"x", 4}))
				if !errors.Is(err, migrate.ErrUnknown) {
					require.Contains(t, steps[:4], step)
					whole(t, g.a, g.pid, 4)
					return
				}
				require.Contains(t, steps[2:], step) // a source that has its answer sends the commit before it notices
				g.behaves(t, inDoubt)
				wire.set(false)
				var at []node.PID
				testkit.Until(t, func() string {
					moving := false
					if at, moving = found(g.c.nodes); moving || len(at) != 1 {
						return fmt.Sprint("moving ", moving, ", processes ", at)
					}
					return ""
				})
				n := g.a
				if at[0].Node() != n.Name() {
					n = g.b.Load()
				}
				whole(t, n, at[0], 4)
				assert.Equal(t, 1, strings.Count(g.log.String(), "does not know whether it has moved"))
				n.Exit(at[0], node.Kill)
				testkit.Until(t, func() string {
					if g.a.IsAlive(g.pid) {
						return "the forwarder goes on without the process"
					}
					return ""
				})
			})
		}
	}
}

// A process in doubt can be killed, or gets its answer from a new node of the same name; the end of ctx ends To before
// that.
func TestDoubtEnds(t *testing.T) {
	for _, kill := range []bool{false, true} {
		t.Run(fmt.Sprintf("kill=%v", kill), func(t *testing.T) {
			var wire unreachable
			g := newTarget(t, "source committed", false, &wire, func(*node.Context, *target) { wire.set(true) })
			ctx, cancel := context.WithCancel(testkit.Context(t))
			done := make(chan error, 1)
			go func() { // ends with To
				_, err := migrate.To(ctx, g.a, g.pid, "b@127.0.0.1")
				done <- err
			}()
			g.behaves(t, inDoubt)
			cancel()
			require.ErrorIs(t, testkit.Receive(t, done), context.Canceled)
			_, err := migrate.To(testkit.Context(t), g.a, g.pid, "b@127.0.0.1")
			require.ErrorIs(t, err, migrate.ErrMoving)
			if kill {
				h := nodetest.NewProbe(t, g.a)
				ref := h.Monitor(g.pid)
				g.a.Exit(g.pid, node.Kill)
				require.Equal(t, node.Killed, h.ExpectDown(ref).Reason)
				return
			}
			require.NoError(t, g.b.Load().Stop())
			wire.set(false)
			g.renew()
			whole(t, g.a, g.pid, 3)
		})
	}
}
