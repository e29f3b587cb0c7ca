package lifetime

import (
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
)

// A process is at rest when none of its code runs or is due: an Actor without a turn, whose
// mailbox has only messages that it has left as unhandled; a blocking process that waits in a receive, and
// has looked at each waiting message. [atRestAll] reports whether there was a moment during its call at
// which each process was at rest.
//
// atRestAll reads one process after the other and holds no lock meanwhile, so each may have been at rest when it was
// read, but never all at once. atRestAll therefore compares counters that only go up, as Mattern's double counting does
// (Algorithms for distributed termination detection, 1987):
//
//  1. It reads A, a number that goes up at the end of each turn.
//  2. It reads all processes. Each must be at rest.
//  3. It reads all processes again. Each must be at rest.
//  4. It reads A again, which must not have changed. Nor may two counts of each blocking process, read before step 2
//     looks at it and after step 3 has: the messages that it has taken, and the timeouts that have ended its receives.
//
// Then all were at rest between step 2 and step 3. Suppose that a turn was running at that moment. It began after step
// 2 read its process, and ended before step 3 did. A goes up before the process of a turn looks idle, so step 4 reads
// another number. Suppose that a message waited for a process at that moment. Its sender is not running, so the process
// has been woken. Either step 3 sees that it still is, or its turn is over, and step 4 reads another number.
//
// Senders from outside are not covered: a goroutine of the program, a connection or a future timer.

// atRestAll reports whether there was a moment during the call at which all processes of sys were at rest and no
// timer was due. It takes a microsecond or less for each process.
func atRestAll(sys *process.System) bool {
	before := sys.Tally.Activity()
	now := sys.Env.Now()
	if sys.Later.HasDue(now) {
		return false
	}
	var first, second uint64
	for p := range sys.Table.All() {
		first += done(p)
		if !atRest(p, now) {
			return false
		}
	}
	for p := range sys.Table.All() {
		if !atRest(p, now) {
			return false
		}
		second += done(p)
	}
	return first == second && sys.Tally.Activity() == before
}

// done returns a digest of what p has done so far, or 0 if a stage runs p. The sum over all processes changes when one
// of them has done more.
func done(p *process.Process) uint64 {
	if p.Kind != process.Goroutine && p.Kind != process.External {
		return 0
	}
	p.Mu.Lock()
	_, timed := runner.Timed(p)
	p.Mu.Unlock()
	return mix(mix(p.ID) + mix(p.Handled.Load()) ^ uint64(timed))
}

// mix is the last step of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// atRest reports whether p is at rest.
func atRest(p *process.Process, now time.Time) bool {
	if p.Kind == process.Handle {
		return true // its goroutine is not the node's
	}
	if p.Gone() {
		return false // others are being told
	}
	switch p.Kind {
	case process.External:
		if p.Running.Load() || !p.Boxed && !p.Inbox.Armed() {
			return false
		}
	case process.Goroutine:
		if !runner.Receives(p) {
			return p.Daemon && p.Intake().Len() == 0
		}
		if !p.Boxed {
			return p.Inbox.Armed() && !timerDue(p, now)
		}
	default:
		if _, queued, _ := p.Observe(); queued || !p.Inbox.Armed() || p.Kind == process.Coroutine && !runner.Receives(p) {
			return false
		}
	}
	return !timerDue(p, now) && (p.Intake().Len() == 0 || hasSeenAll(p))
}

// hasSeenAll reports whether p, which does not seem to run, has looked at each waiting message.
func hasSeenAll(p *process.Process) (all bool) {
	p.Runner().Inspect(func() {
		if p.Boxed {
			all = p.Cold.Box.Len() == p.Queue.Len() && !p.Queue.More()
		} else {
			all = p.Inbox.Armed() && !p.Queue.More()
		}
		all = all && !(p.OnStage() && p.Queued())
	})
	return all
}

// timerDue reports whether a timer should have sent a message to p by now.
func timerDue(p *process.Process, now time.Time) bool {
	if p.System.Timers.Len() == 0 {
		return false
	}
	p.Mu.Lock()
	defer p.Mu.Unlock()
	return p.Cold != nil && p.Cold.Timers.HasDue(now)
}
