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
		h.Init(env.Env{}, watch.Pace{Lines: 1, Every: time.Second},
			func(e int, not uint64) { log.Printf("%v: %d after %d", time.Since(start), e, not) })
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

// Of each interval of a Pace so many events are written at once, and the last of the others when it is over.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h watch.Throttle[int]
		var log logtest.Text
		start := time.Now()
		h.Init(env.Env{}, watch.Pace{Lines: 2, Every: time.Minute},
			func(e int, not uint64) { log.Printf("%v: %d after %d", time.Since(start), e, not) })
		for e := range 5 {
			require.Equal(t, e < 2, h.Free())
			h.Add(e)
		}
		time.Sleep(90 * time.Second)
		for e := range 3 { // the line on what was held is the first of the next interval
			require.Equal(t, e < 1, h.Free())
			h.Add(5 + e)
		}
		time.Sleep(time.Hour)
		require.Equal(t, "0s: 0 after 0\n0s: 1 after 0\n1m0s: 4 after 2\n1m30s: 5 after 0\n2m0s: 7 after 1\n", log.Take())
		h.Add(8)
		h.Close()
		require.False(t, h.Free())
		require.Equal(t, "1h1m30s: 8 after 0\n", log.String())
	})
}

// An event that is added while the line on an earlier one is written has its line after that.
func TestThrottleKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h watch.Throttle[int]
		var log logtest.Text
		h.Init(env.Env{}, watch.Pace{Lines: 2, Every: time.Second}, func(e int, not uint64) {
			if e == 2 {
				time.Sleep(time.Millisecond) // the log is slow
			}
			log.Printf("%d after %d", e, not)
		})
		for e := range 3 {
			h.Add(e)
		}
		time.Sleep(time.Second)
		synctest.Wait() // the third is being written
		h.Add(3)
		h.Add(4)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		h.Add(5)
		h.Close()
		require.Equal(t, "0 after 0\n1 after 0\n2 after 0\n5 after 2\n", log.String())
	})
}

// logged is a line of a Throttle on events that are numbered.
type logged struct {
	at     time.Duration
	e, not int
}

// model is what a Throttle writes, if the times of all events are known.
type model struct {
	pace  watch.Pace
	lines []logged
	over  time.Duration // the end of the interval
	n     int           // lines in it
	last  int
	held  int
}

// pass lets the intervals end that are over at a time.
func (m *model) pass(now time.Duration) {
	for ; m.n > 0 && m.over <= now; m.over += m.pace.Every {
		if m.n = 0; m.held > 0 {
			m.lines, m.n, m.held = append(m.lines, logged{m.over, m.last, m.held - 1}), 1, 0
		}
	}
}

func (m *model) add(now time.Duration, e int) {
	m.pass(now)
	if m.n == 0 {
		m.over = now + m.pace.Every
	}
	if m.n == m.pace.Lines {
		m.last = e
		m.held++
		return
	}
	m.n++
	m.lines = append(m.lines, logged{now, e, 0})
}

// At random times a Throttle writes what a model of it does: each event before Close is written or counted by a line within an
// interval.
func TestThrottleAgreesWithModel(t *testing.T) {
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			chance := rand.New(rand.NewPCG(seed, 0))
			m := model{pace: watch.Pace{Lines: 1 + chance.IntN(4), Every: time.Duration(1 + chance.Int64N(int64(2*time.Second)))}}
			var h watch.Throttle[int]
			var mu sync.Mutex
			var lines []logged
			start := time.Now()
			h.Init(env.Env{}, m.pace, func(e int, not uint64) {
				mu.Lock()
				defer mu.Unlock()
				lines = append(lines, logged{time.Since(start), e, int(not)})
			})
			for e := range 300 {
				m.add(time.Since(start), e)
				h.Add(e)
				if chance.IntN(3) == 0 {
					time.Sleep(time.Duration(chance.Int64N(int64(3 * m.pace.Every / 2))))
				}
			}
			synctest.Wait()
			m.pass(time.Since(start))
			if h.Close(); m.held > 0 {
				m.lines = append(m.lines, logged{time.Since(start), m.last, m.held - 1})
			}
			require.Equal(t, m.lines, lines, "seed %d", seed)
			told := 0
			for _, l := range lines {
				told += 1 + l.not
			}
			require.Equal(t, 300, told, "seed %d", seed)
		})
	}
}
