package links

import (
	"sync"

	"github.com/actornode/actornode/wire/dist"
)

// Account is one link's share of a [dist.Budget]. The nil Account is unlimited.
//
//  1. Taken bytes are returned exactly once, by Give or by Close.
//  2. After Close nothing can be taken.
type Account struct {
	budget dist.Budget

	mu     sync.Mutex
	taken  int
	closed bool
}

// NewAccount returns an account of a budget, or nil for a nil budget.
func NewAccount(b dist.Budget) *Account {
	if b == nil {
		return nil
	}
	return &Account{budget: b}
}

// Take takes bytes and reports whether that was possible.
func (a *Account) Take(bytes int) bool {
	if a == nil || bytes == 0 {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || !a.budget.Take(bytes) {
		return false
	}
	a.taken += bytes
	return true
}

// Give returns bytes taken by Take.
func (a *Account) Give(bytes int) {
	if a == nil || bytes == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.taken -= bytes
	a.budget.Give(bytes)
}

// Close returns all taken bytes. It can be called more than once.
func (a *Account) Close() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.closed = true
	a.budget.Give(a.taken)
	a.taken = 0
}
