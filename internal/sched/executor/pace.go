package executor

import "time"

// pace decides when the watcher looks next. To be woken costs a program that has little to
// do as much as a message does, so the watcher looks often only while there is a reason to:
// while workers run, and for a while after a turn that took long. It decides by what looks
// have found, and knows no clock.
//
//	rests     nothing runs, and a wake-up has the first look come a short period later
//	often     the next look comes after the short period
//	at once   the next look comes after a small part of it: the last ones have taken a stage from a
//	          turn that held others up, and where one handler blocks without saying so there are more
//	seldom    the next look comes after the long period; a goroutine that finds a stage
//	          held meanwhile makes it come at once: see Pool.lookSoon
//
// It begins to rest when nothing has run for a whole long period.
type pace struct {
	short, long time.Duration
	soon        time.Duration
	seldom      bool // the period that ends was the long one
	closely     int  // how many looks still come after the short period, whatever they find
	again       int  // how many looks still come at once
	held        int  // grows with looks that have found others waiting for a turn
}

const (
	// closeLooks is how many looks come often after a turn that took long: a program
	// with one such handler has others, or will call that one again.
	closeLooks = 64
	// soonLooks is how many looks come at once after one that has taken a stage away, and soonPeriods how many of
	// the periods before them there are in a short one. It takes two looks to find a turn that goes on.
	soonLooks   = 4
	soonPeriods = 100
	// heldLooks is after how many looks that find nothing one is forgotten that has found others waiting for a turn. After
	// two such looks the next ones come at once.
	heldLooks = 8
	// longPeriod is the long period, at least the short one. It bounds for how long a turn
	// that blocks its stage goes unnoticed in a program that has little to do.
	longPeriod = 64 * time.Millisecond
	// shortPeriods is how many short periods there are in Config.Blocked.
	shortPeriods = 5
)

func newPace(blocked time.Duration) pace {
	short := max(blocked/shortPeriods, time.Microsecond)
	return pace{short: short, soon: max(short/soonPeriods, time.Microsecond), long: max(short, min(32*short, longPeriod))}
}

// found is what a look has found.
type found struct {
	ran    bool // a worker has begun to run something since the look before
	active bool // one runs now, or a turn goes on without its stage
	slow   bool // a turn has been going on since the look before,
	waits  bool // and others wait for its stage,
	taken  bool // which it has lost to them
}

// next returns when the look after one that has found f comes; 0: the watcher rests.
func (p *pace) next(f found) time.Duration {
	seldom := p.seldom
	p.seldom = false
	if f.slow {
		p.closely = closeLooks
	}
	if f.waits {
		p.held += heldLooks
	} else if p.held > 0 {
		p.held--
	}
	if f.taken || p.held > heldLooks {
		p.again, p.held = soonLooks, 0
	}
	switch {
	case p.again > 0:
		p.again--
		return p.soon
	case f.active:
		return p.short
	case p.closely > 0:
		p.closely--
		return p.short
	case seldom && !f.ran:
		return 0
	}
	p.seldom = true
	return p.long
}
