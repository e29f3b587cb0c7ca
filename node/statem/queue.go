package statem

import (
	"container/list"

	"github.com/actornode/actornode/node"
)

// queue holds what waits in a machine, apart from its mailbox. It knows neither time
// nor process: start starts a timer and stop stops it.
//
// Invariants:
//
//  1. There is at most one timeout of a type: times holds it.
//  2. A zero timeout is in the list zero, too. Zero timeouts come in the order of that list, when events is empty.
//  3. A timeout that times does not hold has been cancelled or replaced: its
//     message is stale.
type queue struct {
	events    []Event // to be handled before the mailbox; the last one is next
	postponed []Event // until the state changes; oldest first
	times     map[EventType]*timeout
	zero      list.List // of *timeout

	start func(t *timeout, s setting) *node.Timer
	stop  func(*node.Timer)
}

// timeout is a timeout that has been set; it is also the message that its timer sends.
type timeout struct {
	typ     EventType
	content any
	timer   *node.Timer   // nil: it is in zero
	zero    *list.Element // of queue.zero
}

// next takes the next event that comes before the mailbox.
func (q *queue) next() (Event, bool) {
	if last := len(q.events) - 1; last >= 0 {
		e := q.events[last]
		q.events[last] = Event{}
		q.events = q.events[:last]
		return e, true
	}
	if e := q.zero.Front(); e != nil {
		return q.over(e.Value.(*timeout))
	}
	return Event{}, false
}

// idle reports whether no event waits and no timeout is set.
func (q *queue) idle() bool { return len(q.events) == 0 && len(q.times) == 0 }

// over takes a timeout whose time is over; false: it has been cancelled.
func (q *queue) over(t *timeout) (Event, bool) {
	if q.times[t.typ] != t {
		return Event{}, false
	}
	delete(q.times, t.typ)
	if t.zero != nil {
		q.zero.Remove(t.zero)
	}
	return Event{Type: t.typ, Content: t.content}, true
}

// transit updates the queue after e has been handled. changed says whether the
// state has changed.
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
	if len(a.times) > 1 {
		a.times = latest(a.times)
	}
	for _, s := range a.times {
		q.set(s)
	}
	q.push(a.next)
}

// push puts events before all others.
func (q *queue) push(events []Event) {
	for i := len(events) - 1; i >= 0; i-- {
		q.events = append(q.events, events[i])
	}
}

// latest keeps the last setting of each timeout.
func latest(all []setting) []setting {
	last := make(map[EventType]int, few)
	for i, s := range all {
		last[s.typ] = i
	}
	kept := all[:0]
	for i, s := range all {
		if last[s.typ] == i {
			kept = append(kept, s)
		}
	}
	return kept
}

// few is how many timeouts latest handles without allocating.
const few = 8

func (q *queue) set(s setting) {
	if s.update {
		if t := q.times[s.typ]; t != nil {
			t.content = s.content
			return
		}
		s.d = 0
	}
	q.cancel(s.typ)
	if s.d == node.Infinity {
		return
	}
	t := &timeout{typ: s.typ, content: s.content}
	if s.d == 0 {
		t.zero = q.zero.PushBack(t)
	} else {
		t.timer = q.start(t, s)
	}
	if q.times == nil {
		q.times = make(map[EventType]*timeout)
	}
	q.times[s.typ] = t
}

func (q *queue) cancel(typ EventType) {
	if t := q.times[typ]; t != nil {
		if t.timer != nil {
			q.stop(t.timer)
		}
		q.over(t)
	}
}

// clear cancels all timeouts.
func (q *queue) clear() {
	for typ := range q.times {
		q.cancel(typ)
	}
}
