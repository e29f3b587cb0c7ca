package watch_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/testkit/logtest"
)

// The first event is written at once, and of those within a second of a line the last, when the second is over: no event
// waits for another.
func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h watch.Throttle[int]
		var log logtest.Text
		start := time.Now()
		h.Init(env.Env{}, func(e int, not uint64) { log.Printf("%v: %d after %d", time.Since(start), e, not) })
		for e := range 5 { // at 0, 400, 800, 1200 and 1600 ms
			h.Add(e)
			time.Sleep(400 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		h.Add(5)
		h.Add(6)
		h.Add(7)
		h.Close()
		h.Close()
		h.Add(8)
		time.Sleep(time.Hour)
		require.Equal(t, "0s: 0 after 0\n1s: 2 after 1\n2s: 4 after 1\n4s: 5 after 0\n4s: 7 after 1\n", log.String())
	})
}

// At random times: each event before Close is written or counted by a line, within a second, and no two lines but the last
// are closer than that.
func TestThrottleCountsAll(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			chance := rand.New(rand.NewPCG(seed, 0))
			var h watch.Throttle[time.Time]
			var mu sync.Mutex
			var lines []time.Time
			added, told := 0, 0
			h.Init(env.Env{}, func(e time.Time, not uint64) {
				mu.Lock()
				defer mu.Unlock()
				require.LessOrEqual(t, time.Since(e), time.Second, "seed %d", seed)
				lines = append(lines, time.Now())
				told += 1 + int(not)
			})
			for range 100 {
				for range chance.IntN(4) {
					h.Add(time.Now())
					added++
				}
				time.Sleep(time.Duration(chance.IntN(1500)) * time.Millisecond)
			}
			synctest.Wait()
			for i := range lines[1:] {
				require.GreaterOrEqual(t, lines[i+1].Sub(lines[i]), time.Second, "seed %d", seed)
			}
			h.Close()
			require.Equal(t, added, told, "seed %d", seed)
		})
	}
}
