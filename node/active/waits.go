package active

import (
	"sync"
	"time"

	"github.com/actornode/actornode/node/observe"
)

// kind is what a suspended activation waits for.
type kind uint8

const (
	future kind = iota
	condition
	turn
	asleep
	kinds
)

// wait is the wait of an activation, from when it is suspended until it runs again.
type wait struct {
	kind         kind
	since        int64 // Unix time, ns
	older, newer *wait
}

// waits are the waits of a group. They have a lock of their own, so that an observer does not wait for a method.
type waits struct {
	mu             sync.Mutex
	oldest, newest *wait
	count          [kinds]int
}

// begin records a wait since a Unix time, in ns. w is on no list.
func (l *waits) begin(w *wait, k kind, since int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count[k]++
	*w = wait{kind: k, since: since, older: l.newest}
	if w.older != nil {
		w.older.newer = w
	} else {
		l.oldest = w
	}
	l.newest = w
}

func (l *waits) end(w *wait) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count[w.kind]--
	if w.older != nil {
		w.older.newer = w.newer
	} else {
		l.oldest = w.newer
	}
	if w.newer != nil {
		w.newer.older = w.older
	} else {
		l.newest = w.older
	}
}

// Activations is part of observe.ActiveObject.
func (l *waits) Activations() observe.Activations {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := observe.Activations{Future: l.count[future], Condition: l.count[condition], Turn: l.count[turn], Asleep: l.count[asleep]}
	if l.oldest != nil {
		v.Since = time.Unix(0, l.oldest.since)
	}
	return v
}
