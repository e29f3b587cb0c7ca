package node

import (
	"fmt"
	"iter"
	"runtime"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/node/deadletter"
	"github.com/actornode/actornode/node/observe"
)

// Info describes a process, or returns [ErrNoProcess]. It neither holds the process up nor waits for it, whatever the
// process does.
func (n *Node) Info(pid PID) (observe.Process, error) {
	p := n.sys.Lookup(pid)
	if p == nil {
		return observe.Process{PID: pid, State: observe.Dead, Stage: -1}, fmt.Errorf("%w: %v", ErrNoProcess, pid)
	}
	return n.inform(p), nil
}

// Infos describes all processes, as Info does, one after the other; those that start or end
// meanwhile may or may not be among them.
func (n *Node) Infos() iter.Seq[observe.Process] {
	return func(yield func(observe.Process) bool) {
		for p := range n.sys.Table.All() {
			if i := n.inform(p); i.State != observe.Dead && !yield(i) {
				return
			}
		}
	}
}

// inform makes the Info of p.
func (n *Node) inform(p *process.Process) observe.Process {
	leader := n.sys.Leader()
	return runner.Describe(p, func(i *observe.Process) {
		b := behaviourOf(p)
		i.Behaviour, i.Code = typeName(b), watch.CodeOf(b)
		if o, ok := b.(observe.ActiveObject); ok {
			i.Activations = o.Activations()
		}
		if i.Leader.IsZero() {
			i.Leader = leader
		}
	})
}

// IsAlive reports whether a process is alive.
func (n *Node) IsAlive(pid PID) bool {
	p := n.sys.Lookup(pid)
	return p != nil && !p.Gone() // on its way out of the table: monitors may know already
}

// Stats returns the node's counters.
func (n *Node) Stats() observe.Stats {
	var fallbacks uint64
	if n.dist != nil {
		fallbacks = n.dist.Fallbacks()
	}
	pool := n.sys.Pool.Stats()
	alive, messages := n.sys.Tally.Sum()
	return observe.Stats{
		Fallbacks: fallbacks,
		Processes: alive, Lingering: int(n.sys.Lingering.Load()), BlockedTurns: n.sys.Pool.BlockedTurns(),
		Goroutines: runtime.NumGoroutine(), RunQueue: n.sys.Pool.QueueLen(), Names: n.sys.Names.Len(),
		Aliases: n.sys.Names.Aliases.Len(),
		Timers:  n.sys.Timers.Len(),
		Kept:    pool.Goroutines + n.sys.Fibers.Idle(), Handled: messages,
		Draining: n.draining.Load(), DeadLetters: n.sys.Dead.Counts(), Scheduler: pool,
	}
}

// Peers describes the nodes that this one is connected to, or is connecting, in
// alphabetical order, hidden ones included.
func (n *Node) Peers() []observe.Peer {
	if n.dist == nil {
		return nil
	}
	return n.dist.Infos()
}

// Wanted describes the nodes that this one should be connected to, whether it is or not, in alphabetical order: those
// that Distribution.Mesh lists, and those, at most 200, whose connection was lost within the last hour and that have
// not been connected or disconnected since.
func (n *Node) Wanted() []observe.Wanted {
	if n.dist == nil {
		return nil
	}
	return n.dist.Wanted()
}

// DeadLetters opens a stream of the dead letters to come. It holds up to buffer of them (at least 1) for its reader,
// and counts what does not fit.
func (n *Node) DeadLetters(buffer int) *deadletter.Stream { return n.sys.Dead.Open(buffer) }
