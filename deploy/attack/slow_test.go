package attack

import (
	"hash/fnv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// machine measures how slow this machine is while attacks run. Time limits grow with it.
var machine slowness

// slowness is a series of measurements, of which it keeps the last ones.
type slowness struct {
	start sync.Once
	mu    sync.Mutex
	all   []sample
}

type sample struct {
	at   time.Time
	took time.Duration
}

const (
	workBytes = 2 << 20
	workTime  = time.Millisecond // the time that these bytes take on a fast machine without other work
	workPause = 100 * time.Millisecond
	workKept  = 3000 // samples, of five minutes
)

// measure starts to measure. It goes on until the process ends.
func (s *slowness) measure() {
	s.start.Do(func() {
		go func() {
			b := make([]byte, workBytes)
			for {
				begun := time.Now()
				_, _ = fnv.New64a().Write(b)
				s.add(sample{begun, time.Since(begun)})
				<-time.After(workPause) // at a steady pace: it does not depend on the machine
			}
		}()
	})
}

func (s *slowness) add(x sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == workKept {
		s.all = append(s.all[:0], s.all[1:]...)
	}
	s.all = append(s.all, x)
}

// since returns by which factor on average, at least 1, work has taken longer than it should since a time. Pauses that
// were too long count, too: the machine stood still.
func (s *slowness) since(at time.Time) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, took := 0, time.Duration(0)
	for i := len(s.all) - 1; i > 0 && s.all[i].at.After(at); i-- {
		pause := s.all[i].at.Sub(s.all[i-1].at) - s.all[i-1].took - workPause
		n, took = n+1, took+s.all[i].took+max(0, pause)
	}
	if n == 0 {
		return 1
	}
	return max(1, float64(took)/float64(n)/float64(workTime))
}

// within returns d on an idle machine, and more on one that has been slow since then.
func (s *slowness) within(d time.Duration, since time.Time) time.Duration {
	return time.Duration(float64(d) * s.since(since))
}

func TestSlowness(t *testing.T) {
	var s slowness
	begun := time.Now()
	require.EqualValues(t, 1, s.since(begun))
	at := begun
	work := func(took, late time.Duration) {
		at = at.Add(late)
		s.add(sample{at, took})
		at = at.Add(took + workPause)
	}
	work(time.Millisecond, 0)
	work(time.Millisecond, 0)
	require.EqualValues(t, 1, s.since(begun), "a quick machine makes no limit shorter")
	slow := at.Add(-1)
	work(3*workTime, 0)
	work(workTime, 4*workTime)
	require.EqualValues(t, 4, s.since(slow))
	require.Equal(t, 20*time.Second, s.within(5*time.Second, slow))
	for range 2 * workKept {
		work(workTime, 0)
	}
	require.Len(t, s.all, workKept)
	require.EqualValues(t, 1, s.since(begun))
}
