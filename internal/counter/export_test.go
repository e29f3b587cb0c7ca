package counter

// Gauges returns how many gauges of a name are kept.
func (c *Counters) Gauges(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.gauges[name])
}
