package env

import "time"

// SetAhead is the wall's clock being set.
func SetAhead(c *Clock, by time.Duration) { c.ahead.Add(int64(by)) }
