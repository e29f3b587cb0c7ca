package process

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/mailbox"

	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/wire"
)

// Gone reports whether p is no longer alive.
func (p *Process) Gone() bool { return p.Status.IsOver() }

// Plain reports whether p is alive and does not use trace tokens: nearly all are and do not.
//
// Other packages call this: the compiler inlines a method only from a package that is imported, or through one.
func (p *Process) Plain() bool { return p.Status.IsPlain() }

// Process is a process of either style, to which PIDs refer. Its size is the cost of an idle actor, so what few processes
// need is in Cold.
//
// Invariants:
//
//  1. A process is in the table from before its PID is known to others until Status
//     says that it is not alive; Status only advances.
//  2. Queue is accessed by the holder of the home stage, or, without one, by the
//     process's own goroutine.
//  3. Handled, the behaviour and the stack of behaviours are accessed by whatever runs
//     the process, or, while nothing runs it, by the holder of the home stage.
//  4. Cold, once set, is not replaced; its fields are guarded by Mu, except those set
//     at spawn.
//  5. No Mu is locked while another is held, except those of two processes that are
//     linked or unlinked: the lower number first, see lockPair.
//
// Its fields occupy three cache lines, for senders on other cores: those that senders write; those written with each handled
// message, which senders do not touch; and those that change seldom.
type Process struct {
	executor.Entity
	Inbox inbox.Inbox

	Queue   inbox.Queue
	Handled atomic.Uint64 // messages; written by whatever runs the process
	Started int64         // Unix time, ns; like Parent it could be anywhere
	Parent  uint64        // number of the spawning process, plus 1; 0 if spawned from outside
	Running atomic.Bool   // in a turn; written by whatever runs the process
	Status  lifecycle     // checked with each message

	System    *System
	ID        uint64
	Cold      *Cold
	Mu        sync.Mutex
	Kind      Kind
	Boxed     bool // Cold.Box instead of Inbox and Queue; set at spawn
	Fresh     bool // Init has not run yet
	Rewind    bool // the behaviour has changed: offer the unhandled messages again; owned like the behaviour
	Tied      bool // linked to its parent, which is then not in Cold.Links; guarded by Mu
	byName    bool // has an entry in System.ByName; guarded by Mu
	Global    bool // has cluster-wide names or locks: its end is reported to System.Global; guarded by Mu
	Tells     bool // must report the result of its Init; set at spawn
	Led       bool // has a group leader of its own, inherited by its children; set at spawn
	Protected bool // from peers; set at spawn
	Daemon    bool // is not waited for: see package lifetime; set at spawn
	ShowsPeer bool // receives a PeerMessage for messages from peers; set at spawn
	Copies    bool // messages sent to it are copied; set at spawn
	Counts    bool // its unanswered requests are counted, see AskedLocked; set at spawn
}

// Cold holds what most processes never need.
type Cold struct {
	// Set at spawn.
	Box   mailbox.Box
	Label string
	Crash *[]any        // additional slog attributes of the crash report, or nil
	Owner *limits.Owner // of a process that a peer has started, or nil
	Sends SendCheck     // of what it sends, or nil

	// Owned like the behaviour.
	// Stack has the behaviours below the current one. They are any because their type, node.Actor, refers to node.Context and so
	// cannot be declared here, and an Actor, which could have them instead, has no byte left in its three cache lines.
	Stack   []any
	Pending error // result of the handler that lost its stage
	Blocked bool  // the handler that lost its stage has ended

	// Guarded by Process.Mu.
	Trap     bool // next to Blocked, for the size
	asked    int32
	Links    tables.PIDs
	Name     wire.Atom
	wait     *observe.Wait        // what is waited for; if nil, see wait.go
	Watchers tables.List[Monitor] // over this process
	Watching map[uint64]*Monitor  // by reference number: this process's monitors
	Aliases  map[uint64]struct{}
	Calls    tables.List[Call] // waiting for this process
	Timers   *Timers           // that send to this process, or nil
	Birth    Ticket            // settled when Init has returned; set at spawn
	scope    *scope            // nil until the Context is requested
	Token    watch.TraceToken  // owned like the behaviour
	Reason   any               // set once exiting
	Moved    *Moved            // of one that has come from another node, or has gone to one, or nil
	Leader   wire.PID          // group leader; if zero, the node's
	Left     *watch.Left       // messages that an Actor has left unhandled since its behaviour changed, or nil
}

// PID returns p's identifier.
func (p *Process) PID() wire.PID { return p.System.Origin.PID(p.ID) }

// ColdPart returns p.Cold, allocating it if necessary. The caller holds p.Mu, or p is not yet known to others.
func (p *Process) ColdPart() *Cold {
	if p.Cold == nil {
		p.Cold = new(Cold)
	}
	return p.Cold
}

// Ask adds n to the requests of p that will be answered by a message, if p counts them.
func (p *Process) Ask(n int32) {
	if p == nil || !p.Counts {
		return
	}
	p.Mu.Lock()
	p.ColdPart().asked += n
	p.Mu.Unlock()
}

// AskedLocked returns how many requests of p, which counts them, will be answered by a message. The message is in the
// mailbox before its request is no longer counted.
func (p *Process) AskedLocked() int {
	if p.Cold == nil {
		return 0
	}
	return int(p.Cold.asked)
}

