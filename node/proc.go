package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/actornode/actornode/internal/bias"
	"github.com/actornode/actornode/internal/executor"
	"github.com/actornode/actornode/internal/inbox"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/internal/lifecycle"
	"github.com/actornode/actornode/node/internal/list"
	"github.com/actornode/actornode/node/internal/quota"
	"github.com/actornode/actornode/node/internal/table"
	"github.com/actornode/actornode/node/internal/timers"
	"github.com/actornode/actornode/node/internal/trace"
	"github.com/actornode/actornode/node/observe"
	"github.com/actornode/actornode/sched"
	"github.com/actornode/actornode/wire"
)

// What the status of most processes is: see package lifecycle.
const (
	alive   = lifecycle.Alive
	tokened = lifecycle.Tokened
)

// gone reports whether p is no longer alive.
func (p *proc) gone() bool { return p.status.IsOver() }

// proc is a process of either style: what PIDs stand for. Its size is what an
// idle actor costs, so what few processes need is in cold.
//
// Invariants:
//
//  1. A proc is in the table from before anyone has its PID until status
//     leaves alive; status only goes up.
//  2. q is touched by whoever holds the home stage, or, without one, by the
//     process's own goroutine.
//  3. behaviour, handled and the stack of behaviours are touched by whoever runs
//     the process, or, while nobody runs it, by whoever holds the home stage.
//  4. cold, once set, is not replaced; its fields are guarded by mu, those set
//     at spawn excepted.
//  5. No mu is locked while another is held, those of two processes that are
//     linked or unlinked excepted: the lower number first, see lockPair.
//
// Its fields stand in three lines of a cache, for the sake of those who send from another
// core: what they write; what is written with each message that is handled, which they
// leave alone; and what changes seldom.
type proc struct {
	executor.Entity
	in inbox.Inbox

	q       inbox.Queue
	handled atomic.Uint64   // messages; written by whoever runs the process, see bias.StoreUint64
	started int64           // Unix time, ns; like parent it could stand anywhere
	parent  uint64          // number of the spawning process, plus 1; 0: spawned from outside
	running uint32          // in a turn; written by whoever runs the process, see bias.Store
	status  lifecycle.State // looked at with each message

	node      *Node
	id        uint64
	behaviour Actor
	cold      *cold
	mu        sync.Mutex
	kind      kind
	boxed     bool // cold.box instead of in and q; set at spawn
	fresh     bool // Init has not run yet
	rewind    bool // the behaviour has changed: offer again what was left; owned like behaviour
	tied      bool // linked to its parent, which is not in cold.links then; guarded by mu
	byName    bool // has an entry in Node.byName; guarded by mu
	tells     bool // owes word of how its Init went; set at spawn
	led       bool // has a group leader of its own, for its children too; set at spawn
	protected bool // from peers; set at spawn
	showsPeer bool // gets a PeerMessage for what comes from peers; set at spawn
}

// cold holds what most processes never need.
type cold struct {
	// Set at spawn.
	box       mailbox.Box
	scheduler sched.Scheduler
	label     string
	owner     *quota.Owner // of a process that a peer has started; nil: none

	bias bias.Owned // of external: guards q, in place of a stage

	// Owned like behaviour.
	stack   []Actor // behaviours below the current one
	pending error   // how the handler ended that lost its stage
	blocked bool    // the handler that lost its stage has ended

	// Guarded by proc.mu.
	trap     bool // beside blocked, for the sake of the size
	links    table.PIDs
	name     wire.Atom
	wait     *observe.Wait       // what is waited for; nil: see Process.waits
	watchers list.List[monitor]  // over this process
	watching map[uint64]*monitor // by reference number: this process's monitors
	aliases  map[uint64]struct{}
	calls    list.List[call] // that wait for this process
	timers   *timers.Set     // that send to this process; nil: there were none
	birth    ticket          // is settled when Init has returned; set at spawn
	ctx      context.Context
	cancel   context.CancelCauseFunc
	token    trace.Token // owned like behaviour
	reason   any         // once exiting
	leader   PID         // group leader; zero: the node's
}

// pid returns p's identifier.
func (p *proc) pid() wire.PID { return p.node.origin.PID(p.id) }

// coldPart returns p.cold, making it first if need be. The caller holds p.mu, or
// p is not yet known to anyone.
func (p *proc) coldPart() *cold {
	if p.cold == nil {
		p.cold = new(cold)
	}
	return p.cold
}

// Name says what runs in p, for logs.
func (p *proc) Name() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.pid().String()
	if p.cold != nil {
		if p.cold.name != "" {
			s += " " + string(p.cold.name)
		}
		if p.cold.label != "" {
			s += " " + p.cold.label
		}
	}
	return s
}

