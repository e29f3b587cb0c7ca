package calls

import (
	"sync"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// KeepFutures is how long other nodes can request a completed future: longer than a message that contains it should wait in a
// mailbox.
const KeepFutures = 5 * time.Minute

const (
	// maxKept is the maximum number of completed futures that a node keeps, with their values.
	maxKept = 1000
	// maxAsks is the maximum number of requests for one future: each costs some bytes until it is completed.
	maxAsks = 10_000
)

// LentFutures are the futures, of type F, that other nodes know.
type LentFutures[F comparable] struct {
	tables.Lasting[F]
	env env.Env

	mu      sync.Mutex
	timer   env.Timer // expires completed ones, or nil if there are none
	stopped bool
}

// Init must be called before anything else.
func (l *LentFutures[F]) Init(e env.Env) {
	l.env, l.Keep, l.Most, l.Asks = e, KeepFutures, maxKept, maxAsks
}

// Over records that the future with the reference ref is completed.
func (l *LentFutures[F]) Over(ref wire.Ref) {
	if l.Lasting.Over(ref, l.env.Now()) {
		l.expire(KeepFutures)
	}
}

// expire drops completed futures, after d and then whenever one is due.
func (l *LentFutures[F]) expire(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return
	}
	l.timer = l.env.AfterFunc(d, func() {
		if next, more := l.Expire(l.env.Now()); more {
			l.expire(next)
		}
	})
}

// Stop stops the timer: no more are dropped.
func (l *LentFutures[F]) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped = true; l.timer != nil {
		l.timer.Stop()
	}
}

const (
	ask        wire.Atom = "$future"
	futureExit wire.Atom = "exit"
)

// MakeFutureAsk returns the ask for the future with a reference.
func MakeFutureAsk(ref wire.Ref) wire.Tuple { return wire.Tuple{ask, ref} }

// ReadFutureAsk parses an ask. It returns false if body is not an ask. The reference is zero if it is invalid.
func ReadFutureAsk(body any) (wire.Ref, bool) {
	if t, ok := body.(wire.Tuple); ok && len(t) == 2 && t[0] == ask {
		ref, _ := t[1].(wire.Ref)
		return ref, true
	}
	return wire.Ref{}, false
}

// MakeFutureValue returns the answer for a future that is completed with a value.
func MakeFutureValue(v any) wire.Tuple { return wire.Tuple{wire.AtomOK, v} }

// MakeFutureExit returns the answer for a future that has failed with the exit of a process.
func MakeFutureExit(reason any) wire.Tuple { return wire.Tuple{futureExit, reason} }

// ReadFutureAnswer parses an answer: a value, or the reason of an exit. ok is false for another term.
func ReadFutureAnswer(answer any) (v any, exited, ok bool) {
	if t, ok := answer.(wire.Tuple); ok && len(t) == 2 && (t[0] == wire.AtomOK || t[0] == futureExit) {
		return t[1], t[0] == futureExit, true
	}
	return nil, false, false
}
