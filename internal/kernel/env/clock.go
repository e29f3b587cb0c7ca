package env

import (
	"sync/atomic"
	"time"
)

// Clock returns the time at half the cost of [time.Now], which reads both the wall clock and the monotonic clock: Clock
// measures their difference again every second. Its zero value must be initialized with [Clock.Init].
type Clock struct {
	env   Env
	start time.Time    // the zero of the monotonic clock
	ahead atomic.Int64 // wall clock minus monotonic clock, ns; 0 if not read yet
	asOf  atomic.Int64 // monotonic time of that, ns

	coarse atomic.Int64 // what Coarse returns; 0 if no timer updates it
	asked  atomic.Bool  // Coarse was called since the timer last fired
}

// coarsePeriod is the maximum lag of Coarse: its timer wakes a busy program at this interval, and never one that does not
// read the time.
const coarsePeriod = 250 * time.Millisecond

// Init starts c: its monotonic clock begins now.
func (c *Clock) Init(e Env) { c.env, c.start = e, e.Now() }

// Start returns when Init was called.
func (c *Clock) Start() time.Time { return c.start }

// Now returns the Unix time in ns.
func (c *Clock) Now() int64 {
	now := c.passed()
	ahead := c.ahead.Load()
	if ahead == 0 || now-c.asOf.Load() > int64(time.Second) {
		ahead = c.env.Now().UnixNano() - now
		c.ahead.Store(ahead)
		c.asOf.Store(now)
	}
	return ahead + now
}

// passed returns the monotonic time in ns. It is Env.Since without a frame of its own: a process with a small stack reads the
// clock when it spawns another.
func (c *Clock) passed() int64 {
	if c.env.world == nil {
		return int64(time.Since(c.start))
	}
	return int64(c.env.Since(c.start))
}

// Coarse is Now at the cost of two loads, and up to 250 ms late. A timer updates it while it is called.
func (c *Clock) Coarse() int64 {
	if !c.asked.Load() {
		c.asked.Store(true)
	}
	if now := c.coarse.Load(); now != 0 {
		return now
	}
	return c.startCoarse()
}

// startCoarse reads the time, and starts the timer.
func (c *Clock) startCoarse() int64 {
	now := c.Now()
	if c.coarse.CompareAndSwap(0, now) {
		c.env.AfterFunc(coarsePeriod, c.tick)
	}
	return now
}

// tick is the timer function of Coarse.
func (c *Clock) tick() {
	if !c.asked.Swap(false) {
		c.coarse.Store(0)
		return
	}
	c.coarse.Store(c.Now())
	c.env.AfterFunc(coarsePeriod, c.tick)
}
