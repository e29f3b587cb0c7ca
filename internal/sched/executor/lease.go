package executor

import (
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/sched/bias"
)

// lease is one worker's right to one stage, a lock biased towards the worker:
// taking it costs two plain stores and a load, and taking it away from the
// worker is expensive. Invariants:
//
//  1. Only the worker writes busy; only a revoker, once, writes revoked. The worker
//     may be that revoker: see Pool.replace and Pool.handOver.
//  2. While busy is 1 and revoked was seen 0, only the worker touches what the
//     stage guards.
//  3. A worker that finds revoked set never touches the stage again under this lease, and no other worker uses the lease. A
//     returned lease is reused by the next holder.
//  4. busy is 0 while the worker waits for pool.mu, and while a handler runs, except while it has entered the stage to
//     send.
type lease struct {
	busy    uint32
	revoked atomic.Uint32
	turns   uint32 // turns started, under all holds; written by the worker, read by the watcher
	owner   *Worker

	// Guarded by pool.mu: the watcher's records.
	seen    uint32
	since   time.Time
	counted bool
}

// inTurn returns how long l's worker is known to have been in its current turn. The caller is the watcher and holds
// pool.mu.
func (l *lease) inTurn(now time.Time) time.Duration {
	if t := atomic.LoadUint32(&l.turns); t != l.seen || l.since.IsZero() {
		l.seen, l.since = t, now
	}
	return now.Sub(l.since)
}

func (l *lease) enter() bool {
	bias.Store(&l.busy, 1)
	if l.revoked.Load() == 0 {
		return true
	}
	bias.Store(&l.busy, 0)
	return false
}

func (l *lease) leave() { bias.Store(&l.busy, 0) }

// revoke takes the lease away and returns once its worker is outside. The
// caller holds pool.mu.
func (l *lease) revoke() {
	l.revoked.Store(1)
	bias.Barrier()
	bias.AwaitZero(&l.busy)
}
