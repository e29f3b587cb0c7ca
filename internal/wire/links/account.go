package links

import (
	"sync"

	"github.com/actornode/actornode/wire/dist"
)

// Account is what one link has taken of a [dist.Budget]. The nil Account has no bounds.
//
//  1. What is taken is given back once, by Give or by Close.
//  2. After Close nothing can be taken.
type Account struct {
	budget dist.Budget

	mu     sync.Mutex
	taken  int
	closed bool
}

// NewAccount returns an account of a budget; nil for none.
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

// Give gives back bytes that Take has taken.
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

// Close gives back all that is taken. It can be called more than once.
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
