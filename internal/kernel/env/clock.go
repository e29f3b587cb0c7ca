package env

import (
	"sync/atomic"
	"time"
)

// Clock tells the time at half the price of [time.Now], which reads two clocks, the wall's
// and the monotonic one: by how much they differ is read again every second. Its
// zero value is to be set going with [Clock.Init].
type Clock struct {
	env   Env
	start time.Time    // the zero of the monotonic clock
	ahead atomic.Int64 // of the wall's clock, ns; 0: not read yet
	asOf  atomic.Int64 // ns on the other

	coarse atomic.Int64 // what Coarse returns; 0: no timer keeps it
	asked  atomic.Bool  // for it, since the timer has fired
}

// coarsePeriod is how late Coarse may be: its timer wakes a busy program so often, and one that does
// not ask for the time never.
const coarsePeriod = 250 * time.Millisecond

// Init sets c going: its monotonic clock begins now.
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

// passed returns the monotonic time in ns. It is Env.Since without a frame of its own: a process with
// a small stack reads the clock when it spawns another.
func (c *Clock) passed() int64 {
	if c.env.world == nil {
		return int64(time.Since(c.start))
	}
	return int64(c.env.Since(c.start))
}

// Coarse is Now at the price of two loads, and up to 250 ms late. A timer keeps it while it is asked
// for.
func (c *Clock) Coarse() int64 {
	if !c.asked.Load() {
		c.asked.Store(true)
	}
	if now := c.coarse.Load(); now != 0 {
		return now
	}
	return c.startCoarse()
}

// startCoarse reads the time, and has it read again.
func (c *Clock) startCoarse() int64 {
	now := c.Now()
	if c.coarse.CompareAndSwap(0, now) {
		c.env.AfterFunc(coarsePeriod, c.tick)
	}
	return now
}

// tick is what the timer of Coarse does.
func (c *Clock) tick() {
	if !c.asked.Swap(false) {
		c.coarse.Store(0)
		return
	}
	c.coarse.Store(c.Now())
	c.env.AfterFunc(coarsePeriod, c.tick)
}
