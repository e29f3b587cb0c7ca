package executor

import (
	"runtime"
	"sync/atomic"
	"time"
)

// lease is one worker's right to one stage. The worker enters the stage with a store and a load, without waiting; a revoker
// waits until it is outside. Invariants:
//
//  1. Only the worker writes busy; only a revoker, once, writes revoked. The worker
//     may be that revoker: see Pool.replace and Pool.handOver.
//  2. While busy is set and revoked was seen unset, only the worker touches what the
//     stage guards.
//  3. A worker that finds revoked set never touches the stage again under this lease, and no other worker uses the lease. A
//     returned lease is reused by the next holder.
//  4. busy is unset while the worker waits for pool.mu, and while a handler runs, except while it has entered the stage to
//     send.
type lease struct {
	busy    atomic.Bool
	revoked atomic.Bool
	turns   atomic.Uint32 // turns started, under all holds; written by the worker, read by the watcher
	owner   *Worker

	// Guarded by pool.mu: the watcher's records.
	seen    uint32
	since   time.Time
	counted bool
}

// inTurn returns how long l's worker is known to have been in its current turn. The caller is the watcher and holds
// pool.mu.
func (l *lease) inTurn(now time.Time) time.Duration {
	if t := l.turns.Load(); t != l.seen || l.since.IsZero() {
		l.seen, l.since = t, now
	}
	return now.Sub(l.since)
}

// enter enters the stage, unless the lease was revoked.
func (l *lease) enter() bool {
	l.busy.Store(true)
	if !l.revoked.Load() {
		return true
	}
	l.busy.Store(false)
	return false
}

func (l *lease) leave() { l.busy.Store(false) }

// revoke takes the lease away and returns once its worker is outside. The worker leaves within a few instructions, unless it
// was preempted. The caller holds pool.mu.
func (l *lease) revoke() {
	l.revoked.Store(true)
	for l.busy.Load() {
		runtime.Gosched()
	}
}
