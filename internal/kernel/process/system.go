package process

import (
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/node/deadletter"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/mailbox/inbox"

	"github.com/actornode/actornode/internal/kernel/calls"

	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
)

// System is what the processes of a node share: their tables, the pool that runs them, counters. It is part of a node, and
// set up before the first process.
type System struct {
	Host    Host
	Remotes Remotes
	Name    wire.Atom // of the node
	Budget  int       // messages per turn
	Halved  uint8     // a long queue's length is shifted right by this for its messages per turn
	Origin  wire.Origin
	Pool    *executor.Pool

	Tracing watch.Traces // next to read-only fields: every message checks it

	Plain Acting // of plain goroutines, and of the node itself; not written after the start
	Table tables.Table[Process]
	Names tables.Directory[Named, *Named]
	Dead  watch.DeadLetters

	Reports *watch.Reports
	Values  *values.Codec       // converts values for other nodes
	Lent    tables.Lent[Ticket] // calls whose From is known elsewhere

	refs   sequence
	Fibers fiber.Pool
	Global *tables.GlobalNames // the owners of cluster-wide names, or nil if the node is hidden
	Env    env.Env
	Clock  env.Clock
	Tally  Tallies

	Functions atomic.Int64             // blocking processes and detached actors whose goroutine has not ended
	Lingering atomic.Int64             // processes that were killed and whose function still runs
	Timers    CountTimers              // those that have not ended
	Later     *Timers                  // those whose destinations are looked up when due
	ByName    sync.Map                 // *Process to its nameLinks
	Sends     SendCheck                // of what plain goroutines and the node send, or nil; not written after the start
	Cycles    *calls.WaitGraph[Waiter] // nil if cycles of waits are not detected
	Stopped   atomic.Bool
	Rights    *rights.Policy                            // what peers may do, or nil for everything
	Operators atomic.Pointer[func(peer wire.Atom) bool] // reports which peers are operators of the node, or nil if all are
	Over      Process                                   // replaces the process in a Context when its handler has returned
}

// Crash is a process that its own code has ended, which is a crash for some reasons.
type Crash struct {
	Process *Process
	Name    wire.Atom
	Reason  any
	Tied    bool // was linked to its parent
}

// Remote is another node as used by links, monitors and exits. The caller of the first four methods may hold the lock of the
// local process.
type Remote interface {
	// Link links near, which is alive and whose lock the caller holds, to far. It returns false if the connection has ended.
	Link(near *Process, far wire.PID) bool
	// Unlink removes the link on behalf of near.
	Unlink(near *Process, far wire.PID)
	// Exit tells far, if the process with the number near was linked to it, that near has exited.
	Exit(near uint64, far wire.PID, reason any)
	// Signal is exit/2 for a remote process.
	Signal(from, to wire.PID, reason any)
	// Monitor adds m, a monitor of a remote process or of the node. It returns false if the connection has ended.
	Monitor(m *Monitor) bool
	// Demonitor removes m.
	Demonitor(m *Monitor)
	// Down sends the Down of m, a monitor by a remote process, unless it has been removed.
	Down(m *Monitor, pid wire.PID, reason any)
	// Pace blocks while the node's queue is over its limit.
	Pace(a *Acting)
	// NodeName returns the name of the node.
	NodeName() wire.Atom
	// Why returns why the connection has ended, or nil if it has not.
	Why() error
}

// Init initializes sys, except what the caller sets itself: Remotes, Pool, Tracing, Table, Dead and Cycles.
func (sys *System) Init(h Host, id wire.NodeID, budget int, e env.Env) {
	sys.Host, sys.Name, sys.Budget, sys.Env = h, id.Name, budget, e
	sys.Origin = wire.NewOrigin(id)
	sys.Plain.System = sys
	sys.Over.System, sys.Over.Cold = sys, new(Cold)
	sys.Over.Status.End(true, true)
	sys.Names.Init(sys.Origin)
	sys.Clock.Init(e)
}

// Traces returns what is traced, or nil if nothing is.
func (sys *System) Traces() *watch.TraceView { return sys.Tracing.View() }

// Count adds d to the number of processes.
func (sys *System) Count(a *Acting, d int64) {
	if a.Worker != nil {
		a.Local.Tally.Alive(d)
	} else {
		sys.Tally.Alive(d)
	}
}

// Lookup returns a live process, or nil. It only makes inlined calls: each message calls it.
func (sys *System) Lookup(pid wire.PID) *Process {
	if sys.Origin.Minted(pid) {
		if p := sys.Table.At(pid.Number()); p != nil && p.ID == pid.Number() {
			return p
		}
	}
	return nil
}

// Leader returns the group leader of processes that have no other: the process registered as user, or the one that represents
// the node.
func (sys *System) Leader() wire.PID {
	if p := sys.Whose("user"); p != nil {
		return p.PID()
	}
	return sys.Host.Self()
}

// Numbered returns a live process by its number, or nil.
func (sys *System) Numbered(id uint64) *Process {
	return sys.Lookup(sys.Origin.PID(id))
}

// Whose returns the process with a name, or nil.
func (sys *System) Whose(name wire.Atom) *Process { return (*Process)(sys.Names.Whose(name)) }

// NewNumber returns a new number for a reference.
func (sys *System) NewNumber() uint64 { return sys.refs.Next() }

func (sys *System) NewRef() wire.Ref { return sys.Origin.RefOf(sys.NewNumber()) }

// DeadLetter makes a dead letter of a message, without the token that it may carry.
func (sys *System) DeadLetter(l deadletter.Letter) {
	l.Message = inbox.BareExpected(watch.BareMessage(l.Message))
	sys.Dead.Add(l)
}

// Undeliverable makes a dead letter of a message to a PID that no local process has. The error is nil unless the node has
// been stopped, or the PID is zero or another node's: a message to a dead process is lost without an error, as in Erlang.
func (sys *System) Undeliverable(to wire.PID, msg any) error {
	l := deadletter.Letter{Cause: deadletter.NoProcess, To: to, Message: msg}
	var err error
	switch id := to.Origin().NodeID(); {
	case sys.Stopped.Load():
		l.Cause, err = deadletter.NodeStopped, ErrNodeStopped
	case to.IsZero(): // an unset variable
		err = ErrNoDest
	case sys.Origin.Minted(to):
	case id.Name == sys.Name:
		l.Cause = deadletter.OldIncarnation
	default:
		l.Cause, err = deadletter.NotConnected, ErrNotHere
	}
	sys.DeadLetter(l)
	return err
}

// ProcKey is the context key of the process.
type ProcKey struct{}
