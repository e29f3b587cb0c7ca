package fiber

// Count returns how many fibers are dying, and how many others there are.
func (p *Pool) Count() (dying, others int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dyingCount(), int(p.out) + len(p.idle)
}
