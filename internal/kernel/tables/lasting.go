package tables

import (
	"sync"
	"time"

	"github.com/actornode/actornode/wire"
)

// Lasting is Lent for things that others may also request after they are over: each of those is kept for a time, and at most
// Most of them. All methods may be called with any lock held, and call only mint. Keep, Most and Asks are set once.
type Lasting[T comparable] struct {
	Keep time.Duration // how long one that is over is kept
	Most int           // maximum number of kept ones that are over
	Asks int           // maximum number of requests for one

	mu   sync.Mutex
	refs map[T]wire.Ref
	of   map[wire.Ref]*lasting[T]
	over []overAt // the oldest first
}

type lasting[T comparable] struct {
	x    T
	asks int
}

type overAt struct {
	ref wire.Ref
	at  time.Time
}

// Lend returns the reference of x; if it has none, the result of mint, and then fresh is true.
func (l *Lasting[T]) Lend(x T, mint func() wire.Ref) (ref wire.Ref, fresh bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ref, ok := l.refs[x]; ok {
		return ref, false
	}
	if l.refs == nil {
		l.refs, l.of = make(map[T]wire.Ref), make(map[wire.Ref]*lasting[T])
	}
	ref = mint()
	l.refs[x], l.of[ref] = ref, &lasting[T]{x: x}
	return ref, true
}

// Over records that the thing with the reference ref is over. first reports that no other is kept that is over, so that the
// caller must call Expire after Keep.
func (l *Lasting[T]) Over(ref wire.Ref, now time.Time) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[ref] == nil {
		return false
	}
	first = len(l.over) == 0
	l.over = append(l.over, overAt{ref, now})
	if len(l.over) > l.Most {
		l.dropOldest()
	}
	return first
}

// Expire drops what has been over for longer than Keep. If more, next is the time until the next is due.
func (l *Lasting[T]) Expire(now time.Time) (next time.Duration, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.over) > 0 {
		if left := l.Keep - now.Sub(l.over[0].at); left > 0 {
			return left, true
		}
		l.dropOldest()
	}
	l.over = nil
	return 0, false
}

// dropOldest drops the one that has been over the longest. The caller holds mu.
func (l *Lasting[T]) dropOldest() {
	ref := l.over[0].ref
	l.over = l.over[1:]
	delete(l.refs, l.of[ref].x)
	delete(l.of, ref)
}

// Ask returns the thing with the reference ref. ok is false if there is none, or it was requested too often.
func (l *Lasting[T]) Ask(ref wire.Ref) (x T, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.of[ref]
	if e == nil || e.asks == l.Asks {
		return x, false
	}
	e.asks++
	return e.x, true
}

// Find is Ask by this node itself, which does not count.
func (l *Lasting[T]) Find(ref wire.Ref) (x T, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.of[ref]; e != nil {
		return e.x, true
	}
	return x, false
}

// Len returns the number of things.
func (l *Lasting[T]) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.of)
}
