package counter_test

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/counter"
)

func TestCount(t *testing.T) {
	var n counter.Counters
	assert.Empty(t, n.All("restarts"))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				n.Add("restarts", "shop", "front")
				n.Add("restarts", "shop", "back")
			}
		})
	}
	wg.Wait()
	assert.Equal(t, []counter.Count{{[]string{"shop", "back"}, 400}, {[]string{"shop", "front"}, 400}}, n.All("restarts"))
	assert.Empty(t, n.All("others"))
}

// However many things are counted, the number of counters is bounded and no count is lost.
func TestCountIsBounded(t *testing.T) {
	var n counter.Counters
	for i := range 2000 {
		n.Add("c", strconv.Itoa(i)+strings.Repeat("é", 100))
	}
	all := n.All("c")
	require.Len(t, all, 500)
	sum := uint64(0)
	for _, c := range all {
		assert.LessOrEqual(t, len(c.Labels[0]), 80)
		sum += c.N
	}
	assert.EqualValues(t, 2000, sum)
	assert.Equal(t, counter.Count{Labels: []string{"other"}, N: 2000 - 499}, all[len(all)-1])
}

// A counter that is kept is shown from the beginning, and is the one of Add.
func TestCounter(t *testing.T) {
	var n counter.Counters
	c := n.Counter("started", "carts")
	assert.Equal(t, []counter.Count{{[]string{"carts"}, 0}}, n.All("started"))
	c.Add(2)
	n.Add("started", "carts")
	assert.Equal(t, []counter.Count{{[]string{"carts"}, 3}}, n.All("started"))
}

// A gauge is read when it is asked for, and forgotten when it is over.
func TestGauge(t *testing.T) {
	var n counter.Counters
	value, ended := 1, false
	n.Gauge("processes", func() bool { return ended }, func() int { return value }, "carts")
	n.Gauge("processes", func() bool { return false }, func() int { return 5 }, "carts")
	n.Gauge("processes", func() bool { return false }, func() int { return 7 }, "users")
	value = 2
	assert.Equal(t, []counter.Count{{[]string{"carts"}, 7}, {[]string{"users"}, 7}}, n.All("processes"))
	ended = true
	assert.Equal(t, []counter.Count{{[]string{"carts"}, 5}, {[]string{"users"}, 7}}, n.All("processes"))
}

// Gauges that are over are forgotten, also if they are not read, and more than can be shown are added up.
func TestGaugesAreBounded(t *testing.T) {
	var n counter.Counters
	for range 10_000 {
		n.Gauge("short", func() bool { return true }, func() int { return 1 }, "x")
	}
	assert.Less(t, n.Gauges("short"), 10)
	for i := range 1000 {
		n.Gauge("processes", func() bool { return false }, func() int { return 1 }, strconv.Itoa(i))
	}
	all := n.All("processes")
	require.Len(t, all, 500)
	assert.Equal(t, counter.Count{Labels: []string{"other"}, N: 1000 - 499}, all[len(all)-1])
}
