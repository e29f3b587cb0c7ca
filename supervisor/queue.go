package supervisor

import (
	"slices"

	"github.com/actornode/actornode/node"
)

// queue is a queue of messages.
type queue struct {
	in    []any
	out   []any            // the oldest last
	exits map[node.PID]any // the reasons of the exit signals in the queue
}

func (q *queue) len() int { return len(q.in) + len(q.out) }

func (q *queue) push(m any) {
	q.in = append(q.in, m)
	if e, ok := m.(node.Exited); ok {
		if q.exits == nil {
			q.exits = make(map[node.PID]any)
		}
		if _, twice := q.exits[e.From]; !twice {
			q.exits[e.From] = e.Reason
		}
	}
}

// pop removes and returns the oldest message that matches, or the oldest one if match is nil.
func (q *queue) pop(match func(any) bool) (m any, ok bool) {
	if len(q.out) == 0 || match != nil {
		slices.Reverse(q.in)
		q.in, q.out = nil, append(q.in, q.out...)
	}
	i := len(q.out) - 1
	for i >= 0 && match != nil && !match(q.out[i]) {
		i--
	}
	if i < 0 {
		return nil, false
	}
	m = q.out[i]
	q.out = slices.Delete(q.out, i, i+1)
	if e, ok := m.(node.Exited); ok {
		delete(q.exits, e.From)
	}
	if q.len() == 0 {
		*q = queue{} // releases the memory
	}
	return m, true
}

// exitOf returns the reason of a queued exit signal from pid.
func (q *queue) exitOf(pid node.PID) (reason any, ok bool) {
	reason, ok = q.exits[pid]
	return reason, ok
}
