package storm

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/internal/testkit/erltest"
)

var fullMesh = flag.Bool("storm.mesh", false, "meshes of 50 nodes of ours, of 8 and 4 OTP nodes, and of 12 of each")

// meshed is the result of a mesh.
type meshed struct {
	name          string
	formed        time.Duration // from the first request to connect
	parted        []time.Duration
	healed        []time.Duration
	frames, bytes [2]int64 // to form the mesh; for one node that is cut off and comes back, on average
}

func (m meshed) String() string {
	return fmt.Sprintf("%-24s formed in %6.2f s with %6d frames, %8d bytes; a node that is cut off: noticed in %5.2f s, "+
		"back in %5.2f s (median; most %5.2f s), %6d frames, %8d bytes", m.name, m.formed.Seconds(), m.frames[0], m.bytes[0],
		median(m.parted).Seconds(), median(m.healed).Seconds(), slices.Max(m.healed).Seconds(), m.frames[1], m.bytes[1])
}

func median(all []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(all))[len(all)/2]
}

// A mesh of published nodes forms, and does so again after each node in turn was cut off from all others. The log has
// the time and the traffic that this takes, beside those of a mesh of OTP nodes. The test does not judge them.
func TestMesh(t *testing.T) {
	sizes := testkit.By([][2]int{{4, 0}}, [][2]int{{12, 0}, {2, 2}}, [][2]int{{12, 0}, {2, 2}, {0, 4}})
	if *fullMesh {
		sizes = [][2]int{{50, 0}, {12, 0}, {8, 4}, {0, 12}}
	}
	var table []string
	for _, size := range sizes {
		name := fmt.Sprintf("%d-ours-%d-otp", size[0], size[1])
		t.Run(name, func(t *testing.T) {
			if size[1] > 0 {
				erltest.Need(t)
			}
			table = append(table, mesh(t, name, size[0], size[1]).String())
		})
	}
	t.Logf("meshes:\n%s", strings.Join(table, "\n"))
}

func mesh(t *testing.T, name string, ours, otp int) (m meshed) {
	m.name = name
	kinds := slices.Concat(slices.Repeat([]string{"go"}, ours), slices.Repeat([]string{"erl"}, otp))
	c := newCluster(t, kinds, "erlang") // all use one protocol, so that frames can be compared
	must := func(what string, wrong func(all map[int]view) string) time.Duration {
		begin := time.Now()
		require.Empty(t, c.wait(testkit.Limit, wrong), what)
		return c.came.Sub(begin)
	}
	whole := func(all map[int]view) string {
		if w := c.busy(all); w != "" {
			return w
		}
		return c.whole(all)
	}
	for i := 1; i < len(kinds); i++ {
		c.connect(i, 0)
	}
	m.formed = must("the mesh does not form", whole)
	t.Logf("formed in %v", m.formed)
	m.frames[0], m.bytes[0] = c.w.frames.Load(), c.w.bytes.Load()
	for i := range kinds {
		others := slices.Concat(c.names[:i:i], c.names[i+1:])
		c.w.isolate(c.names[i], others)
		m.parted = append(m.parted, must("a node is cut off", func(all map[int]view) string {
			for j, v := range all {
				if want := len(kinds) - 2; i != j && len(v.Known) != want {
					return fmt.Sprintf("%s knows %d nodes, want %d: %v", c.names[j], len(v.Known), want, v.Known)
				}
			}
			if n := len(all[i].Known); n > 0 {
				return fmt.Sprintf("%s knows %d nodes, want none", c.names[i], n)
			}
			return c.busy(all)
		}))
		for _, o := range others {
			c.w.mend(c.names[i], o)
		}
		c.connect(i, (i+1)%len(kinds))
		m.healed = append(m.healed, must("a node is back", whole))
		t.Logf("%s: cut off for %v, then back in %v", c.names[i], m.parted[i], m.healed[i])
	}
	n := int64(len(kinds))
	m.frames[1], m.bytes[1] = (c.w.frames.Load()-m.frames[0])/n, (c.w.bytes.Load()-m.bytes[0])/n
	return m
}
