package node

import (
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
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

// Info describes a process. The process works on while it is observed, so the fields are of
// moments that follow each other closely. PID, Parent, Started, Label and Leader of a process
// change seldom or never. Name, Behaviour, Code, TrapExit, Links, Monitors, Watchers and Calls
// are of one moment. State, Stage, Mailbox and Handled are each of a moment of their own, some
// nanoseconds to microseconds before that: a process that takes a message meanwhile may be
// StateIdle with a message in its Mailbox, or show the message both there and in Handled.
type Info struct {
	PID       PID
	Name      Atom // registered; "": none
	Label     string
	Behaviour string // Go type of the current behaviour
	Code      string // path of the package of that type; of an ActorFunc or a Process the name of the function
	Leader    PID    // group leader
	State     State
	Stage     int // -1: not run by a stage
	// Mailbox is how many messages wait, the one that an Actor handles included; of a mailbox
	// that [Options].Mailbox supplies, what its Len returns. A message that is being handed to a
	// blocking process which waits for it may not be among them.
	Mailbox  int
	Handled  uint64 // messages that it has taken; of an Actor, without the one that it handles
	TrapExit bool
	Links    []PID
	Monitors []PID // whom it monitors
	Watchers []PID // who monitors it
	Parent   PID   // zero: spawned from outside
	Started  time.Time
	Traced   bool // see package node/trace
	Calls    int  // of this node that wait for its reply, or by AwaitExit for its exit
}

// Info describes a process, or returns [ErrNoProcess]. It does not hold the process up, whatever
// that does, and does not wait for it.
func (n *Node) Info(pid PID) (Info, error) {
	p := n.lookup(pid)
	if p == nil {
		return Info{PID: pid, State: StateDead, Stage: -1}, fmt.Errorf("%w: %v", ErrNoProcess, pid)
	}
	return p.inform(), nil
}

// Infos describes all processes, as Info does, one after the other; those that start or end
// meanwhile may or may not be among them.
func (n *Node) Infos() iter.Seq[Info] {
	return func(yield func(Info) bool) {
		for p := range n.table.All() {
			if i := p.inform(); i.State != StateDead && !yield(i) {
				return
			}
		}
	}
}

// inform makes the Info of p.
func (p *proc) inform() Info {
	i := p.info()
	i.Mailbox, i.Handled = p.intake().len(), p.handled.Load()
	i.State, i.Stage = p.runner().doing()
	p.describe(&i)
	return i
}

// info is what never changes.
func (p *proc) info() Info {
	i := Info{PID: p.pid(), Stage: -1, Started: time.Unix(0, p.started)}
	if p.parent != 0 {
		i.Parent = p.node.origin.PID(p.parent - 1)
	}
	return i
}

// describe fills in what p.mu guards, and what follows from the rest.
func (p *proc) describe(i *Info) {
	n := p.node
	i.Traced = n.traces().Traced(i.PID)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch st := p.status.Load(); {
	case st&dead != 0:
		i.State = StateDead
	case st&^tokened != alive:
		i.State = StateExiting
	}
	i.Behaviour, i.Code = typeName(p.behaviour), codeOf(p.behaviour)
	i.Leader = n.leader()
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
	for m := range k.watchers.all() {
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

// Processes yields the PIDs of all processes; those that start or end meanwhile
// may or may not be among them.
func (n *Node) Processes() iter.Seq[PID] {
	return func(yield func(PID) bool) {
		for p := range n.table.All() {
			if !yield(p.pid()) {
				return
			}
		}
	}
}

// IsAlive reports whether a process is alive.
func (n *Node) IsAlive(pid PID) bool {
	p := n.lookup(pid)
	return p != nil && !p.gone() // on its way out of the table: monitors may know already
}

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

	// Fallbacks is how often a peer was dialled, or has connected, by a less preferred
	// protocol than it is known to speak.
	Fallbacks uint64
}

// Stats returns the node's counters.
func (n *Node) Stats() Stats {
	n.names.mu.RLock()
	names := len(n.names.m)
	n.names.mu.RUnlock()
	var fallbacks uint64
	if n.dist != nil {
		fallbacks = n.dist.Fallbacks()
	}
	return Stats{
		Fallbacks: fallbacks,
		Processes: n.population(), Lingering: int(n.lingering.Load()), BlockedTurns: n.pool.BlockedTurns(),
		Goroutines: runtime.NumGoroutine(), RunQueue: n.pool.Due(), Names: names, Aliases: n.aliases.Len(),
		Timers: int(n.timers.Load()),
		Kept:   n.pool.Stats().Goroutines + n.fibers.Idle(), Handled: n.handled(),
	}
}

// Scheduler returns what the node's scheduler is doing.
func (n *Node) Scheduler() sched.Stats { return n.pool.Stats() }
