package lifetime

import (
	"context"
	"time"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
)

func system(n *node.Node) *process.System { return n.Inside(process.Key{}).System() }

// Wait returns when only daemons are left on n: processes with Daemon of node.Options, and the node's own
// services. It does not wait for the handles that goroutines have opened, either: each goroutine knows when it is
// done. SALSA and Scala's actors end a program in this way, when all actors are done.
//
// There was a moment during the call at which no other process was left. The error is the error of ctx.
func Wait(ctx context.Context, n *node.Node) error {
	sys := system(n)
	for {
		// A process that is spawned into a part of the table that has been read counts as started by then. If
		// it does not yet, the process that spawns it is still in the table, or it comes from outside.
		started, left := sys.Tally.Started(), false
		for p := range sys.Table.All() {
			if p.Daemon || p.Kind == process.Handle {
				continue
			}
			left = true
			if _, err := node.AwaitExit(ctx, n, p.PID()); err != nil {
				return err
			}
		}
		if !left && sys.Tally.Started() == started {
			return nil
		}
	}
}

// Idle pauses between two looks, at least perLook times as long as a look took.
const (
	minPause  = 50 * time.Microsecond
	maxPause  = 10 * time.Millisecond
	perLook   = 4
	betweenUp = 2
)

// Idle returns when nothing is under way on n: no code of an Actor runs, and no message waits for one except those that
// it has left as unhandled; each blocking process waits in a receive and has looked at each waiting message; no timer
// is due. It is for tests, instead of a sleep: messages sent before the call of Idle have had their effects when it
// returns, and so have the messages that they led to. It polls, with pauses of up to 10 ms; processes do
// nothing for it.
//
// There was a moment during the call at which all this was true. Since then others may have sent messages: goroutines
// of the program, including handles, timers, and other nodes. They do not count, nor do messages on their way to and
// from other nodes, or future timers, including the timeout of a receive. A process that waits for the answer to a call
// is not idle. Nor is a blocking process while it computes, or waits for something other than a receive: one that
// always does so should be a daemon, which counts only while messages wait for it.
//
// The error is the error of ctx.
func Idle(ctx context.Context, n *node.Node) error {
	sys := system(n)
	var timer *time.Timer
	for pause := minPause; ; pause = min(betweenUp*pause, maxPause) {
		began := time.Now()
		if atRestAll(sys) {
			return nil
		}
		wait := max(pause, perLook*time.Since(began))
		if timer == nil {
			timer = time.NewTimer(wait)
			defer timer.Stop()
		} else {
			timer.Reset(wait)
		}
		select {
		case <-ctx.Done():
			return cause.Of(ctx)
		case <-timer.C:
		}
	}
}
