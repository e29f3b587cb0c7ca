package active

import (
	"container/list"
	"sync"
	"time"

	"github.com/actornode/actornode/node/observe"
)

// kind is what an activation is suspended for.
type kind uint8

const (
	future kind = iota
	condition
	turn
	kinds
)

// wait is the wait of an activation, from when it is suspended until it runs again.
type wait struct {
	kind  kind
	since int64 // Unix time, ns
}

// waits are those of a group. They have a lock of their own: who looks does not wait for a method.
type waits struct {
	mu    sync.Mutex
	all   list.List // of wait, the oldest first
	count [kinds]int
}

// begin notes a wait since a Unix time, in ns.
func (l *waits) begin(k kind, since int64) *list.Element {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count[k]++
	return l.all.PushBack(wait{k, since})
}

func (l *waits) end(e *list.Element) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count[l.all.Remove(e).(wait).kind]--
}

// Activations is part of observe.ActiveObject.
func (l *waits) Activations() observe.Activations {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := observe.Activations{Future: l.count[future], Condition: l.count[condition], Turn: l.count[turn]}
	if oldest := l.all.Front(); oldest != nil {
		v.Since = time.Unix(0, oldest.Value.(wait).since)
	}
	return v
}
