package pg_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
	"github.com/actornode/actornode/node/pg"
	"github.com/actornode/actornode/wire"
)

// peer is a node with a scope, and a handle on it.
type peer struct {
	*node.Node
	t     testing.TB
	self  *node.Process
	scope *pg.Scope
}

// startPeer starts a node, in cluster c unless that is nil, and, unless its name is "-", a scope.
func startPeer(t testing.TB, c *clustertest.Cluster, name string, cfg pg.Config) *peer {
	t.Helper()
	if c == nil {
		return newPeer(t, nodetest.Start(t, node.Config{Name: node.Atom(name + "@127.0.0.1")}), cfg)
	}
	return newPeer(t, c.Start(name), cfg)
}

func newPeer(t testing.TB, n *node.Node, cfg pg.Config) *peer {
	t.Helper()
	p := &peer{Node: n, t: t, self: nodetest.NewProbe(t, n).Process}
	if cfg.Name != "-" {
		p.start(cfg)
	}
	return p
}

func (p *peer) start(cfg pg.Config) {
	p.t.Helper()
	if cfg.Seek == 0 {
		cfg.Seek = 20 * time.Millisecond
	}
	var err error
	p.scope, err = pg.Start(testkit.Context(p.t), p, cfg)
	require.NoError(p.t, err)
}

func (p *peer) connect(q node.Atom) {
	p.t.Helper()
	require.NoError(p.t, p.Connect(testkit.Context(p.t), q))
}

// spawn starts processes that wait until they are ended.
func (p *peer) spawn(n int) (pids []node.PID) {
	p.t.Helper()
	for range n {
		pid, err := p.Spawn(node.ActorFunc(func(*node.Context, any) error { return nil }))
		require.NoError(p.t, err)
		pids = append(pids, pid)
	}
	return pids
}

func (p *peer) join(group any, pids ...node.PID) {
	p.t.Helper()
	require.NoError(p.t, p.scope.Join(testkit.Context(p.t), p, group, pids...))
}

func (p *peer) leave(group any, pids ...node.PID) {
	p.t.Helper()
	require.NoError(p.t, p.scope.Leave(testkit.Context(p.t), p, group, pids...))
}

// sees waits until exactly the processes of want are in the group, as p sees it.
func (p *peer) sees(group any, want ...node.PID) {
	p.t.Helper()
	ref, got, err := p.scope.Monitor(testkit.Context(p.t), p.self, group)
	require.NoError(p.t, err)
	for want = sorted(want); !slices.Equal(sorted(got), want); got = p.scope.Members(group) {
		_, err := p.self.ReceiveWithin(testkit.Limit, func(m any) bool { c, ok := m.(pg.Change); return ok && c.Ref == ref })
		require.NoError(p.t, err, "%s, connected to %v, sees %v in %v, not %v", p.Name(), p.AllNodes(), got, group, want)
	}
	was, err := p.scope.Demonitor(testkit.Context(p.t), p.self, ref)
	require.NoError(p.t, err)
	require.True(p.t, was)
}

func sorted(pids []node.PID) []node.PID {
	return slices.SortedFunc(slices.Values(pids), func(a, b node.PID) int { return wire.Compare(a, b) })
}

// view returns all that a peer sees, as text, so that two views can be compared.
func (p *peer) view() map[string]string {
	all := map[string]string{}
	for _, g := range p.scope.Groups() {
		all[wire.Format(g)] = text(p.scope.Members(g))
	}
	return all
}

// text renders pids so that two lives of a node differ.
func text(pids []node.PID) (s string) {
	for _, p := range sorted(pids) {
		s += fmt.Sprintf("%v/%d ", p, p.Creation())
	}
	return s
}

// alike waits until all views are the same.
func alike(t testing.TB, views ...func() map[string]string) {
	t.Helper()
	testkit.Until(t, func() string {
		first := views[0]()
		for _, v := range views[1:] {
			if other := v(); !maps.Equal(first, other) {
				return fmt.Sprintf("one sees %v, another %v", first, other)
			}
		}
		return ""
	})
}
