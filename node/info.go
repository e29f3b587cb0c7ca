package node

import (
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/actornode/actornode/node/observe"
)

// Info describes a process, or returns [ErrNoProcess]. It does not hold the process up, whatever
// that does, and does not wait for it.
func (n *Node) Info(pid PID) (observe.Process, error) {
	p := n.lookup(pid)
	if p == nil {
		return observe.Process{PID: pid, State: observe.Dead, Stage: -1}, fmt.Errorf("%w: %v", ErrNoProcess, pid)
	}
	return p.inform(), nil
}

// Infos describes all processes, as Info does, one after the other; those that start or end
// meanwhile may or may not be among them.
func (n *Node) Infos() iter.Seq[observe.Process] {
	return func(yield func(observe.Process) bool) {
		for p := range n.table.All() {
			if i := p.inform(); i.State != observe.Dead && !yield(i) {
				return
			}
		}
	}
}

// inform makes the Info of p.
func (p *proc) inform() observe.Process {
	i := p.info()
	i.Mailbox, i.Handled = p.intake().len(), p.handled.Load()
	i.State, i.Stage = p.runner().doing()
	p.describe(&i)
	return i
}

// info is what never changes.
func (p *proc) info() observe.Process {
	i := observe.Process{PID: p.pid(), Stage: -1, Started: time.Unix(0, p.started)}
	if p.parent != 0 {
		i.Parent = p.node.origin.PID(p.parent - 1)
	}
	return i
}

// describe fills in what p.mu guards, and what follows from the rest.
func (p *proc) describe(i *observe.Process) {
	n := p.node
	i.Traced = n.traces().Traced(i.PID)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.status.IsDead():
		i.State = observe.Dead
	case p.gone():
		i.State = observe.Exiting
	}
	i.Behaviour, i.Code = typeName(p.behaviour), codeOf(p.behaviour)
	i.Leader = n.leader()
	i.Wait = p.waitLocked(i.State)
	if p.tied {
		i.Links = append(i.Links, i.Parent)
	}
	k := p.cold
	if k == nil {
		return
	}
	i.Name, i.Label, i.TrapExit = k.name, k.label, k.trap
	if !k.leader.IsZero() {
		i.Leader = k.leader
	}
	for q := range k.links.All() {
		i.Links = append(i.Links, q)
	}
	i.Calls = k.calls.Len()
	for _, number := range slices.Sorted(maps.Keys(k.watching)) {
		m := k.watching[number]
		if m.target != nil {
			i.Monitors = append(i.Monitors, m.target.pid())
		} else if m.name == "" && !m.node {
			i.Monitors = append(i.Monitors, m.pid)
		}
	}
	for m := range k.watchers.Oldest() {
		if m.watcher != nil {
			i.Watchers = append(i.Watchers, m.watcher.pid())
		} else {
			i.Watchers = append(i.Watchers, m.by)
		}
	}
}

// mailboxes returns how many messages wait for each of some processes, see intake.len; -1 for one
// that is gone. It is the part of Infos that costs little.
func (n *Node) mailboxes(pids []PID) []int {
	counts := make([]int, len(pids))
	for k, pid := range pids {
		counts[k] = -1
		if p := n.lookup(pid); p != nil {
			counts[k] = p.intake().len()
		}
	}
	return counts
}

// IsAlive reports whether a process is alive.
func (n *Node) IsAlive(pid PID) bool {
	p := n.lookup(pid)
	return p != nil && !p.gone() // on its way out of the table: monitors may know already
}

// processes yields the PIDs of all processes; those that start or end meanwhile
// may or may not be among them.
func (n *Node) processes() iter.Seq[PID] {
	return func(yield func(PID) bool) {
		for p := range n.table.All() {
			if !yield(p.pid()) {
				return
			}
		}
	}
}

// Stats returns the node's counters.
func (n *Node) Stats() observe.Stats {
	var fallbacks uint64
	if n.dist != nil {
		fallbacks = n.dist.Fallbacks()
	}
	pool := n.pool.Stats()
	alive, messages := n.tally.Sum()
	return observe.Stats{
		Fallbacks: fallbacks,
		Processes: alive, Lingering: int(n.lingering.Load()), BlockedTurns: n.pool.BlockedTurns(),
		Goroutines: runtime.NumGoroutine(), RunQueue: n.pool.QueueLen(), Names: n.names.Len(), Aliases: n.names.Aliases.Len(),
		Timers: n.timers.Len(),
		Kept:   pool.Goroutines + n.fibers.Idle(), Handled: messages,
		Draining: n.draining.Load(), DeadLetters: n.dead.Counts(), Scheduler: pool,
	}
}
