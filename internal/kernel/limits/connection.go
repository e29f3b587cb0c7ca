package limits

import (
	"errors"
	"fmt"
	"time"
)

// Connection is the limits of a single connection. In each field except Grace and Compress 0 means the default.
// node.Distribution documents the fields.
type Connection struct {
	TickTime, ConnectTimeout, Grace time.Duration
	Queue, Compress                 int // bytes
}

// Defaults of a Connection.
const (
	TickTime       = time.Minute
	ConnectTimeout = 7 * time.Second
	queue          = 1 << 20
)

// minTickTime is the minimum TickTime.
const minTickTime = 4 * time.Millisecond

// WithDefaults returns c with the defaults, or an error for a field out of its range.
func (c Connection) WithDefaults() (Connection, error) {
	switch {
	case c.TickTime < 0 || c.Queue < 0 || c.ConnectTimeout < 0:
		return c, errors.New("node: Distribution: TickTime, Queue and ConnectTimeout must not be negative")
	case c.Compress < 0:
		return c, fmt.Errorf("node: Distribution.Compress %d must not be negative", c.Compress)
	case c.Grace < 0:
		return c, fmt.Errorf("node: Distribution.Timing.Grace %v must not be negative", c.Grace)
	case 0 < c.TickTime && c.TickTime < minTickTime:
		return c, fmt.Errorf("node: Distribution.Timing.TickTime %v: want at least %v", c.TickTime, minTickTime)
	}
	err := errors.Join(fill(&c.TickTime, TickTime), fill(&c.ConnectTimeout, ConnectTimeout), fill(&c.Queue, queue))
	if c.Grace > c.TickTime/2 {
		err = fmt.Errorf("node: Distribution.Timing.Grace %v: want at most half of TickTime, %v", c.Grace, c.TickTime)
	}
	return c, err
}
