package supervisor

import (
	"slices"

	"github.com/actornode/actornode/node"
)

// queue is a queue of messages.
type queue struct {
	in    []any
	out   []any            // the oldest last
	exits map[node.PID]any // the reasons in the exit signals among them
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

// pop takes out the oldest message that matches; nil: any does.
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
		*q = queue{} // and keep no memory
	}
	return m, true
}

// exitOf finds the reason in an exit signal that waits.
func (q *queue) exitOf(pid node.PID) (reason any, ok bool) {
	reason, ok = q.exits[pid]
	return reason, ok
}
