package node_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/clustertest"
	"github.com/actornode/actornode/internal/testkit/logtest"
	"github.com/actornode/actornode/internal/testkit/porttest"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/discovery"
	"github.com/actornode/actornode/node/nodetest"
)

// quick is a mesh for tests: pauses of tens of milliseconds.
func quick() *discovery.Mesh {
	return &discovery.Mesh{Interval: 20 * time.Millisecond, Backoff: 50 * time.Millisecond, Yield: 20 * time.Millisecond}
}

// meshed says which connections are missing until every node is connected to every other.
func meshed(nodes ...*node.Node) string {
	for _, a := range nodes {
		for _, b := range nodes {
			if a != b && !slices.Contains(a.AllNodes(), b.Name()) {
				return fmt.Sprintf("%s is not connected to %s", a.Name(), b.Name())
			}
		}
	}
	return ""
}

func startMesh(t *testing.T, name node.Atom, places discovery.Finder, log *logtest.Text) *node.Node {
	t.Helper()
	n, err := node.Start(meshConfig(name, places, log))
	require.NoError(t, err)
	return n
}

func meshConfig(name node.Atom, places discovery.Finder, log *logtest.Text) node.Config {
	return node.Config{Name: name, Log: log.Logger(), Workers: 1,
		Distribution: &node.Distribution{Cookie: "secret", Finder: places, Mesh: quick()}}
}

// Nodes over TCP, as they join, with one that dies and comes back elsewhere.
func TestMesh(t *testing.T) {
	places, log := &clustertest.Places{}, &logtest.Text{}
	var nodes []*node.Node
	for i := range 8 {
		n := startMesh(t, node.Atom(fmt.Sprintf("n%d@127.0.0.1", i)), places, log)
		t.Cleanup(func() { n.Stop() })
		nodes = append(nodes, n)
	}
	testkit.Until(t, func() string { return meshed(nodes...) })
	testkit.Until(t, func() string { // a connection is logged once it is up
		if ups := strings.Count(log.String(), "node up"); ups < 8*7 {
			return fmt.Sprint(ups, " ends of connections are logged")
		}
		return ""
	})
	assert.Equal(t, 8*7, strings.Count(log.Take(), "node up"), "each pair has connected once")

	for _, victim := range []int{0, 7} { // the smallest name, which dials; the greatest, which is dialed
		was := nodes[victim].Addr().String()
		require.NoError(t, nodes[victim].Stop())
		nodes[victim] = startMesh(t, nodes[victim].Name(), places, log)
		t.Cleanup(func() { nodes[victim].Stop() })
		testkit.Until(t, func() string { return meshed(nodes...) })
		assert.NotEqual(t, was, nodes[victim].Addr().String())
	}
	nodes[3].Disconnect(nodes[4].Name())
	testkit.Until(t, func() string { return meshed(nodes...) })
}

// A node that is no longer listed stays connected, and is not connected again.
func TestMeshNotListed(t *testing.T) {
	places, log := &clustertest.Places{}, &logtest.Text{}
	var hides [2]*hiding // each node has its own
	for i := range hides {
		hides[i] = &hiding{Finder: places, names: []node.Atom{"a@127.0.0.1", "b@127.0.0.1"}}
	}
	a, b := startMesh(t, "a@127.0.0.1", hides[0], log), startMesh(t, "b@127.0.0.1", hides[1], log)
	defer a.Stop()
	defer b.Stop()
	testkit.Until(t, func() string { return meshed(a, b) })
	ask := func() { // both ask, and they have heard the answers to all questions but the last
		for _, hide := range hides {
			asked := hide.asked.Load()
			testkit.Until(t, func() string {
				if hide.asked.Load() < asked+5 {
					return "the list is not asked for"
				}
				return ""
			})
		}
	}
	for _, hide := range hides {
		hide.hidden.Store(true)
	}
	ask()
	assert.Empty(t, meshed(a, b))
	require.True(t, a.Disconnect(b.Name()))
	ask()
	assert.Empty(t, a.AllNodes())
	for _, hide := range hides {
		hide.hidden.Store(false)
	}
	testkit.Until(t, func() string { return meshed(a, b) })
}

