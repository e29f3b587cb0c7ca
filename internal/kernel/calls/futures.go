package calls

import (
	"sync"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// KeepFutures is how long a future that is over can be asked for by other nodes: longer than a
// message that it is in should wait in a mailbox.
const KeepFutures = 5 * time.Minute

const (
	// maxKept is how many of those a node keeps, with the values that they hold.
	maxKept = 1000
	// maxAsks is how often one future can be asked for: each costs some bytes until it is over.
	maxAsks = 10_000
)

// LentFutures are the futures, of type F, that other nodes know.
type LentFutures[F comparable] struct {
	tables.Lasting[F]
	env env.Env

	mu      sync.Mutex
	timer   env.Timer // expires those that are over; nil: there are none
	stopped bool
}

// Init must be called before anything else.
func (l *LentFutures[F]) Init(e env.Env) {
	l.env, l.Keep, l.Most, l.Asks = e, KeepFutures, maxKept, maxAsks
}

// Over says that the future of a reference is over.
func (l *LentFutures[F]) Over(ref wire.Ref) {
	if l.Lasting.Over(ref, l.env.Now()) {
		l.expire(KeepFutures)
	}
}

// expire drops those that are over, after d and then whenever it is time.
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

// Stop stops the timer: none is dropped any more.
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

// MakeFutureAsk is the ask for the future of a reference.
func MakeFutureAsk(ref wire.Ref) wire.Tuple { return wire.Tuple{ask, ref} }

// ReadFutureAsk reads an ask. False: the body is none. A reference that is none is zero.
func ReadFutureAsk(body any) (wire.Ref, bool) {
	if t, ok := body.(wire.Tuple); ok && len(t) == 2 && t[0] == ask {
		ref, _ := t[1].(wire.Ref)
		return ref, true
	}
	return wire.Ref{}, false
}

// MakeFutureValue is the answer for a future that is completed with a value.
func MakeFutureValue(v any) wire.Tuple { return wire.Tuple{wire.AtomOK, v} }

// MakeFutureExit is the answer for one that has failed with the exit of a process.
func MakeFutureExit(reason any) wire.Tuple { return wire.Tuple{futureExit, reason} }

// ReadFutureAnswer reads an answer: a value, or the reason of an exit. It is not ok for another term.
func ReadFutureAnswer(answer any) (v any, exited, ok bool) {
	if t, ok := answer.(wire.Tuple); ok && len(t) == 2 && (t[0] == wire.AtomOK || t[0] == futureExit) {
		return t[1], t[0] == futureExit, true
	}
	return nil, false, false
}
