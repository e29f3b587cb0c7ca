package supervisor

import "github.com/actornode/actornode/node"

// queue is a queue of messages.
type queue struct {
	in  []any
	out []any // the oldest last
}

func (q *queue) len() int { return len(q.in) + len(q.out) }

func (q *queue) push(m any) { q.in = append(q.in, m) }

func (q *queue) pop() any {
	if len(q.out) == 0 {
		for i := len(q.in) - 1; i >= 0; i-- {
			q.out = append(q.out, q.in[i])
			q.in[i] = nil
		}
		q.in = q.in[:0]
	}
	last := len(q.out) - 1
	m := q.out[last]
	q.out[last] = nil
	q.out = q.out[:last]
	if last == 0 {
		q.in, q.out = shrunk(q.in), shrunk(q.out)
	}
	return m
}

// keep is how much memory an empty queue keeps, in messages.
const keep = 1024

func shrunk(s []any) []any {
	if len(s) == 0 && cap(s) > keep {
		return nil
	}
	return s
}

// exitOf finds the reason in an exit signal that waits.
func (q *queue) exitOf(pid node.PID) (reason any, ok bool) {
	for _, half := range [][]any{q.in, q.out} {
		for _, m := range half {
			if e, is := m.(node.Exited); is && e.From == pid {
				return e.Reason, true
			}
		}
	}
	return nil, false
}
