package nodetest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/actornode/actornode/node"
)

// Cluster is a number of nodes in the test's program that find each other, and no others. The network between them uses no
// sockets, so that it works in a bubble, if it is made there.
//
// Its faults are those of an IP network below TCP: what is sent while a direction is cut, or delayed, arrives later, in order.
// The nodes notice a cut as they do elsewhere, when nothing has come for Distribution.Timing.TickTime, and a broken connection
// at once.
type Cluster struct {
	t     testing.TB
	net   *network
	nodes map[node.Atom]*node.Node
}

// NewCluster starts nodes with the names, and connects all of them to each other. A name without a host gets 127.0.0.1. They
// are stopped when the test ends.
func NewCluster(t testing.TB, names ...string) *Cluster {
	t.Helper()
	c := &Cluster{t, newNetwork(), make(map[node.Atom]*node.Node)}
	var all []*node.Node
	for _, name := range names {
		all = append(all, c.Start(node.Config{Name: node.Atom(name)}))
	}
	c.Connect(all...)
	return c
}

// Start starts one more node, which it does not connect, with the configuration of cfg. What cfg.Distribution leaves out is as
// for the others; its Finder, Transport and listeners are those of the cluster.
func (c *Cluster) Start(cfg node.Config) *node.Node {
	c.t.Helper()
	cfg = c.Config(cfg)
	if n := c.nodes[cfg.Name]; n != nil && n.Err() == nil {
		c.t.Fatalf("the cluster has a node %s already", cfg.Name)
	}
	n := Start(c.t, cfg)
	c.nodes[cfg.Name] = n
	return n
}

// Config returns the configuration with which [Cluster.Start] starts a node, for a program that starts its nodes itself. The
// node's addresses are at the host in its name if that is an IP address, and at 127.0.0.1 otherwise.
func (c *Cluster) Config(cfg node.Config) node.Config {
	cfg.Name = node.Atom(fullName(string(cfg.Name)))
	d := node.Distribution{}
	if cfg.Distribution != nil {
		d = *cfg.Distribution
	}
	d.Cookie = cmp.Or(d.Cookie, "of the test")
	d.Finder, d.Transport = c.net, transport{c.net, cfg.Name}
	cfg.Distribution = &d
	return Config(c.t, cfg)
}

// Node returns the node with a name, with or without its host.
func (c *Cluster) Node(name string) *node.Node {
	c.t.Helper()
	n := c.nodes[node.Atom(fullName(name))]
	if n == nil {
		var all []string
		for name := range c.nodes {
			all = append(all, string(name))
		}
		slices.Sort(all)
		c.t.Fatalf("the cluster has no node %q, but %s", name, strings.Join(all, ", "))
	}
	return n
}

// Connect connects all of the nodes to each other.
func (c *Cluster) Connect(nodes ...*node.Node) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), Timeout)
	defer cancel()
	for i, a := range nodes {
		for _, b := range nodes[i+1:] {
			if err := errors.Join(a.Ping(ctx, b.Name()), b.Ping(ctx, a.Name())); err != nil {
				c.t.Fatalf("%s and %s do not connect: %v", a.Name(), b.Name(), err)
			}
		}
	}
}

// Cut cuts both directions between two nodes.
func (c *Cluster) Cut(a, b *node.Node) {
	c.CutFrom(a, b)
	c.CutFrom(b, a)
}

// CutFrom cuts one direction: nothing that from sends arrives at to, but what to sends arrives. No new connection can be made
// between them.
func (c *Cluster) CutFrom(from, to *node.Node) {
	c.net.change(from.Name(), to.Name(), func(v *way) { v.cut = true })
}

// Heal ends Cut and CutFrom, in both directions.
func (c *Cluster) Heal(a, b *node.Node) {
	c.net.change(a.Name(), b.Name(), func(v *way) { v.cut = false })
	c.net.change(b.Name(), a.Name(), func(v *way) { v.cut = false })
}

// Delay makes what from sends to to take d from now on. Make two calls for both directions.
func (c *Cluster) Delay(from, to *node.Node, d time.Duration) {
	c.net.change(from.Name(), to.Name(), func(v *way) { v.delay = d })
}

// Break breaks the connections between two nodes, as a reset does: what is on its way is lost. The nodes notice it soon
// after, on goroutines of their own, and may connect again.
func (c *Cluster) Break(a, b *node.Node) { c.net.reset(a.Name(), b.Name()) }

// fullName returns name with a host.
func fullName(name string) string {
	if strings.Contains(name, "@") {
		return name
	}
	return name + "@127.0.0.1"
}
