package executor

import (
	"time"

	"github.com/actornode/actornode/internal/mailbox/inbox"
)

// unit is the time that this processor takes to push a message into an uncontended inbox and take it out. Time thresholds
// are multiples of it, and thus scale with the machine. It is measured when the program starts, which takes some
// microseconds.
var unit = measureUnit(time.Now)

const (
	unitRuns   = 8  // the shortest of this many runs counts, because a disturbance rarely affects all
	unitRounds = 64 // messages of a run
	// unitCoarse is the unit in ns if the clock is too coarse to measure it.
	unitCoarse = 16
	// unitMost is the maximum unit in ns: no processor is that slow, so a larger result means that all runs were disturbed,
	// or that the race detector is on.
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
