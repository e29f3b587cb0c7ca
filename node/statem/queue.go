package statem

import "github.com/actornode/actornode/node"

// queue is what waits in a machine, apart from its mailbox. It knows neither time
// nor process: start starts a timer and stop stops it.
//
// Invariants:
//
//  1. There is at most one timeout of a type in times.
//  2. Those with zero set come in their order in times, when events is empty.
//  3. A timeout that is not in times, or not the same, has been called off: its
//     message is stale.
type queue struct {
	events    []Event // to be handled before the mailbox; the next is the last
	postponed []Event // until the state changes; the oldest is the first
	times     []*timeout

	start func(t *timeout, s setting) *node.Timer
	stop  func(*node.Timer)
}

// timeout is a timeout that has been set, and the message by which it comes.
type timeout struct {
	typ     Type
	content any
	zero    bool
	timer   *node.Timer
}

// next takes the event that comes before anything in the mailbox.
func (q *queue) next() (Event, bool) {
	if last := len(q.events) - 1; last >= 0 {
		e := q.events[last]
		q.events[last] = Event{}
		q.events = q.events[:last]
		return e, true
	}
	for _, t := range q.times {
		if t.zero {
			return q.over(t)
		}
	}
	return Event{}, false
}

// idle reports whether nothing waits, not even for its time.
func (q *queue) idle() bool { return len(q.events) == 0 && len(q.times) == 0 }

// over takes a timeout whose time is over; false: it has been called off.
func (q *queue) over(t *timeout) (Event, bool) {
	for i := range q.times {
		if q.times[i] == t {
			q.times = append(q.times[:i], q.times[i+1:]...)
			return Event{Type: t.typ, Content: t.content}, true
		}
	}
	return Event{}, false
}

// transit is what a transition does to what waits: e has been handled, and the
// state has changed or not.
func (q *queue) transit(e Event, changed bool, a *actions) {
	if a.postpone {
		q.postponed = append(q.postponed, e)
	}
	if changed {
		q.push(q.postponed)
		clear(q.postponed)
		q.postponed = q.postponed[:0]
		q.cancel(StateTimeout)
	}
	q.cancel(EventTimeout)
	for i, s := range a.times {
		if !overruled(s.typ, a.times[i+1:]) {
			q.set(s)
		}
	}
	q.push(a.next)
}

// push puts events before all that are there.
func (q *queue) push(events []Event) {
	for i := len(events) - 1; i >= 0; i-- {
		q.events = append(q.events, events[i])
	}
}

// overruled reports whether something is said of t later.
func overruled(t Type, later []setting) bool {
	for _, s := range later {
		if s.typ == t {
			return true
		}
	}
	return false
}

func (q *queue) set(s setting) {
	if s.update {
		for _, t := range q.times {
			if t.typ == s.typ {
				t.content = s.content
				return
			}
		}
		s.d = 0
	}
	q.cancel(s.typ)
	if s.d == node.Infinity {
		return
	}
	t := &timeout{typ: s.typ, content: s.content, zero: s.d == 0}
	if !t.zero {
		t.timer = q.start(t, s)
	}
	q.times = append(q.times, t)
}

func (q *queue) cancel(typ Type) {
	for _, t := range q.times {
		if t.typ == typ {
			if t.timer != nil {
				q.stop(t.timer)
			}
			q.over(t)
			return
		}
	}
}

// clear calls off all timeouts.
func (q *queue) clear() {
	for len(q.times) > 0 {
		q.cancel(q.times[0].typ)
	}
}
