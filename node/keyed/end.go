package keyed

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
)

// end answers those that have asked for the end of e, and stops its timer.
func (k *keeper[K]) end(e *entry[K]) {
	for _, f := range e.change.enders {
		f.Reply(outcome{})
	}
	e.change.enders = nil
	e.change.stopTimer()
}

func (ch *change[K]) stopTimer() {
	if ch.timer != nil {
		ch.timer.Cancel()
		ch.timer = nil
	}
}

// finishKey handles End.
func (k *keeper[K]) finishKey(key K, from node.From) {
	e, _ := k.g.table.get(key)
	switch {
	case e == nil || k.ending != nil && e.process == nil:
		from.Reply(outcome{})
		return
	case e.is(failed):
		k.remove(e)
		from.Reply(outcome{})
		return
	case e.process != nil && from.Caller() == e.process.PID():
		from.Reply(outcome{fmt.Errorf("%w: for its own end", node.ErrSelfCall)})
		return
	case e.is(queued):
		k.answer(e, fmt.Errorf("the process has not started: %w", &node.ExitError{Reason: node.Shutdown}))
		from.Reply(outcome{}) // without waiters it is not started
		return
	}
	runs := !e.is(ending)
	k.leaves(e)
	e.change.why = cmp.Or(e.change.why, countEnded) // also of one that has crashed and is not over: it is not restarted
	e.change.enders = append(e.change.enders, from)
	if runs {
		k.finish(e, countEnded)
	}
}

// finish ends the process of e. why is what to count.
func (k *keeper[K]) finish(e *entry[K], why int) {
	k.leaves(e)
	e.change.why = why
	k.c.Exit(e.process.PID(), node.Shutdown)
	if e.process.Gone() {
		k.settle(e)
	} else {
		e.change.timer, _ = k.c.SendAfter(k.g.kind.Shutdown, k.pid, outOfTime[K]{e})
	}
}

// leaves records that the process of e ends.
func (k *keeper[K]) leaves(e *entry[K]) {
	e.word.Or(closed)
	if e.change == nil {
		e.change = new(change[K])
	}
	e.change.phase = ending
}

// exited handles an exit signal.
func (k *keeper[K]) exited(m node.Exited) {
	e := k.byPID[m.From]
	switch {
	case e != nil && e.process.Gone(): // otherwise it only has sent such a signal
		if e.is(running) {
			k.leaves(e)
		}
		e.change.reason, e.change.exited = m.Reason, true
		k.settle(e)
	case e == nil && (m.From.IsZero() || m.From == k.c.Parent()):
		k.stop(m.Reason)
	}
}

// settle handles the end of the process of e once its exit signal has come, which has the reason, and its code has returned.
// Until then it looks again and again.
func (k *keeper[K]) settle(e *entry[K]) {
	p, ch := e.process, e.change
	if k.byPID[p.PID()] != e {
		return // that has been done
	}
	ch.stopTimer()
	if !p.Over() || !ch.exited && ch.looks < sureLooks {
		var err error
		ch.timer, err = k.c.SendAfter(min(firstLook<<min(ch.looks, 20), lastLook), k.pid, look[K]{e})
		if ch.looks++; err == nil {
			return
		}
		// The node stops: no other process of the key will start.
	}
	delete(k.byPID, p.PID())
	k.g.processes.Add(-1)
	if !ch.exited { // it has unlinked itself
		ch.reason = p.Reason()
	}
	abnormal := !calls.IsClean(ch.reason)
	switch {
	case ch.phase == starting && ch.ignored:
		k.count(countEnded)
		k.failed(e, node.ErrIgnore)
		return
	case abnormal:
		k.report(e)
	}
	switch {
	case k.ending != nil:
		k.count(countEnded)
		k.answer(e, ErrEnded)
		k.remove(e)
	case ch.phase == starting:
		k.failed(e, &node.ExitError{Reason: ch.reason})
	case ch.why == 0 && abnormal:
		if time.Now().UnixNano()-p.Started > int64(k.g.kind.Backoff) {
			ch.failure = nil
		}
		k.failed(e, &node.ExitError{Reason: ch.reason})
	default:
		k.count(cmp.Or(ch.why, countEnded))
		waiting := ch.waiting
		k.remove(e)
		if len(waiting) > 0 {
			k.add(e.key, waiting)
		}
	}
}

// report logs the end of a process as a supervisor does.
func (k *keeper[K]) report(e *entry[K]) {
	log := k.node.Log()
	if !log.Enabled(context.Background(), slog.LevelError) {
		return
	}
	decision := "the process of this key is started again at its next use"
	switch {
	case k.ending != nil:
		decision = "none: the group ends"
	case e.change.why != 0:
		decision = "none: it was to end"
	case k.g.kind.Restart:
		decision = "restart the process"
	}
	attrs := []any{"supervisor", string(k.g.kind.Name), "decision", decision}
	if !k.node.Inside(process.Key{}).ReportCrash(e.change.reason, attrs...) {
		log.Error("supervisor report", append(attrs, "process", e.process.PID().String(), "reason", sysmsg.Words(e.change.reason))...)
	}
}

// remove forgets e, which has no process, and gives its place to the next in the line.
func (k *keeper[K]) remove(e *entry[K]) {
	k.g.table.remove(e)
	k.unlink(e)
	k.end(e)
	e.change = nil // a timer of it may have fired already
	k.places--
	for k.places < k.g.kind.Max && len(k.line) > 0 {
		next := k.line[0]
		k.line[0], k.line = nil, k.line[1:]
		if slices.ContainsFunc(next.change.waiting, func(w waiter[K]) bool { return w.Pending() }) {
			k.place(next)
		} else {
			k.g.table.remove(next)
		}
	}
}

// kill kills the process of e, or of all if e is nil, which has not ended in time.
func (k *keeper[K]) kill(e *entry[K]) {
	if e != nil {
		if e.is(ending) {
			k.c.Exit(e.process.PID(), node.Kill)
			k.settle(e) // there is no signal of its exit if it has unlinked the group
		}
		return
	}
	k.killed = true
	for pid, e := range k.byPID {
		if k.c.Exit(pid, node.Kill); e.process.Over() || k.g.alone { // otherwise the next keeper waits for it
			k.g.table.remove(e)
			k.g.processes.Add(-1)
			k.count(countEnded)
			delete(k.byPID, pid)
		}
	}
}

// stop ends all processes, and then the group. A group that is already ending looks at all again: a stop of the node has taken
// the timers of its looks.
func (k *keeper[K]) stop(reason any) {
	if k.ending == nil {
		k.ending = reason
		k.stopping, _ = k.c.SendAfter(k.g.kind.Shutdown, k.pid, outOfTime[K]{})
	}
	line := k.line
	k.line = nil
	for _, e := range line {
		k.answer(e, ErrEnded)
		k.g.table.remove(e)
	}
	for e, next := k.order.next, (*entry[K])(nil); e != &k.order; e = next {
		next = e.next
		switch {
		case e.is(failed):
			k.remove(e)
		case e.is(ending):
			if e.process.Gone() {
				k.settle(e)
			}
		default:
			k.finish(e, countEnded)
		}
	}
}
