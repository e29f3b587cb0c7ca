package observe

import (
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/sched"
)

// Stats are a node's counters.
type Stats struct {
	Processes    int    // alive
	Lingering    int    // killed, with a function that has not returned yet
	BlockedTurns uint64 // handlers that ran longer than Config.Blocked
	Goroutines   int    // of the whole program
	Kept         int    // of these, those that run actors, or wait to run some or a coroutine
	RunQueue     int    // actors that wait for their turn
	Names        int    // registered
	Aliases      int    // active, of all processes
	Timers       int    // messages that will be sent, see Node.SendAfter and Node.SendInterval

	// Handled is how many messages processes have taken. Of a Process with a
	// goroutine of its own, and of a handle, up to 63 are not in it yet, and of an
	// actor those of the turn that goes on.
	Handled uint64

	Draining bool // whether Node.Drain has been called

	// Fallbacks is how often a peer was dialled, or has connected, by a less preferred
	// protocol than it is known to speak.
	Fallbacks uint64

	// DeadLetters is how many messages have become dead letters, by cause.
	DeadLetters map[deadletter.Cause]uint64

	// Scheduler is what the scheduler is doing. Its Stages is how many stages there are.
	Scheduler sched.Stats
}

// Limit is how much of one limit of the node is used at one moment.
type Limit struct {
	Name    string // such as connections; the field of the daemon's file is limits.NAME
	Max     int64  // 0: there is none
	Used    int64  // for a limit of each peer: of the peer with the most
	Refused uint64 // how often something was refused, or ended, by it so far
}
