package process_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
)

// Processes that one worker starts and another ends are counted once, and so are messages.
func TestSum(t *testing.T) {
	var c process.Tallies
	first, second := c.New(), c.New()
	var wg sync.WaitGroup
	each := func(alive func(int64), messages func(uint64), d int64) {
		wg.Go(func() {
			for range 1000 {
				alive(d)
				messages(3)
			}
		})
	}
	each(first.Alive, first.Messages, 1)
	each(second.Alive, second.Messages, -1)
	each(c.Alive, c.Messages, 1)
	each(c.Alive, c.Messages, 1)
	for range 100 {
		c.Sum() // meanwhile
	}
	wg.Wait()
	alive, messages := c.Sum()
	require.Equal(t, 2000, alive)
	require.EqualValues(t, 12000, messages)
	require.EqualValues(t, 3000, c.Started())
	require.EqualValues(t, 12000, c.Activity(), "none of the turns was in vain")
	first.Messages(0)
	c.Messages(0)
	require.EqualValues(t, 12002, c.Activity())
	alive, messages = c.Sum()
	require.Equal(t, 2000, alive)
	require.EqualValues(t, 12000, messages)
}