// Over reports whether p is no longer alive and its code has returned: it is false for a handler that continues after its
// process was killed. Deferred functions of a blocking process that has ended itself by an exit signal may still run.
func (p *Process) Over() bool {
	switch {
	case !p.Gone():
		return false
	case (p.Kind == Goroutine || p.Kind == Coroutine) && p.Status.HasReturned():
		return true
	}
	return !p.Runner().Busy(&p.System.Plain)
}

// Name describes p, for logs.
func (p *Process) Name() string {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	s := p.PID().String()
	if p.Cold != nil {
		if p.Cold.Name != "" {
			s += " " + string(p.Cold.Name)
		}
		if p.Cold.Label != "" {
			s += " " + p.Cold.Label
		}
	}
	return s
}

// Deliver puts msg into p's mailbox on behalf of a.
func (p *Process) Deliver(a *Acting, msg any) error {
	if p.Boxed {
		return (*UserMailbox)(p).Deliver(a, msg, &Patience{From: a.Process})
	}
	if a.Worker != nil && a.Worker.Enter() {
		s := a.Worker.Stage()
		if p.Stage() != s {
			n := s.Node(msg)
			a.Worker.Leave()
			return p.Push(a, n)
		}
		if !p.Inbox.Armed() {
			if p.Inbox.Closed() {
				a.Worker.Leave()
				return p.System.Undeliverable(p.PID(), msg)
			}
			p.Inbox.Take(&p.Queue) // messages sent from outside before this one come first
		}
		if !p.Queue.Long() || !p.Queue.AppendLong(msg) {
			p.Queue.Append(s.Node(msg))
		}
		s.Wake(&p.Entity)
		a.Worker.Leave()
		return nil
	}
	return p.Push(a, &inbox.Node{Msg: msg})
}

// Signal puts a message made from a signal into p's mailbox: see Intake.
func (p *Process) Signal(a *Acting, msg any) {
	if t := p.System.Traces(); t != nil {
		t.Message(wire.PID{}, p.PID(), msg)
		if t.Checks() && !p.Boxed {
			msg = p.expect(t.Watched(a.PID(), p.PID(), msg))
		}
	}
	p.Intake().signal(a, msg)
}

// Push puts n, the message of a sender on another stage or on none, into p's inbox. It is handed directly to a waiting
// process with a goroutine of its own.
func (p *Process) Push(a *Acting, n *inbox.Node) error {
	if p.Kind >= Goroutine {
		switch p.Inbox.Offer(n) {
		case mailbox.Wake:
			p.Task().(Giver).Give(n)
		case mailbox.Closed:
			return p.System.Undeliverable(p.PID(), n.Msg)
		}
		return nil
	}
	switch p.Inbox.Push(n) {
	case mailbox.Wake:
		if p.OnStage() {
			a.Inject(&p.Entity, a.Worker)
		} else {
			p.Runner().Wake(a)
		}
	case mailbox.Closed:
		return p.System.Undeliverable(p.PID(), n.Msg)
	}
	return nil
}

// Settle removes the message that was just offered from the queue, or leaves it there for another behaviour.
func (p *Process) Settle(s *executor.Stage, err error) {
	if err != nil { // ErrUnhandled: all other errors end the process
		p.leaveIt()
		p.Queue.Skip()
	} else {
		p.CountHandled()
		if n := p.Queue.Drop(); n != nil && s != nil {
			s.Recycle(n)
		}
		if p.Boxed {
			p.Cold.Box.Done()
		}
	}
	if p.Rewind {
		p.Rewind = false
		p.Queue.Rewind()
	}
}

// CountHandled counts a handled message. The caller runs the process.
func (p *Process) CountHandled() { p.Handled.Add(1) }

// Refill moves further messages to the queue, and reports whether there are any.
func (p *Process) Refill() bool {
	if p.Boxed {
		return (*UserMailbox)(p).refill()
	}
	return p.Inbox.Take(&p.Queue) > 0
}

// TurnOver ends a turn.
func (p *Process) TurnOver() {
	p.Running.Store(false)
	if p.Gone() {
		p.Returned()
	}
}

// Returned records that the function of p, which is not alive, has returned.
func (p *Process) Returned() { p.Status.Return(&p.System.Lingering) }

// Broke ends a process whose handler panicked or called runtime.Goexit.
func (p *Process) Broke(a *Acting, cause any) executor.TurnResult {
	p.Exit(a, p.System.Host.Panicked(cause))
	if a.Worker != nil && a.Worker.Enter() {
		return executor.Idle
	}
	return executor.Lost
}

// Context returns a context that ends with p.
func (p *Process) Context() context.Context {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	c := p.ColdPart()
	if c.scope == nil {
		ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), ProcKey{}, p))
		c.scope = &scope{ctx, cancel}
		if p.Gone() {
			c.scope.cancel(p.System.Host.ErrorOf(c.Reason))
		}
	}
	return c.scope.Context
}

// scope is a Context that ends with a process.
type scope struct {
	context.Context
	cancel context.CancelCauseFunc
}

// OwnLeader returns p's group leader, or zero if it is the node's.
func (p *Process) OwnLeader() wire.PID {
	p.Mu.Lock()
	defer p.Mu.Unlock()
	if p.Cold == nil {
		return wire.PID{}
	}
	return p.Cold.Leader
}

// SetLeader is the signal group_leader. If a process had no leader of its own, its children do not inherit the new one.
func (p *Process) SetLeader(leader wire.PID) {
	p.Mu.Lock()
	p.ColdPart().Leader = leader
	p.Mu.Unlock()
}

// Follow sets the group leader of p, which is not yet known to others.
func (p *Process) Follow(leader wire.PID) { p.ColdPart().Leader, p.Led = leader, true }
