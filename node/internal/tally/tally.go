// Package tally counts the processes of a node and the messages that they have taken, without a
// cache line that all its workers write.
//
// Nouns:
//
//   - [Counts] is what a node counts.
//   - A [Tally] is the part of one worker.
//
// Invariants:
//
//  1. Each field of a Tally has one writer, the worker. Anybody may read the sums.
//  2. A process that one worker has spawned may be ended by another: the number of a single Tally
//     says nothing, and may be below zero, but the sum of all is right once both are counted.
//
// The package has no clock and no goroutine.
package tally

import (
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/internal/bias"
)

// Tally is what a worker counts, on a cache line of its own.
type Tally struct {
	_        [56]byte
	alive    atomic.Uint64 // signed
	messages atomic.Uint64
	_        [48]byte
}

// Alive adds d to the number of processes. Only the worker calls it.
func (t *Tally) Alive(d int64) { bias.StoreUint64(&t.alive, t.alive.Load()+uint64(d)) }

// Messages adds d to the number of messages taken. Only the worker calls it.
func (t *Tally) Messages(d uint64) { bias.StoreUint64(&t.messages, t.messages.Load()+d) }

// Counts is what a node counts. The zero value is ready.
type Counts struct {
	_        [56]byte
	alive    atomic.Int64 // by those who are not run by workers
	_        [56]byte
	messages atomic.Uint64

	mu  sync.Mutex
	all []*Tally // guarded by mu
}

// New returns the tally of one more worker.
func (c *Counts) New() *Tally {
	t := new(Tally)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, t)
	return t
}

// Alive is [Tally.Alive] for anybody.
func (c *Counts) Alive(d int64) { c.alive.Add(d) }

// Messages is [Tally.Messages] for anybody.
func (c *Counts) Messages(d uint64) { c.messages.Add(d) }

// Sum returns how many processes are alive, and how many messages have been taken.
func (c *Counts) Sum() (alive int, messages uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := c.alive.Load()
	messages = c.messages.Load()
	for _, t := range c.all {
		sum += int64(t.alive.Load())
		messages += t.messages.Load()
	}
	return int(sum), messages
}
