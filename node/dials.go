package node

import (
	"container/list"
	"time"
)

// dialQueue decides which peers are dialled next: so many at a time, the others wait in
// two lines. Those in the first line are wanted by a caller that waits for them, or have
// been connected before. Those in the second are wanted by a message, a link or an exit
// signal to a node that is not known yet. Its name may be made up by another peer, which
// is to be answered there. A quarter of all dials is kept for the first line.
//
// It has no goroutine, clock or lock; dist.mu guards it.
//
// Invariants:
//
//  1. dialing is the number of peers that may be dialled now, at most max; dialing2 of
//     them came from the second line, at most max2.
//  2. Nobody waits in the first line while dialing < max, nor in the second while
//     dialing < max and dialing2 < max2.
type dialQueue struct {
	max, max2         int
	dialing, dialing2 int
	first, second     list.List // of *peer
	most1, most2      int       // that may wait
	refused           uint64
	maxWait           time.Duration // how long a peer waits at most
}

// dialEntry is what the dialQueue knows of a peer.
type dialEntry struct {
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

func newDialQueue(max int, maxWait time.Duration) *dialQueue {
	return &dialQueue{max: max, max2: max - max/4, most1: max * mostWaiting1, most2: max * mostWaiting2, maxWait: maxWait}
}

// dialAnswer says when a peer may be dialled.
type dialAnswer uint8

const (
	dialNow dialAnswer = iota // done is to be called when it is over
	dialLater
	dialRefused
)

// ask asks whether p, which waits in no line, may be dialled.
func (q *dialQueue) ask(p *peer, first bool, now time.Time) dialAnswer {
	p.dial.second = !first
	line, most := &q.first, q.most1
	if !first {
		line, most = &q.second, q.most2
	}
	switch {
	case q.free(first):
		q.begin(p)
		return dialNow
	case line.Len() >= most:
		q.refused++
		return dialRefused
	}
	p.dial.since = now
	p.dial.line, p.dial.at = line, line.PushBack(p)
	return dialLater
}

func (q *dialQueue) free(first bool) bool { return q.dialing < q.max && (first || q.dialing2 < q.max2) }

func (q *dialQueue) begin(p *peer) {
	q.dialing++
	if p.dial.second {
		q.dialing2++
	}
}

// promote moves p to the first line if it is in the second.
func (q *dialQueue) promote(p *peer) dialAnswer {
	if p.dial.line != &q.second || q.first.Len() >= q.most1 {
		return dialLater
	}
	since := p.dial.since
	q.withdraw(p)
	return q.ask(p, true, since)
}

// withdraw takes p out of its line, and reports whether it was in one.
func (q *dialQueue) withdraw(p *peer) bool {
	if p.dial.line == nil {
		return false
	}
	p.dial.line.Remove(p.dial.at)
	p.dial.line, p.dial.at = nil, nil
	return true
}

// done says that p has been dialled. It returns the peer that may be dialled now, nil:
// none; and those that have waited too long.
func (q *dialQueue) done(p *peer, now time.Time) (next *peer, late []*peer) {
	q.dialing--
	if p.dial.second {
		q.dialing2--
	}
	for _, line := range []*list.List{&q.first, &q.second} {
		for line.Len() > 0 && q.free(line == &q.first) {
			p := line.Front().Value.(*peer)
			q.withdraw(p)
			if now.Sub(p.dial.since) < q.maxWait {
				q.begin(p)
				return p, late
			}
			q.refused++
			late = append(late, p)
		}
	}
	return nil, late
}

func (q *dialQueue) limit() LimitUse {
	return LimitUse{"dials", int64(q.max), int64(q.dialing), q.refused}
}
