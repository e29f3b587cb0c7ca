package storm

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/logtest"
)

// cluster has the nodes of a test and the network between them.
type cluster struct {
	t     testing.TB
	w     *network
	names []string // before the @
	kinds []string
	nodes []agent // nil: the node does not run
	log   logtest.Text
	asked time.Time // when nodes were last asked to connect
	came  time.Time // when the condition of the last wait came true
}

// How long a hang may last.
const (
	stuck   = 30 * time.Second  // how long two nodes may not share names before they count as hanging
	hanging = 2 * testkit.Limit // for everything, if some hang: a node of ours ends that in two to four minutes
)

func newCluster(t testing.TB, kinds []string, protocols ...string) *cluster {
	c := &cluster{t: t, w: newNetwork(t), kinds: kinds, nodes: make([]agent, len(kinds))}
	for i := range kinds {
		c.names = append(c.names, fmt.Sprintf("n%d", i))
		c.start(i, protocols...)
	}
	return c
}

// start starts a node; if it is one of this process, it uses these protocols with others.
func (c *cluster) start(i int, protocols ...string) {
	c.t.Helper()
	switch c.kinds[i] {
	case "erl":
		c.nodes[i] = startErl(c.t, c.w, c.names[i])
	case "child":
		c.nodes[i] = startChild(c.t, c.w, c.names[i], &c.log)
	default:
		a, err := startGo(c.names[i], c.w.mapper(c.names[i]), c.log.Logger().With("node", c.names[i]), protocols...)
		require.NoError(c.t, err)
		c.t.Cleanup(a.kill)
		c.nodes[i] = a
	}
}

func (c *cluster) full(i int) string { return c.names[i] + host }

// connect makes a node connect to another.
func (c *cluster) connect(i, j int) { c.nodes[i].do(command{Op: "connect", Node: c.full(j)}) }

// looks asks all running nodes for their views.
func (c *cluster) looks() map[int]view {
	all := map[int]view{}
	for i, n := range c.nodes {
		if n != nil {
			all[i] = n.look()
		}
	}
	return all
}

// busy says which node is not at rest: at rest each node shares names with all nodes that it is connected to, they with
// it, and nothing is under way.
func (c *cluster) busy(all map[int]view) string {
	for i, v := range all {
		switch {
		case v.Busy != "":
			return c.names[i] + ": " + v.Busy
		case !slices.Equal(v.Nodes, v.Known):
			return fmt.Sprintf("%s is connected to %v and knows %v", c.names[i], v.Nodes, v.Known)
		case !slices.Equal(v.Synced, v.Known):
			return fmt.Sprintf("%s knows %v and is in sync with %v", c.names[i], v.Known, v.Synced)
		}
		for j, o := range all {
			if i != j && slices.Contains(v.Known, c.full(j)) != slices.Contains(o.Known, c.full(i)) {
				return fmt.Sprintf("%s knows %v, but %s knows %v", c.names[i], v.Known, c.names[j], o.Known)
			}
		}
	}
	return ""
}

// whole says which node does not know all other running nodes.
func (c *cluster) whole(all map[int]view) string {
	for i, v := range all {
		if len(v.Known) != len(all)-1 {
			return fmt.Sprintf("%s knows %v", c.names[i], v.Known)
		}
	}
	return ""
}

// reconnect makes nodes connect that are not connected, twice a second.
func (c *cluster) reconnect(all map[int]view) {
	if time.Since(c.asked) < time.Second/2 {
		return
	}
	c.asked = time.Now()
	for i, v := range all {
		for j := range all {
			if i < j && !slices.Contains(v.Nodes, c.full(j)) {
				c.connect(i, j)
			}
		}
	}
}

// wait polls until wrong returns "" several times in a row, and returns its last result. "": nothing is wrong.
func (c *cluster) wait(d time.Duration, wrong func(all map[int]view) string) (last string) {
	const inARow = 3
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(d)
	for right := 0; ; {
		if last = wrong(c.looks()); last == "" {
			if right == 0 {
				c.came = time.Now()
			}
			right++
		} else {
			right = 0
		}
		if right == inARow {
			return ""
		}
		select {
		case <-tick.C:
		case <-end:
			return last
		}
	}
}

// parted says whether a node still sees another, which it should not.
func (c *cluster) parted(i, j int) func(all map[int]view) string {
	return func(all map[int]view) string {
		if slices.Contains(all[i].Nodes, c.full(j)) || slices.Contains(all[j].Nodes, c.full(i)) {
			return fmt.Sprintf("%s and %s are connected", c.names[i], c.names[j])
		}
		return ""
	}
}

// hang returns the pairs of nodes that are connected and do not share names.
func (c *cluster) hang(all map[int]view) (pairs [][2]int) {
	shares := func(i, j int) bool {
		return slices.Contains(all[i].Known, c.full(j)) && slices.Contains(all[i].Synced, c.full(j))
	}
	for i, v := range all {
		for j, o := range all {
			linked := slices.Contains(v.Nodes, c.full(j)) || slices.Contains(o.Nodes, c.full(i))
			if i < j && linked && !(shares(i, j) && shares(j, i)) {
				pairs = append(pairs, [2]int{i, j})
			}
		}
	}
	return pairs
}
