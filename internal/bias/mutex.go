package bias

import (
	"sync"
	"sync/atomic"
)

// Hand is what a goroutine shows to the mutexes that may lean towards it. The zero value
// is ready. It belongs to one goroutine at a time, and is inside one mutex at a time.
type Hand struct {
	busy  uint32 // inside a mutex that leans, or about to look whether one does
	taken uint32 // how often it was inside, of all mutexes
	plain bool   // what it has taken does not lean
}

// Mutex is a lock that leans towards the hand that takes it again and again: to take and
// to give back what leans is two stores and a load. The zero value is ready.
type Mutex struct {
	mu     sync.Mutex
	holder atomic.Pointer[Hand] // towards whom it leans

	// Guarded by mu.
	last *Hand  // who has taken it last, of those who have shown a hand
	run  uint32 // how many times in a row
	skip uint32 // how many of these are too few
	from uint32 // last.taken when it began to lean
}

const (
	// leastRun and mostRun bound how many times in a row a hand takes a mutex before
	// that leans.
	leastRun = 16
	mostRun  = 1 << 13
	// worth is how many times a hand takes what leans towards it, at least, for the
	// barrier that ends it to be worth it.
	worth = 256
)

// Lock takes the lock, without a hand.
func (m *Mutex) Lock() {
	m.mu.Lock()
	m.straighten()
}

// Unlock gives back what Lock took.
func (m *Mutex) Unlock() { m.mu.Unlock() }

// LockBy takes the lock. h is nil for Lock.
func (m *Mutex) LockBy(h *Hand) {
	if h != nil {
		Store(&h.busy, 1)
		if m.holder.Load() == h {
			Store(&h.taken, h.taken+1)
			return
		}
		Store(&h.busy, 0)
	}
	m.lean(h)
}

// UnlockBy gives back what LockBy took.
func (m *Mutex) UnlockBy(h *Hand) {
	if h != nil && !h.plain {
		Store(&h.busy, 0)
		return
	}
	if h != nil {
		h.plain = false
	}
	m.mu.Unlock()
}

// lean is LockBy where the lock does not lean towards h. Perhaps it does then.
func (m *Mutex) lean(h *Hand) {
	m.mu.Lock()
	m.straighten()
	if h == nil {
		return
	}
	if m.last != h {
		m.last, m.run = h, 0
	}
	if m.run++; m.run < leastRun+m.skip {
		h.plain = true
		return
	}
	m.from = h.taken
	Store(&h.busy, 1)
	m.holder.Store(h)
	m.mu.Unlock()
}

// straighten ends that the lock leans, and judges whether it was worth it. The caller
// holds mu.
func (m *Mutex) straighten() {
	h := m.holder.Load()
	if h == nil {
		return
	}
	m.holder.Store(nil)
	Barrier()
	AwaitZero(&h.busy)
	if atomic.LoadUint32(&h.taken)-m.from >= worth {
		m.skip /= 4
	} else {
		m.skip, m.run = min(2*m.skip+leastRun, mostRun-leastRun), 0
	}
}
