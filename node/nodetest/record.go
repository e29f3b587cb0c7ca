package nodetest

import (
	"testing"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/trace"
)

// mostEvents is the number of events that a Recording keeps until the test reads them.
const mostEvents = 1 << 16

// Recording has the events of processes, from the moment at which they were given to [Record]: what they send and get, whom
// they spawn, monitor and link to, their names, and how they end.
type Recording struct {
	t      testing.TB
	n      *node.Node
	trace  *trace.Trace
	events []trace.Event
}

// Record records what processes of a node do until the test ends, and what the processes do that these spawn from now on. To
// record a process from its first step, record the [Probe] that spawns it.
func Record(t testing.TB, n *node.Node, pids ...node.PID) *Recording {
	t.Helper()
	tr, err := trace.Open(n, trace.Config{Buffer: mostEvents, Processes: mostEvents, Children: true}, pids...)
	if err != nil {
		t.Fatalf("the processes cannot be recorded: %v", err)
	}
	t.Cleanup(tr.Close)
	return &Recording{t: t, n: n, trace: tr}
}

// Events waits with [Settle] until what has been sent on the node is handled. Then it returns the events so far that are of
// one of the kinds, oldest first: all, with trace.All.
func (r *Recording) Events(kinds trace.Kind) (all []trace.Event) {
	r.t.Helper()
	Settle(r.t, r.n)
	r.read(nil)
	for _, e := range r.events {
		if e.Kind&kinds != 0 {
			all = append(all, e)
		}
	}
	return all
}

// Await returns the oldest event that match accepts, and waits for it if there is none yet.
func (r *Recording) Await(match func(trace.Event) bool) trace.Event {
	r.t.Helper()
	end := time.NewTimer(Timeout)
	defer end.Stop()
	for i := 0; ; i++ {
		if i == len(r.events) && !r.read(end.C) {
			r.t.Fatalf("no such event has come within %v; the events so far: %+v", Timeout, r.events)
		}
		if match(r.events[i]) {
			return r.events[i]
		}
	}
}

// read reads the events that have come, and waits for one if there is none, until end; a nil end is now. It returns false if
// it has read none.
func (r *Recording) read(end <-chan time.Time) (some bool) {
	r.t.Helper()
	for {
		select {
		case e, ok := <-r.trace.C:
			if !ok {
				return some
			}
			r.events = append(r.events, e)
			some = true
			continue
		default:
		}
		if missed := r.trace.Missed(); missed > 0 {
			r.t.Fatalf("%d events were not recorded: more than %d had not been read", missed, mostEvents)
		}
		if some || end == nil {
			return some
		}
		select {
		case e, ok := <-r.trace.C:
			if !ok {
				return false
			}
			r.events, some = append(r.events, e), true
		case <-end:
			return false
		}
	}
}
