package node

import (
	"fmt"
	"iter"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/sched"
)

// State is what a process is doing.
type State uint8

const (
	StateIdle      State = iota // an Actor with nothing to do
	StateScheduled              // an Actor in its stage's run queue
	StateRunning                // in a handler, or in a Process's own code
	StateWaiting                // a Process in Receive or in a Call
	StateExiting                // its links and monitors are being told
	StateDead                   // gone
)

// String returns the name of s.
func (s State) String() string {
	switch s {
	case StateIdle:
		return "idle"
	case StateScheduled:
		return "scheduled"
	case StateRunning:
		return "running"
	case StateWaiting:
		return "waiting"
	case StateExiting:
		return "exiting"
	case StateDead:
		return "dead"
	}
	return "invalid"
}

// Info describes a process as it was at one moment.
type Info struct {
	PID       PID
	Name      Atom // registered; "": none
	Label     string
	Behaviour string // Go type of the current behaviour
	Code      string // path of the package of that type; of an ActorFunc or a Process the name of the function
	Leader    PID    // group leader
	State     State
	Stage     int // -1: not run by a stage
	Mailbox   int // messages waiting, the one being handled included
	Handled   uint64
	TrapExit  bool
	Links     []PID
	Monitors  []PID // whom it monitors
	Watchers  []PID // who monitors it
	Parent    PID   // zero: spawned from outside
	Started   time.Time
	Traced    bool // see Node.Trace
}

// Info describes a process, or returns [ErrNoProcess].
func (n *Node) Info(pid PID) (Info, error) {
	p := n.lookup(pid)
	if p == nil {
		return Info{PID: pid, State: StateDead, Stage: -1}, fmt.Errorf("%w: %v", ErrNoProcess, pid)
	}
	i := Info{PID: pid, Stage: -1, Started: time.Unix(0, p.started)}
	if p.parent != 0 {
		i.Parent = n.origin.PID(p.parent - 1)
	}
	p.observe(&i)
	i.Traced = n.traces().by(p) != nil
	p.mu.Lock()
	defer p.mu.Unlock()
	switch st := p.status.Load(); {
	case st&dead != 0:
		i.State = StateDead
	case st != alive:
		i.State = StateExiting
	}
	i.Behaviour, i.Code = typeName(p.behaviour), codeOf(p.behaviour)
	i.Leader = n.leader()
	if p.tied {
		i.Links = append(i.Links, i.Parent)
	}
	k := p.cold
	if k == nil {
		return i, nil
	}
	i.Name, i.Label, i.TrapExit = k.name, k.label, k.trap
	if !k.leader.IsZero() {
		i.Leader = k.leader
	}
	for q := range k.links.all() {
		i.Links = append(i.Links, q)
	}
	for _, m := range k.watching {
		if m.target != nil {
			i.Monitors = append(i.Monitors, m.target.pid())
		} else if m.name == "" && !m.node {
			i.Monitors = append(i.Monitors, m.pid)
		}
	}
	for m := range k.watchers {
		if m.watcher != nil {
			i.Watchers = append(i.Watchers, m.watcher.pid())
		} else {
			i.Watchers = append(i.Watchers, m.by)
		}
	}
	return i, nil
}

// observe reads what only the one who runs p may touch.
func (p *proc) observe(i *Info) {
	switch p.kind {
	case staged:
		p.node.pool.Look(&p.Entity, func(stage int, queued, running bool) {
			i.Stage = stage
			if _, co := p.Task().(*coproc); co {
				i.State = StateWaiting
			}
			switch {
			case running:
				i.State = StateRunning
			case queued:
				i.State = StateScheduled
			}
			p.measure(i)
		})
	case free:
		p.cold.bias.Lock()
		p.measure(i)
		p.cold.bias.Unlock()
		sched.Barrier()
		if atomic.LoadUint32(&p.running) != 0 {
			i.State = StateRunning
		}
	default:
		s := p.behaviour.(self)
		s.bias.Lock()
		p.measure(i)
		s.bias.Unlock()
		i.State = StateRunning
		if atomic.LoadUint32(&s.parked) != 0 {
			i.State = StateWaiting
		}
	}
}

// measure counts what waits. The caller owns p.q.
func (p *proc) measure(i *Info) {
	if p.boxed {
		i.Mailbox = p.cold.box.Len()
	} else {
		// Counted, not taken: a blocking process may be about to get an older
		// message by hand.
		i.Mailbox = p.q.Len() + p.in.Count()
	}
	i.Handled = p.handled
}

// Processes yields the PIDs of all processes; those that start or end meanwhile
// may or may not be among them.
func (n *Node) Processes() iter.Seq[PID] {
	return func(yield func(PID) bool) {
		for p := range n.table.all() {
			if !yield(p.pid()) {
				return
			}
		}
	}
}

// IsAlive reports whether a process is alive.
func (n *Node) IsAlive(pid PID) bool { return n.lookup(pid) != nil }

// Stats are a node's counters.
type Stats struct {
	Processes    int    // alive
	Lingering    int    // killed, with a function that has not returned yet
	BlockedTurns uint64 // handlers that ran longer than Config.Blocked
	Goroutines   int    // of the whole program
	RunQueue     int    // actors that wait for their turn
	Names        int    // registered

	// Handled is how many messages processes have taken. Of a Process with a
	// goroutine of its own, and of a handle, up to 63 are not in it yet, and of an
	// actor those of the turn that goes on.
	Handled uint64
}

// Stats returns the node's counters.
func (n *Node) Stats() Stats {
	n.names.mu.RLock()
	names := len(n.names.m)
	n.names.mu.RUnlock()
	return Stats{
		Processes: n.population(), Lingering: int(n.lingering.Load()), BlockedTurns: n.pool.BlockedTurns(),
		Goroutines: runtime.NumGoroutine(), RunQueue: n.pool.Due(), Names: names, Handled: n.handled(),
	}
}

// MaxProcesses returns how many processes can live at a time.
func (n *Node) MaxProcesses() int { return n.cfg.MaxProcesses }
