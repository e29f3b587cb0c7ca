package process

import (
	"sync"
	"sync/atomic"
)

// Tally holds a worker's counters, on a cache line of their own.
type Tally struct {
	_        [56]byte
	started  atomic.Uint64
	ended    atomic.Uint64
	messages atomic.Uint64
	vain     atomic.Uint64 // turns without a message
	_        [40]byte
}

// Alive adds d, 1 or -1, to the number of processes. Only the worker calls it.
func (t *Tally) Alive(d int64) {
	if d > 0 {
		t.started.Add(1)
	} else {
		t.ended.Add(1)
	}
}

// Messages counts a turn that has handled d messages. Only the worker calls it.
func (t *Tally) Messages(d uint64) {
	if d == 0 {
		t.vain.Add(1)
		return
	}
	t.messages.Add(d)
}

// Tallies counts the processes of a node, the messages that they have taken and their turns, without a cache line that all
// workers write. The zero value is ready.
//
// Invariants:
//
//  1. Each field of a Tally has one writer, the worker. The sums may be read concurrently.
//  2. A process that one worker has spawned may be ended by another: the number of a single Tally
//     means nothing, and may be negative, but the sum of all is right once both are counted.
//  3. Started and Activity never decrease. A process is counted as started once it is in the table, and a
//     turn is part of Activity before its process looks idle to others.
type Tallies struct {
	_        [56]byte
	started  atomic.Uint64 // this and the others: not by workers
	ended    atomic.Uint64
	_        [48]byte
	messages atomic.Uint64
	vain     atomic.Uint64

	mu  sync.Mutex
	all []*Tally // guarded by mu
}

// New returns the tally of a further worker.
func (c *Tallies) New() *Tally {
	t := new(Tally)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, t)
	return t
}

// Alive is [Tally.Alive] for concurrent use.
func (c *Tallies) Alive(d int64) {
	if d > 0 {
		c.started.Add(1)
	} else {
		c.ended.Add(1)
	}
}

// Messages is [Tally.Messages] for concurrent use.
func (c *Tallies) Messages(d uint64) {
	if d == 0 {
		c.vain.Add(1)
	} else {
		c.messages.Add(d)
	}
}

// Started returns the number of processes started since the node was.
func (c *Tallies) Started() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := c.started.Load()
	for _, t := range c.all {
		sum += t.started.Load()
	}
	return sum
}

// Activity returns a number that increases with each finished turn: the messages taken, plus the turns without one.
func (c *Tallies) Activity() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := c.messages.Load() + c.vain.Load()
	for _, t := range c.all {
		sum += t.messages.Load() + t.vain.Load()
	}
	return sum
}

// Sum returns the number of live processes, and of messages taken.
func (c *Tallies) Sum() (alive int, messages uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := int64(c.started.Load() - c.ended.Load())
	messages = c.messages.Load()
	for _, t := range c.all {
		sum += int64(t.started.Load() - t.ended.Load())
		messages += t.messages.Load()
	}
	return int(sum), messages
}
