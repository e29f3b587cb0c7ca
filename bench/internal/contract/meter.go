package contract

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Meter times one run. It belongs to the goroutine that calls Run.
type Meter struct {
	now     func() time.Time
	began   time.Time
	running bool
	rounds  int
	spent   time.Duration
	extra   Fields
}

func newMeter(now func() time.Time) *Meter { return &Meter{now: now, extra: Fields{}} }

// Start begins the timed work. A body may start and stop several times; the
// times add up.
func (m *Meter) Start() {
	if m.running {
		panic("contract: Start of a running meter")
	}
	m.running = true
	m.began = m.now()
}

// Stop ends the timed work.
func (m *Meter) Stop() {
	now := m.now()
	if !m.running {
		panic("contract: Stop of a meter that is not running")
	}
	m.running = false
	m.rounds++
	m.spent += now.Sub(m.began)
}

// Charge adds d to the timed work, instead of Start and Stop, for a bench that measures processor time.
func (m *Meter) Charge(d time.Duration) {
	m.rounds++
	m.spent += d
}

// Spent returns the time between Starts and Stops so far, plus charges.
func (m *Meter) Spent() time.Duration { return m.spent }

// Extra reports another figure of the run, such as stddev or bytes_per_actor. Times are in seconds, with the suffix _s in
// the key.
func (m *Meter) Extra(key string, value float64) {
	m.extra = append(m.extra, Field{key, round(value)})
}

// Quantiles reports the median, the 99th percentile and the maximum of times, which must not be empty, as key_p50_s,
// key_p99_s and key_max_s. It sorts times.
func (m *Meter) Quantiles(key string, times []time.Duration) {
	slices.Sort(times)
	for _, q := range []struct {
		name string
		at   float64
	}{{"p50", 0.5}, {"p99", 0.99}, {"max", 1}} {
		at := max(0, int(q.at*float64(len(times))+0.5)-1)
		m.Extra(key+"_"+q.name+"_s", times[at].Seconds())
	}
}

// check returns an error if the measurement is invalid.
func (m *Meter) check() error {
	if m.running || m.rounds == 0 {
		return errors.New("the bench did not start and stop its meter")
	}
	for _, field := range m.extra {
		if f := field.Value.(float64); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%s is %v", field.Key, f)
		}
	}
	return nil
}
