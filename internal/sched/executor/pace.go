package executor

import "time"

// pace decides when the watcher's next check happens. In an idle program a wake-up of the watcher costs as much as a
// message, so it checks often only while workers run, and for a while after a long turn. pace decides by the results of
// checks, without a clock.
//
//	rests     nothing runs; the first check comes a short period after a wake-up
//	often     the next check comes after the short period
//	at once   the next check comes after a small part of it: recent ones have taken a stage from a
//	          turn that delayed others, and one undeclared blocking handler is usually not the only one
//	seldom    the next check comes after the long period; a goroutine that finds a stage
//	          held meanwhile makes it come at once: see Pool.lookSoon
//
// The watcher starts to rest when nothing has run for a whole long period.
type pace struct {
	short, long time.Duration
	soon        time.Duration
	seldom      bool // the last period was the long one
	closely     int  // remaining checks after the short period, regardless of their results
	again       int  // remaining immediate checks
	held        int  // grows with checks that have found others waiting for a long turn
}

const (
	// closeLooks is the number of frequent checks after a long turn: a program with one such handler has others, or will
	// call it again.
	closeLooks = 64
	// soonLooks is the number of immediate checks after one that has taken a stage away, and soonPeriods is the number of
	// their periods in a short one. It takes two checks to find a long turn.
	soonLooks   = 4
	soonPeriods = 100
	// heldLooks is the number of checks without a result after which one that has found others waiting is forgotten. After
	// two such checks the next ones are immediate.
	heldLooks = 8
	// longPeriod is the long period, at least the short one. It bounds how long a turn that blocks its stage goes unnoticed
	// under low load.
	longPeriod = 64 * time.Millisecond
	// shortPeriods is the number of short periods in Config.Blocked.
	shortPeriods = 5
)

func newPace(blocked time.Duration) pace {
	short := max(blocked/shortPeriods, time.Microsecond)
	return pace{short: short, soon: max(short/soonPeriods, time.Microsecond), long: max(short, min(32*short, longPeriod))}
}

// found is the result of a check.
type found struct {
	ran    bool // a worker has started to run something since the last check
	active bool // a worker is running, or a turn runs without its stage
	slow   bool // a turn has been running since the last check,
	waits  bool // and others wait for its stage,
	taken  bool // which it has lost to them
}

// next returns the time until the check after one with the result f, or 0 if the watcher rests.
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
