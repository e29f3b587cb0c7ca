package node

import (
	"sync/atomic"
	"time"
)

// clock tells the time at half the price of time.Now, which reads two clocks, the wall's and
// the monotonic one: by how much they differ is read again every second.
type clock struct {
	ahead atomic.Int64 // of the wall's clock, ns; 0: not read yet
	asOf  atomic.Int64 // ns on the other
}

// now returns the Unix time in ns. born is the zero of the monotonic clock.
func (c *clock) now(born time.Time) int64 {
	now := int64(time.Since(born))
	ahead := c.ahead.Load()
	if ahead == 0 || now-c.asOf.Load() > int64(time.Second) {
		ahead = time.Now().UnixNano() - now
		c.ahead.Store(ahead)
		c.asOf.Store(now)
	}
	return ahead + now
}
