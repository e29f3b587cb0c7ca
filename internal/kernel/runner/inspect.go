package runner

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/mailbox/inbox"

	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// Describe describes p. more adds what packages above know; it is called with the lock of p held.
func Describe(p *process.Process, more func(*observe.Process)) observe.Process {
	i := fixed(p)
	i.Mailbox, i.Handled = p.Intake().Len(), p.Handled.Load()
	i.State, i.Stage = p.Runner().Doing()
	describe(p, &i, more)
	if i.Unhandled.Count > 0 {
		ReportOld(p)
	}
	return i
}

// fixed returns what never changes.
func fixed(p *process.Process) observe.Process {
	i := observe.Process{PID: p.PID(), Stage: -1, Started: time.Unix(0, p.Started), Daemon: p.Daemon}
	if p.Parent != 0 {
		i.Parent = p.System.Origin.PID(p.Parent - 1)
	}
	return i
}

// describe fills in what the lock of p guards, and what follows from the rest.
func describe(p *process.Process, i *observe.Process, more func(*observe.Process)) {
	i.Traced = p.System.Traces().Traced(i.PID)
	p.Mu.Lock()
	defer p.Mu.Unlock()
	defer func() { more(i) }()
	switch {
	case p.Status.IsDead():
		i.State = observe.Dead
	case p.Gone():
		i.State = observe.Exiting
	}
	i.Wait = p.WaitLocked(i.State)
	if p.Tied {
		i.Links = append(i.Links, i.Parent)
	}
	if p.Global {
		i.Watchers = append(i.Watchers, p.System.Global.Server())
	}
	k := p.Cold
	if k == nil {
		return
	}
	i.Name, i.Label, i.TrapExit, i.Owned = k.Name, k.Label, k.Trap, inbox.IsOwned(k.Box)
	if b, ok := k.Box.(*inbox.Bounded); ok {
		limits, lost := b.Bound()
		i.Bound = observe.Bound{Messages: limits.Messages, Bytes: limits.Bytes, Policy: limits.Policy.String(), Lost: lost}
	}
	if l := k.Left; l != nil {
		i.Unhandled = observe.Unhandled{Count: l.Count, Oldest: l.Oldest, Since: time.Unix(0, l.Since)}
	}
	if !k.Leader.IsZero() {
		i.Leader = k.Leader
	}
	for q := range k.Links.All() {
		i.Links = append(i.Links, q)
	}
	i.Calls = k.Calls.Len()
	for _, number := range slices.Sorted(maps.Keys(k.Watching)) {
		m := k.Watching[number]
		switch {
		case m.Node:
		case m.Name != "" && !tables.IsAlias(m.Name):
			at := wire.At{Name: m.Name, Node: p.System.Name}
			if m.Far != nil {
				at.Node = m.Far.NodeName()
			}
			i.Named = append(i.Named, at)
		case m.Target != nil:
			i.Monitors = append(i.Monitors, m.Target.PID())
		default:
			i.Monitors = append(i.Monitors, m.PID)
		}
	}
	for m := range k.Watchers.Oldest() {
		if m.Watcher != nil {
			i.Watchers = append(i.Watchers, m.Watcher.PID())
		} else {
			i.Watchers = append(i.Watchers, m.By)
		}
	}
}

// Messages returns the oldest max queued messages of a process, as Info counts them. Unlike Describe it takes the process's
// stage for a moment: a running handler continues without it. Messages in a bounded or user-defined mailbox are not shown.
func Messages(p *process.Process, max int) []any {
	if p.Boxed {
		return nil
	}
	var all []any
	look := func() {
		for m := range p.Queue.All() {
			if len(all) >= max {
				return
			}
			all = append(all, m)
		}
		all = append(all, p.Inbox.Oldest(max-len(all))...)
	}
	p.Runner().Inspect(look)
	for i, m := range all {
		all[i] = watch.BareMessage(m)
	}
	return slices.DeleteFunc(all, func(m any) bool { return !Ordinary(m) })
}

// Mailboxes returns the number of queued messages of each of the processes, see Intake.Len, or -1 for one that is gone. It is
// the cheap part of Describe.
func Mailboxes(sys *process.System, pids []wire.PID) []int {
	counts := EachOf(sys, pids, func(p *process.Process) int { return p.Intake().Len() + 1 })
	for k := range counts {
		counts[k]--
	}
	return counts
}

// EachOf returns the result of f for each of the processes, or the zero value for one that is gone.
func EachOf[T any](sys *process.System, pids []wire.PID, f func(*process.Process) T) []T {
	all := make([]T, len(pids))
	for k, pid := range pids {
		if p := sys.Lookup(pid); p != nil {
			all[k] = f(p)
		}
	}
	return all
}

// PIDs yields the PIDs of all processes; those that start or end meanwhile may or may not be included.
func PIDs(sys *process.System) iter.Seq[wire.PID] {
	return func(yield func(wire.PID) bool) {
		for p := range sys.Table.All() {
			if !yield(p.PID()) {
				return
			}
		}
	}
}