// deliver puts msg into p's mailbox. c is the context of the actor that sends,
// nil where the sender is not run by a stage.
func (p *proc) deliver(a *acting, msg any) error {
	if p.boxed {
		return (*userMailbox)(p).deliver(a, msg, &patience{from: a.p})
	}
	if a.w != nil && a.w.Enter() {
		s := a.w.Stage()
		if p.Stage() != s {
			n := s.Node(msg)
			a.w.Leave()
			return p.push(a, n)
		}
		if !p.in.Armed() {
			if p.in.Closed() {
				a.w.Leave()
				return p.node.undeliverable(p.pid(), msg)
			}
			p.in.Take(&p.q) // what was sent from outside before this came first
		}
		if p.q.Long() {
			p.q.AppendLong(msg)
		} else {
			p.q.Append(s.Node(msg))
		}
		s.Wake(&p.Entity)
		a.w.Leave()
		return nil
	}
	return p.push(a, &inbox.Node{Msg: msg})
}

// signal puts a message that a signal has become into p's mailbox: see intake.
func (p *proc) signal(a *acting, msg any) {
	if t := p.node.traces(); t != nil {
		t.Message(PID{}, p.pid(), msg)
	}
	p.intake().signal(a, msg)
}

// push puts n, the message of a sender on another stage or on none, into p's inbox. A process
// that waits on a goroutine of its own gets it in hand.
func (p *proc) push(a *acting, n *inbox.Node) error {
	if p.kind >= kindGoroutine {
		switch p.in.Offer(n) {
		case mailbox.Wake:
			(*goroutine)(p.process()).give(n)
		case mailbox.Closed:
			return p.node.undeliverable(p.pid(), n.Msg)
		}
		return nil
	}
	switch p.in.Push(n) {
	case mailbox.Wake:
		p.runner().wake(a)
	case mailbox.Closed:
		return p.node.undeliverable(p.pid(), n.Msg)
	}
	return nil
}

// settle takes the message that was just offered out of the queue, or leaves
// it there for another behaviour.
func (p *proc) settle(s *executor.Stage, err error) {
	if err != nil { // ErrUnhandled: all other errors end the process
		p.leaveIt()
		p.q.Skip()
	} else {
		p.countHandled()
		if n := p.q.Drop(); n != nil && s != nil {
			s.Recycle(n)
		}
		if p.boxed {
			p.cold.box.Done()
		}
	}
	if p.rewind {
		p.rewind = false
		p.q.Rewind()
	}
}

// countHandled counts a message that has been handled. The caller runs the process.
func (p *proc) countHandled() { bias.StoreUint64(&p.handled, p.handled.Load()+1) }

// refill looks for messages that the queue does not have yet.
func (p *proc) refill() bool {
	if p.boxed {
		return (*userMailbox)(p).refill()
	}
	return p.in.Take(&p.q) > 0
}

// ends does what an error says that Receive has returned: p exits, unless the error is, or
// wraps, ErrUnhandled. It returns plain ErrUnhandled then.
func (p *proc) ends(a *acting, err error) error {
	if err != ErrStop && errors.Is(err, ErrUnhandled) { // nearly all that end return ErrStop
		return ErrUnhandled
	}
	p.exit(a, reasonOf(err))
	return err
}

// turned is the end of a turn.
func (p *proc) turned() {
	bias.Store(&p.running, 0)
	if p.gone() {
		p.returned()
	}
}

// returned says that the function of p, which is not alive, has returned.
func (p *proc) returned() { p.status.Return(&p.node.lingering) }

// broke ends a process whose handler panicked or called runtime.Goexit.
func (p *proc) broke(a *acting, cause any) executor.TurnResult {
	p.exit(a, panicked(cause))
	if a.w != nil && a.w.Enter() {
		return executor.Idle
	}
	return executor.Lost
}

// become replaces the behaviour; push keeps the old one below the new.
func (p *proc) become(a *acting, b Actor, push bool) {
	if nothing(b) {
		p.exit(a, &Crash{Reason: ErrNilBehaviour})
		return
	}
	p.mu.Lock() // Info reads the behaviour
	if push {
		k := p.coldPart()
		k.stack = append(k.stack, p.behaviour)
	}
	p.behaviour = b
	p.mu.Unlock()
	p.rewind = true
}

// context returns a context that ends with p.
func (p *proc) context() context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.coldPart()
	if c.ctx == nil {
		c.ctx, c.cancel = context.WithCancelCause(context.WithValue(context.Background(), procKey{}, p))
		if p.gone() {
			c.cancel(&ExitError{c.reason})
		}
	}
	return c.ctx
}

// typeName is the behaviour's type as %T prints it.
func typeName(v any) string {
	switch b := v.(type) {
	case BehaviourNamer:
		return b.BehaviourName()
	case ActorFunc:
		return "node.ActorFunc"
	}
	return fmt.Sprintf("%T", v)
}
