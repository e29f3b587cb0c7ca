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