// hiding lists names, or none.
type hiding struct {
	discovery.Finder
	names  []node.Atom
	hidden atomic.Bool
	asked  atomic.Int64
}

func (h *hiding) List(context.Context) ([]node.Atom, error) {
	h.asked.Add(1)
	if h.hidden.Load() {
		return nil, nil
	}
	return h.names, nil
}

// Failures are logged once for each node and cause; Stop does not wait for any node.
func TestMeshLogsOnce(t *testing.T) {
	places, log := &clustertest.Places{}, &logtest.Text{}
	port := porttest.Reserve(t)
	places.Put("gone@127.0.0.1", []discovery.Endpoint{{Addr: fmt.Sprint("127.0.0.1:", port)}})
	count := &counting{Places: places}
	n := startMesh(t, "a@127.0.0.1", count, log)
	testkit.Until(t, func() string {
		if count.finds.Load() < 10 {
			return "not tried often"
		}
		return ""
	})
	require.NoError(t, n.Stop())
	assert.Equal(t, 1, strings.Count(log.String(), "cannot connect to a node of the mesh"), log.String())
	assert.Contains(t, log.String(), "gone@127.0.0.1")
	assert.Contains(t, log.String(), "refused")
}

// counting counts how often a node is looked for.
type counting struct {
	*clustertest.Places
	finds atomic.Int64
}

func (c *counting) Find(ctx context.Context, name node.Atom) ([]discovery.Endpoint, error) {
	c.finds.Add(1)
	return c.Places.Find(ctx, name)
}

// A finder that reports when its list changes is asked then, not only every Interval.
func TestMeshWatches(t *testing.T) {
	places, log := &clustertest.Places{}, &logtest.Text{}
	told := &telling{Places: places, watched: make(chan func(), 1)}
	cfg := meshConfig("a@127.0.0.1", told, log)
	cfg.Distribution.Mesh.Interval = time.Hour
	a := nodetest.Start(t, cfg)
	changed := testkit.Receive(t, told.watched)
	b := nodetest.Start(t, node.Config{Name: "b@127.0.0.1", Distribution: &node.Distribution{Cookie: "secret", Finder: places}})
	changed()
	testkit.Until(t, func() string { return meshed(a, b) })
}

type telling struct {
	*clustertest.Places
	watched chan func()
}

func (w *telling) Watch(changed func()) func() { w.watched <- changed; return func() {} }

func TestMeshRefused(t *testing.T) {
	for _, c := range []struct {
		f    discovery.Finder
		mesh discovery.Mesh
		says string
	}{
		{struct{ discovery.Finder }{&clustertest.Places{}}, discovery.Mesh{}, "needs a Finder that can list"},
		{&discovery.EPMD{}, discovery.Mesh{}, "without Hosts lists none"},
		{&discovery.Static{}, discovery.Mesh{Dials: -1}, "must not be negative"},
		{&discovery.Static{}, discovery.Mesh{Yield: -1}, "must not be negative"},
	} {
		_, err := node.Start(node.Config{Name: "a@127.0.0.1", Distribution: &node.Distribution{Cookie: "x", Finder: c.f, Mesh: &c.mesh}})
		require.ErrorContains(t, err, c.says)
	}
}

// OTP nodes of a port mapper are connected as they start, and again after a restart.
func TestMeshErl(t *testing.T) {
	c := newOTPHost(t)
	first := c.erl("e1", "secret")
	cfg := c.config("go")
	cfg.Distribution.Finder = &discovery.EPMD{Config: c.mapper, Hosts: []string{"127.0.0.1"}}
	cfg.Distribution.Mesh = quick()
	n := c.start(cfg)
	connected := func(names ...node.Atom) func() string {
		return func() string {
			if got := n.AllNodes(); !slices.Equal(got, names) {
				return fmt.Sprint("connected to ", got)
			}
			return ""
		}
	}
	testkit.Until(t, connected(first.name))
	second := c.erl("e2", "secret")
	testkit.Until(t, connected(first.name, second.name))
	first.Kill()
	testkit.Until(t, connected(second.name))
	first = c.erl("e1", "secret")
	testkit.Until(t, connected(first.name, second.name))
	first.until("nodes(hidden)", "['"+string(n.Name())+"']")
}
