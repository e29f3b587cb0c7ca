package node

import (
	"fmt"
	"iter"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/bias"
	"github.com/actornode/actornode/internal/executor"
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
	Calls     int  // of this node that wait for its reply, or by AwaitExit for its exit
}

// Info describes a process, or returns [ErrNoProcess].
func (n *Node) Info(pid PID) (Info, error) {
	p := n.lookup(pid)
	if p == nil {
		return Info{PID: pid, State: StateDead, Stage: -1}, fmt.Errorf("%w: %v", ErrNoProcess, pid)
	}
	i := p.info()
	p.observe(&i)
	p.describe(&i)
	return i, nil
}

// infosAtOnce is how many processes are looked at together.
const infosAtOnce = 256

// Infos describes all processes, each as it was at one moment; those that start or
// end meanwhile may or may not be among them. It disturbs the stages less than an
// Info of each.
func (n *Node) Infos() iter.Seq[Info] {
	return func(yield func(Info) bool) {
		batch := make([]*proc, 0, infosAtOnce)
		flush := func() bool {
			for _, i := range n.observeAll(batch) {
				if i.State != StateDead && !yield(i) {
					return false
				}
			}
			batch = batch[:0]
			return true
		}
		for p := range n.table.All() {
			if batch = append(batch, p); len(batch) == infosAtOnce && !flush() {
				return
			}
		}
		flush()
	}
}

// observeAll is Info for some processes at once.
func (n *Node) observeAll(procs []*proc) []Info {
	infos := n.look(procs)
	for k, p := range procs {
		p.describe(&infos[k])
	}
	return infos
}

// look is observe for some processes at once.
func (n *Node) look(procs []*proc) []Info {
	infos := make([]Info, len(procs))
	var on []*executor.Entity
	var at []int // their places in procs
	for k, p := range procs {
		infos[k] = p.info()
		if p.kind == staged {
			on, at = append(on, &p.Entity), append(at, k)
		} else {
			p.observe(&infos[k])
		}
	}
	n.pool.LookAll(on, func(e, stage int, queued, running bool) {
		k := at[e]
		procs[k].seen(&infos[k], stage, queued, running)
	})
	return infos
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
	i.Traced = n.traces().by(p) != nil
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
	for c := k.calls; c != nil; c = c.next {
		i.Calls++
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
}

// observe reads what only the one who runs p may touch.
func (p *proc) observe(i *Info) {
	switch p.kind {
	case staged:
		p.node.pool.Look(&p.Entity, func(stage int, queued, running bool) { p.seen(i, stage, queued, running) })
	case free:
		p.cold.bias.Lock()
		p.measure(i)
		p.cold.bias.Unlock()
		bias.Barrier()
		if atomic.LoadUint32(&p.running) != 0 {
			i.State = StateRunning
		}
	default:
		s := p.behaviour.(blocking)
		s.bias.Lock()
		p.measure(i)
		s.bias.Unlock()
		i.State = StateRunning
		if atomic.LoadUint32(&s.parked) != 0 {
			i.State = StateWaiting
		}
	}
}

// seen is observe for a process on a stage, which the caller holds.
func (p *proc) seen(i *Info, stage int, queued, running bool) {
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

// mailboxes returns how many messages wait for each of some processes, the one
// being handled included; -1 for one that is gone. One that is being handed to a
// process on a goroutine of its own, which waits for it, may not be among them for that
// moment. It is the part of Infos that costs little.
func (n *Node) mailboxes(pids []PID) []int {
	counts := make([]int, len(pids))
	for first := 0; first < len(pids); first += infosAtOnce {
		var procs []*proc
		var at []int
		for k := first; k < min(first+infosAtOnce, len(pids)); k++ {
			counts[k] = -1
			if p := n.lookup(pids[k]); p != nil {
				procs, at = append(procs, p), append(at, k)
			}
		}
		for k, i := range n.look(procs) {
			counts[at[k]] = i.Mailbox
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
		fallbacks = n.dist.fallbacks.Load()
	}
	return Stats{
		Fallbacks: fallbacks,
		Processes: n.population(), Lingering: int(n.lingering.Load()), BlockedTurns: n.pool.BlockedTurns(),
		Goroutines: runtime.NumGoroutine(), RunQueue: n.pool.Due(), Names: names, Aliases: n.aliases.Len(), Timers: int(n.timers.Load()),
		Kept: n.pool.Stats().Goroutines + n.fibers.Idle(), Handled: n.handled(),
	}
}

// Scheduler returns what the node's scheduler is doing.
func (n *Node) Scheduler() sched.Stats { return n.pool.Stats() }

// MaxProcesses returns how many processes can live at a time.
func (n *Node) MaxProcesses() int { return n.cfg.MaxProcesses }
