package limits

import (
	"container/list"
	"time"
)

// Dials decides which peers are dialled next: a limited number at a time, the others wait in two queues. The first queue is
// for peers that a caller waits for, or that have been connected before. The second is for peers requested by a message, a
// link or an exit signal to an unknown node, whose name may have been made up by another peer to which the node is to answer.
// A quarter of all dials is reserved for the first queue.
//
// It has no goroutine, clock or lock: the caller of each method holds the lock that guards it. P is the peer.
//
// Invariants:
//
//  1. dialing is the number of peers being dialled, at most max; dialing2 of them came from
//     the second queue, at most max2. Both may be more after SetMax until enough are done.
//  2. The first queue is empty while dialing < max, and the second while
//     dialing < max and dialing2 < max2.
type Dials[P any] struct {
	max, max2         int
	dialing, dialing2 int
	first, second     list.List // of *Dial[P]
	most1, most2      int       // maximum lengths of the queues
	refused           uint64
	maxWait           time.Duration // maximum time a peer waits
}

// Dial is the state of a peer. Of is set before Ask.
type Dial[P any] struct {
	Of     *P
	line   *list.List    // the queue it waits in, or nil
	at     *list.Element // its element there
	since  time.Time
	second bool // it waits in the second queue, or came from there
}

// Maximum number of waiting peers per dial.
const (
	mostWaiting1 = 64
	mostWaiting2 = 16
)

// NewDials returns the dials of a node that makes max connections at a time, for which a peer waits for maxWait at most.
func NewDials[P any](max int, maxWait time.Duration) *Dials[P] {
	q := &Dials[P]{maxWait: maxWait}
	q.setMax(max)
	return q
}

func (q *Dials[P]) setMax(max int) {
	q.max, q.max2, q.most1, q.most2 = max, max-max/4, max*mostWaiting1, max*mostWaiting2
}

// SetMax changes the maximum number of concurrent dials. It returns the peers to be dialled now, and those that have waited
// too long. Running dials continue even if they exceed it.
func (q *Dials[P]) SetMax(max int, now time.Time) (next, late []*P) {
	q.setMax(max)
	for {
		p, tooLate := q.next(now)
		late = append(late, tooLate...)
		if p == nil {
			return next, late
		}
		next = append(next, p)
	}
}

// DialAnswer is when a peer may be dialled.
type DialAnswer uint8

const (
	Now     DialAnswer = iota // the caller must call Done at its end
	Later                     // Done of another peer returns it
	Refused                   // too many wait
)

// Ask returns when p, which waits in no queue, may be dialled.
func (q *Dials[P]) Ask(p *Dial[P], first bool, now time.Time) DialAnswer {
	p.second = !first
	line, most := &q.first, q.most1
	if !first {
		line, most = &q.second, q.most2
	}
	switch {
	case q.free(first):
		q.begin(p)
		return Now
	case line.Len() >= most:
		q.refused++
		return Refused
	}
	p.since = now
	p.line, p.at = line, line.PushBack(p)
	return Later
}

func (q *Dials[P]) free(first bool) bool { return q.dialing < q.max && (first || q.dialing2 < q.max2) }

func (q *Dials[P]) begin(p *Dial[P]) {
	q.dialing++
	if p.second {
		q.dialing2++
	}
}

// Promote moves p to the first queue if it is in the second.
func (q *Dials[P]) Promote(p *Dial[P]) DialAnswer {
	if p.line != &q.second || q.first.Len() >= q.most1 {
		return Later
	}
	since := p.since
	q.Withdraw(p)
	return q.Ask(p, true, since)
}

// Withdraw removes p from its queue, and reports whether it was in one.
func (q *Dials[P]) Withdraw(p *Dial[P]) bool {
	if p.line == nil {
		return false
	}
	p.line.Remove(p.at)
	p.line, p.at = nil, nil
	return true
}

// Done records that p has been dialled. It returns the peer to be dialled now, or nil, and those that have waited too long.
func (q *Dials[P]) Done(p *Dial[P], now time.Time) (next *P, late []*P) {
	q.dialing--
	if p.second {
		q.dialing2--
	}
	return q.next(now)
}

// next dequeues and returns the peer to be dialled now, or nil, and those before it that have waited too long.
func (q *Dials[P]) next(now time.Time) (next *P, late []*P) {
	for _, line := range []*list.List{&q.first, &q.second} {
		for line.Len() > 0 && q.free(line == &q.first) {
			p := line.Front().Value.(*Dial[P])
			q.Withdraw(p)
			if now.Sub(p.since) < q.maxWait {
				q.begin(p)
				return p.Of, late
			}
			q.refused++
			late = append(late, p.Of)
		}
	}
	return nil, late
}

// Limit returns the limit and its usage.
func (q *Dials[P]) Limit() Use {
	return Use{Name: "dials", Max: int64(q.max), Used: int64(q.dialing), Refused: q.refused}
}
