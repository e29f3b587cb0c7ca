//go:build linux && amd64 && !race && !actornode_portable && !actornode_no_fiber

package fiber

// Count returns how many fibers are dying, and how many others there are.
func (p *Pool) Count() (dying, others int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.dying), int(p.out) + len(p.idle)
}
