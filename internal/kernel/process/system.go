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

// System is what the processes of a node have in common: where they are, what runs them, what counts
// them. It is part of a node, and set up before the first process.
type System struct {
	Host   Host
	Name   wire.Atom // of the node
	Budget int       // messages a turn
	Halved uint8     // by how many bits a long queue is shifted for its messages a turn
	Origin wire.Origin
	Pool   *executor.Pool

	Tracing watch.Traces // beside what is only read: every message looks at it

	Plain Acting // of plain goroutines, and of the node itself; never written after the start
	Table tables.Table[Process]
	Names tables.Directory[Named, *Named]
	Dead  watch.DeadLetters

	Reports *watch.Reports
	Values  *values.Codec       // how values cross to other nodes
	Lent    tables.Lent[Ticket] // calls whose From is known elsewhere

	refs   sequence
	Fibers fiber.Pool
	Global *tables.GlobalNames // who has which name of the cluster; nil: the node is hidden
	Env    env.Env
	Clock  env.Clock
	Tally  Tallies

	Functions atomic.Int64             // blocking processes and detached actors whose goroutine has not ended
	Lingering atomic.Int64             // processes that were killed and whose function still runs
	Timers    CountTimers              // those that are not over
	Later     *Timers                  // those whose destinations are looked up when they are due
	ByName    sync.Map                 // *Process to its namelink.Links
	Cycles    *calls.WaitGraph[Waiter] // nil: cycles of waits are not detected
	Stopped   atomic.Bool
	Rights    *rights.Policy                            // what peers may do; nil: everything
	Operators atomic.Pointer[func(peer wire.Atom) bool] // which peers operate the node; nil: all
	Over      Process                                   // stands in a Context when its handler has returned
}

// Host is the node above its processes: what it makes of what happens here, and what is not here.
type Host struct {
	Node any // for those above

	Messages Messages
	Reasons  Reasons
	Remotes  Remotes

	// Self is the process that stands for a plain goroutine towards other nodes.
	Self func() wire.PID
	// Crashed is told that a process ends by a crash of its own, before those that it is linked to are. What it
	// returns is called when they have been.
	Crashed func(c Crash) (told func())
	// Left is told of a process that leaves messages in its mailbox, many or for long.
	Left func(p *Process, left watch.Left)
	// Unanswered fails the call whose request has been lost, if msg is one. A message for an
	// alias that has come as a name is still as it has come: raw. It reports whether somebody waited.
	Unanswered func(msg any, why error, raw bool) bool
	// Answered settles the call that msg answers, if it is a reply to one whose caller's reference has
	// been handed on; false: it is none.
	Answered func(ref wire.Ref, msg any) bool
}

// Remotes finds other nodes. Each returns nil where there is none.
type Remotes struct {
	Of    func(pid wire.PID) Remote   // the node of a PID, as connected or being connected
	Now   func(pid wire.PID) Remote   // the same without a wish to connect
	Named func(name wire.Atom) Remote // the node that has a name
	// Whereis asks another node which process has a name there, and calls then with it; with the
	// zero PID and an exit reason if there is none, or the node is not there.
	Whereis func(a *Acting, at wire.At, then func(pid wire.PID, why any))
}

// Crash is a process that has ended by a crash of its own.
type Crash struct {
	Process *Process
	Name    wire.Atom
	Reason  any
	Tied    bool // was linked to its parent
}

// Remote is another node as links, monitors and exits know it: what is to be told there. The
// caller of the first four may hold the lock of the process here.
type Remote interface {
	// Link makes the link between near, which is alive and whose lock the caller holds, and far. It returns false if the
	// connection has ended.
	Link(near *Process, far wire.PID) bool
	// Unlink takes the link away on behalf of near.
	Unlink(near *Process, far wire.PID)
	// Exit tells far, if the process with that number was linked to it, that it has exited.
	Exit(near uint64, far wire.PID, reason any)
	// Signal is exit/2 for a process there.
	Signal(from, to wire.PID, reason any)
	// Monitor makes m, a monitor of a process there or of the node. It returns false if the connection has ended.
	Monitor(m *Monitor) bool
	// Demonitor takes it away.
	Demonitor(m *Monitor)
	// Down sends the Down of m, a monitor by a process there, unless it has been taken away.
	Down(m *Monitor, pid wire.PID, reason any)
	// Pace makes the caller wait while more is queued for the node than may be.
	Pace(a *Acting)
	// NodeName is what the node is called.
	NodeName() wire.Atom
	// Why says why the connection has ended; nil: it has not.
	Why() error
}

// Init sets sys up, but for what the caller sets itself: pool, tracing, table, dead and cycles.
func (sys *System) Init(h Host, id wire.NodeID, budget int, e env.Env) {
	sys.Host, sys.Name, sys.Budget, sys.Env = h, id.Name, budget, e
	sys.Origin = wire.NewOrigin(id)
	sys.Plain.System = sys
	sys.Over.System, sys.Over.Cold = sys, new(Cold)
	sys.Over.Status.End(true, true)
	sys.Names.Init(sys.Origin)
	sys.Clock.Init(e)
}

// Traces is who is traced; nil: nobody.
func (sys *System) Traces() *watch.TraceView { return sys.Tracing.View() }

// Count adds d to the number of processes.
func (sys *System) Count(a *Acting, d int64) {
	if a.Worker != nil {
		a.Local.Tally.Alive(d)
	} else {
		sys.Tally.Alive(d)
	}
}

// Lookup finds a process that is alive. It calls nothing that is not in line: each message passes it.
func (sys *System) Lookup(pid wire.PID) *Process {
	if sys.Origin.Minted(pid) {
		if p := sys.Table.At(pid.Number()); p != nil && p.ID == pid.Number() {
			return p
		}
	}
	return nil
}

// Leader is the group leader of processes that have no other: the one that is registered as user, or the one that stands for
// the node.
func (sys *System) Leader() wire.PID {
	if p := sys.Whose("user"); p != nil {
		return p.PID()
	}
	return sys.Host.Self()
}

// Numbered finds a process that is alive by its number.
func (sys *System) Numbered(id uint64) *Process {
	return sys.Lookup(sys.Origin.PID(id))
}

// Whose finds the process that has a name; nil: none has.
func (sys *System) Whose(name wire.Atom) *Process { return (*Process)(sys.Names.Whose(name)) }

// NewNumber makes a number of a reference.
func (sys *System) NewNumber() uint64 { return sys.refs.Next() }

func (sys *System) NewRef() wire.Ref { return sys.Origin.RefOf(sys.NewNumber()) }

// DeadLetter makes a dead letter of a message, without the token that it may have come with.
func (sys *System) DeadLetter(l deadletter.Letter) {
	l.Message = inbox.BareExpected(watch.BareMessage(l.Message))
	sys.Dead.Add(l)
}

// Undeliverable makes a dead letter of a message to a PID that nobody has here.
// The error is nil unless the node has been stopped, the PID is zero, or another
// node's: a message to the dead is lost without an error, as in Erlang.
func (sys *System) Undeliverable(to wire.PID, msg any) error {
	l := deadletter.Letter{Cause: deadletter.NoProcess, To: to, Message: msg}
	var err error
	switch id := to.Origin().NodeID(); {
	case sys.Stopped.Load():
		l.Cause, err = deadletter.NodeStopped, ErrNodeStopped
	case to.IsZero(): // a variable that was never set
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

// ProcKey finds the process in its context.
type ProcKey struct{}
