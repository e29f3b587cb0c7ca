package limits

import (
	"container/list"
	"time"
)

// Dials decides which peers are dialled next: so many at a time, the others wait in
// two lines. Those in the first line are wanted by a caller that waits for them, or have
// been connected before. Those in the second are wanted by a message, a link or an exit
// signal to a node that is not known yet. Its name may be made up by another peer, which
// is to be answered there. A quarter of all dials is kept for the first line.
//
// It has no goroutine, clock or lock: whoever calls a method holds the lock that guards it.
// P is the peer.
//
// Invariants:
//
//  1. dialing is the number of peers that may be dialled now, at most max; dialing2 of
//     them came from the second line, at most max2. Both may be more after SetMax until enough are done.
//  2. Nobody waits in the first line while dialing < max, nor in the second while
//     dialing < max and dialing2 < max2.
type Dials[P any] struct {
	max, max2         int
	dialing, dialing2 int
	first, second     list.List // of *Dial[P]
	most1, most2      int       // that may wait
	refused           uint64
	maxWait           time.Duration // how long a peer waits at most
}

// Dial is what is known of a peer. Of is set before it is asked for.
type Dial[P any] struct {
	Of     *P
	line   *list.List    // that it waits in, nil: in none
	at     *list.Element // where
	since  time.Time
	second bool // it waits in the second line, or came from there
}

// How many may wait for one dial.
const (
	mostWaiting1 = 64
	mostWaiting2 = 16
)

// NewDials returns the dials of a node that makes max connections at a time, for which a peer waits for
// maxWait at most.
func NewDials[P any](max int, maxWait time.Duration) *Dials[P] {
	q := &Dials[P]{maxWait: maxWait}
	q.setMax(max)
	return q
}

func (q *Dials[P]) setMax(max int) {
	q.max, q.max2, q.most1, q.most2 = max, max-max/4, max*mostWaiting1, max*mostWaiting2
}

// SetMax changes how many connections are made at a time. It returns the peers that may be dialled now, and those that
// have waited too long. Of more that are being made each goes on.
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

// DialAnswer says when a peer may be dialled.
type DialAnswer uint8

const (
	Now     DialAnswer = iota // Done is to be called when it is over
	Later                     // Done of another peer says when
	Refused                   // too many wait
)

// Ask asks whether p, which waits in no line, may be dialled.
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

// Promote moves p to the first line if it is in the second.
func (q *Dials[P]) Promote(p *Dial[P]) DialAnswer {
	if p.line != &q.second || q.first.Len() >= q.most1 {
		return Later
	}
	since := p.since
	q.Withdraw(p)
	return q.Ask(p, true, since)
}

// Withdraw takes p out of its line, and reports whether it was in one.
func (q *Dials[P]) Withdraw(p *Dial[P]) bool {
	if p.line == nil {
		return false
	}
	p.line.Remove(p.at)
	p.line, p.at = nil, nil
	return true
}

// Done says that p has been dialled. It returns the peer that may be dialled now, nil:
// none; and those that have waited too long.
func (q *Dials[P]) Done(p *Dial[P], now time.Time) (next *P, late []*P) {
	q.dialing--
	if p.second {
		q.dialing2--
	}
	return q.next(now)
}

// next takes the peer out of its line that may be dialled now, nil: none, and those before it that have waited too long.
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

// Limit is the limit, and what is used of it.
func (q *Dials[P]) Limit() Use {
	return Use{Name: "dials", Max: int64(q.max), Used: int64(q.dialing), Refused: q.refused}
}
