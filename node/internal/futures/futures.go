// Package futures has what nodes tell each other of futures: which of one node others know, and the
// messages by which they ask what such a future has been completed with.
//
// Nouns:
//
//   - [Lent] are the futures of a node that others know, by references.
//   - An ask is the body of a call of net_kernel, {'$future', Ref}: what is the future completed with? The node
//     of the future answers when it is.
//   - An answer is {ok, Value}, or {exit, Reason} for a future that has failed with the exit of a process: that of
//     the call would be net_kernel's. Another error is that of the call.
//
// Invariants:
//
//  1. A future that is over is kept for [Keep], and at most so many of them: a message that it is in can
//     wait as long in a mailbox.
//  2. As long as one that is over is kept, and Stop has not been called, there is a timer that will drop it.
//
// The timer is the only goroutine; Stop ends it.
package futures

import (
	"sync"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/wire"
)

// Keep is how long a future that is over can be asked for by other nodes: longer than a
// message that it is in should wait in a mailbox.
const Keep = 5 * time.Minute

const (
	// maxKept is how many of those a node keeps, with the values that they hold.
	maxKept = 1000
	// maxAsks is how often one future can be asked for: each costs some bytes until it is over.
	maxAsks = 10_000
)

// Lent are the futures, of type F, that other nodes know.
type Lent[F comparable] struct {
	tables.Lasting[F]
	env env.Env

	mu      sync.Mutex
	timer   env.Timer // expires those that are over; nil: there are none
	stopped bool
}

// Init must be called before anything else.
func (l *Lent[F]) Init(e env.Env) {
	l.env, l.Keep, l.Most, l.Asks = e, Keep, maxKept, maxAsks
}

// Over says that the future of a reference is over.
func (l *Lent[F]) Over(ref wire.Ref) {
	if l.Lasting.Over(ref, l.env.Now()) {
		l.expire(Keep)
	}
}

// expire drops those that are over, after d and then whenever it is time.
func (l *Lent[F]) expire(d time.Duration) {
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
func (l *Lent[F]) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped = true; l.timer != nil {
		l.timer.Stop()
	}
}

const (
	ask  wire.Atom = "$future"
	exit wire.Atom = "exit"
)

// MakeAsk is the ask for the future of a reference.
func MakeAsk(ref wire.Ref) wire.Tuple { return wire.Tuple{ask, ref} }

// ReadAsk reads an ask. False: the body is none. A reference that is none is zero.
func ReadAsk(body any) (wire.Ref, bool) {
	if t, ok := body.(wire.Tuple); ok && len(t) == 2 && t[0] == ask {
		ref, _ := t[1].(wire.Ref)
		return ref, true
	}
	return wire.Ref{}, false
}

// MakeValue is the answer for a future that is completed with a value.
func MakeValue(v any) wire.Tuple { return wire.Tuple{wire.OK, v} }

// MakeExit is the answer for one that has failed with the exit of a process.
func MakeExit(reason any) wire.Tuple { return wire.Tuple{exit, reason} }

// ReadAnswer reads an answer: a value, or the reason of an exit. It is not ok for another term.
func ReadAnswer(answer any) (v any, exited, ok bool) {
	if t, ok := answer.(wire.Tuple); ok && len(t) == 2 && (t[0] == wire.OK || t[0] == exit) {
		return t[1], t[0] == exit, true
	}
	return nil, false, false
}
