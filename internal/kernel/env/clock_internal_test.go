package env

import "time"

// SetAhead simulates the wall clock being set.
func SetAhead(c *Clock, by time.Duration) { c.ahead.Add(int64(by)) }
