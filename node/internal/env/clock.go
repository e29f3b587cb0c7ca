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
}

// Init sets c going: its monotonic clock begins now.
func (c *Clock) Init(e Env) { c.env, c.start = e, e.Now() }

// Start returns when Init was called.
func (c *Clock) Start() time.Time { return c.start }

// Now returns the Unix time in ns.
func (c *Clock) Now() int64 {
	now := int64(c.env.Since(c.start))
	ahead := c.ahead.Load()
	if ahead == 0 || now-c.asOf.Load() > int64(time.Second) {
		ahead = c.env.Now().UnixNano() - now
		c.ahead.Store(ahead)
		c.asOf.Store(now)
	}
	return ahead + now
}
