package fiber

import "sync"

// To resumes g, which waits and whose master the caller is. f represents the calling goroutine; To returns when another
// goroutine resumes f.
func (f *Fiber) To(g *Fiber) {
	if next, yield := f.Leave(g); next != nil {
		next()
	} else {
		yield(struct{}{})
	}
}

// Pool makes fibers and keeps up to maxIdle idle ones for later jobs. The direct implementation also keeps those that
// cannot end yet. The zero value is ready to use.
type Pool struct {
	mu       sync.Mutex
	idle     []*Fiber
	retiring       // specific to the implementation
	out      int64 // number of fibers taken and not put back
	stopped  bool
}

// Take returns a fiber that runs j as soon as a goroutine resumes it.
func (p *Pool) Take(j Job) *Fiber {
	p.mu.Lock()
	p.out++
	var f *Fiber
	if last := len(p.idle) - 1; last >= 0 {
		f, p.idle = p.idle[last], p.idle[:last]
	}
	p.mu.Unlock()
	if f == nil {
		find()
		f = &Fiber{id: ids.Add(1)}
		f.begin(p)
	}
	f.job = j
	return f
}

// Put takes back a fiber that has finished its job and waits. me represents the caller.
func (p *Pool) Put(me, f *Fiber) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out--
	if len(p.idle) < maxIdle && !p.stopped && !f.broken {
		p.idle = append(p.idle, f)
	} else {
		p.retire(me, f)
	}
}

// Busy returns the number of fibers that were taken and not put back.
func (p *Pool) Busy() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out
}

// Idle returns the number of fibers without a job, including those that cannot end yet.
func (p *Pool) Idle() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle) + p.dyingCount()
}

// Stop ends the fibers without a job, and the others when they have finished theirs.
func (p *Pool) Stop() {
	done := make(chan struct{})
	go func() { // because a caller that is locked to its thread cannot resume another goroutine
		p.mu.Lock()
		p.stopped = true
		var me Fiber
		for _, f := range p.idle {
			p.retire(&me, f)
		}
		p.idle = nil
		p.mu.Unlock()
		close(done)
	}()
	<-done
}
