package executor

import (
	"time"

	"github.com/actornode/actornode/internal/mailbox/inbox"
)

// unit is how long this processor takes to push a message into an inbox that no other goroutine
// uses, and to take it out. Thresholds of time are multiples of it, and so change with the
// machine. It is measured when the program begins, which takes some microseconds.
var unit = measureUnit(time.Now)

const (
	unitRuns   = 8  // the shortest of this many runs counts: what disturbs one does not disturb all
	unitRounds = 64 // messages of a run
	// unitCoarse is the unit in ns where the clock is too coarse to measure it.
	unitCoarse = 16
	// unitMost is the unit in ns where more is measured: no processor is that slow, so that
	// something disturbed all runs, or a race detector watches them.
	unitMost = 64
)

func measureUnit(now func() time.Time) time.Duration {
	var b inbox.Inbox
	var q inbox.Queue
	var n inbox.Node
	least := time.Duration(0)
	for range unitRuns {
		began := now()
		for range unitRounds {
			b.Push(&n)
			b.TakeArmed(&q)
			q.Drop()
		}
		if d := now().Sub(began) / unitRounds; d > 0 && (least == 0 || d < least) {
			least = d
		}
	}
	if least == 0 {
		least = unitCoarse
	}
	return min(least, unitMost)
}
