package node

import (
	"container/list"
	"time"
)

// turns decides which peers are connected next: so many at a time, the others wait in
// two lines. Those in the first line are wanted by a caller that waits for them, or have
// been connected before. Those in the second are wanted by a message, a link or an exit
// signal to a node that is not known yet, which may be the answer to a peer that has made
// its name up. They leave a quarter of all turns to the first line.
//
// It has no goroutine, clock or lock; dist.mu guards it.
//
// Invariants:
//
//  1. under is the number of peers whose turn it is, at most max; under2 of them came
//     from the second line, at most max2.
//  2. Nobody waits in the first line while under < max, nor in the second while
//     under < max and under2 < max2.
type turns struct {
	max, max2     int
	under, under2 int
	first, second list.List // of *peer
	most1, most2  int       // that may wait
	refused       uint64
	patience      time.Duration // how long a peer waits at most
}

// turn is what a peer has of it.
type turn struct {
	line  *list.List    // that it waits in, nil: in none
	at    *list.Element // where
	since time.Time
	later bool // its turn came by the second line
}

// How many may wait for one turn.
const (
	mostWaiting1 = 64
	mostWaiting2 = 16
)

func newTurns(max int, patience time.Duration) *turns {
	return &turns{max: max, max2: max - max/4, most1: max * mostWaiting1, most2: max * mostWaiting2, patience: patience}
}

// answer says what becomes of who asks for a turn.
type answer uint8

const (
	turnNow answer = iota // done is to be called when it is over
	turnLater
	turnRefused
)

// ask asks for a turn for p, which waits in no line.
func (t *turns) ask(p *peer, first bool, now time.Time) answer {
	p.turn.later = !first
	line, most := &t.first, t.most1
	if !first {
		line, most = &t.second, t.most2
	}
	switch {
	case t.free(first):
		t.begin(p)
		return turnNow
	case line.Len() >= most:
		t.refused++
		return turnRefused
	}
	p.turn.since = now
	p.turn.line, p.turn.at = line, line.PushBack(p)
	return turnLater
}

func (t *turns) free(first bool) bool { return t.under < t.max && (first || t.under2 < t.max2) }

func (t *turns) begin(p *peer) {
	t.under++
	if p.turn.later {
		t.under2++
	}
}

// hurry moves p to the first line if it is in the second.
func (t *turns) hurry(p *peer) answer {
	if p.turn.line != &t.second || t.first.Len() >= t.most1 {
		return turnLater
	}
	since := p.turn.since
	t.withdraw(p)
	return t.ask(p, true, since)
}

// withdraw takes p out of its line, and reports whether it was in one.
func (t *turns) withdraw(p *peer) bool {
	if p.turn.line == nil {
		return false
	}
	p.turn.line.Remove(p.turn.at)
	p.turn.line, p.turn.at = nil, nil
	return true
}

// done ends p's turn, and returns whose it is now, nil: nobody's; and who has waited too
// long for one.
func (t *turns) done(p *peer, now time.Time) (next *peer, late []*peer) {
	t.under--
	if p.turn.later {
		t.under2--
	}
	for _, line := range []*list.List{&t.first, &t.second} {
		for line.Len() > 0 && t.free(line == &t.first) {
			q := line.Front().Value.(*peer)
			t.withdraw(q)
			if now.Sub(q.turn.since) < t.patience {
				t.begin(q)
				return q, late
			}
			t.refused++
			late = append(late, q)
		}
	}
	return nil, late
}

func (t *turns) limit() LimitUse { return LimitUse{"dials", int64(t.max), int64(t.under), t.refused} }
