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
	"github.com/actornode/actornode/node/internal/quota"
	"github.com/actornode/actornode/node/internal/table"
	"github.com/actornode/actornode/sched"
	"github.com/actornode/actornode/wire"
)

// status is how far a process is on its way from spawn to death.
type status = uint32

const (
	alive     status = 0
	exiting   status = 1 << iota // signals no longer reach it; links and monitors are being told
	dead                         // all have been told
	abandoned                    // ended from outside while its function ran
	returned                     // the function has returned since
	itself                       // ended by its own code: not abandoned

	tokened status = 1 << 6 // no step of the way: see token.go
)

// gone reports whether p is no longer alive.
func (p *proc) gone() bool { return p.status.Load()&^tokened != alive }

// kind says who runs a process. Set at spawn.
type kind uint8

const (
	staged  kind = iota // an Actor on stages
	free                // an Actor run by a scheduler of its own
	blocked             // a Process: a function on its own goroutine
	handle              // a goroutine that opened a handle
)

// proc is a process of either style: what PIDs stand for. Its size is what an
// idle actor costs, so what few processes need is in cold.
//
// Invariants:
//
//  1. A proc is in the table from before anyone has its PID until status
//     leaves alive; status only goes up.
//  2. q is touched by whoever holds the home stage (staged) or by the
//     process's own goroutine (the others).
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
	handled atomic.Uint64 // messages; written by whoever runs the process, see bias.StoreUint64
	started int64         // Unix time, ns; like parent it could stand anywhere
	parent  uint64        // number of the spawning process, plus 1; 0: spawned from outside
	running uint32        // in a turn; written by whoever runs the process, see bias.Store
	status  atomic.Uint32 // looked at with each message

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

	bias bias.Owned // of a free process: guards q, in place of a stage

	// Owned like behaviour.
	stack   []Actor // behaviours below the current one
	pending error   // how the handler ended that lost its stage
	blocked bool    // the handler that lost its stage has ended

	// Guarded by proc.mu.
	trap     bool
	links    table.PIDs
	byName   map[At]*nameLink // links that were asked for by a name on another node
	name     wire.Atom
	watchers map[*monitor]struct{} // monitors of this process
	monitors uint64                // ever put into watchers
	watching map[uint64]*monitor   // by reference number: this process's monitors
	aliases  map[uint64]struct{}
	calls    *promise // calls that wait for this process
	timers   *Timer   // that send to this process: the first of a list
	birth    ticket   // is settled when Init has returned; set at spawn
	ctx      context.Context
	cancel   context.CancelCauseFunc
	trace    inHand // owned like behaviour
	reason   any    // once exiting
	leader   PID    // group leader; zero: the node's
}

// pid returns p's identifier.
func (p *proc) pid() wire.PID { return p.node.origin.PID(p.id) }

// chill returns p.cold, making it first if need be. The caller holds p.mu, or
// p is not yet known to anyone.
func (p *proc) chill() *cold {
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
		return p.deliverBoxed(a, msg, &patience{from: a.p})
	}
	if a.w != nil && a.w.Enter() {
		s := a.w.Stage()
		if p.Home() != s {
			n := s.Node(msg)
			a.w.Leave()
			return p.push(a, n)
		}
		if !p.in.Quiet() {
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

// push is deliver from outside p's stage.
func (p *proc) push(a *acting, n *inbox.Node) error {
	if p.kind >= blocked {
		switch p.in.Offer(n) {
		case mailbox.Wake:
			p.behaviour.(blocking).give(n)
		case mailbox.Closed:
			return p.node.undeliverable(p.pid(), n.Msg)
		}
		return nil
	}
	switch p.in.Push(n) {
	case mailbox.Wake:
		p.wake(a)
	case mailbox.Closed:
		return p.node.undeliverable(p.pid(), n.Msg)
	}
	return nil
}

// wake schedules p; the caller owes p the wake-up.
func (p *proc) wake(a *acting) {
	switch p.kind {
	case staged:
		if p.boxed && !p.in.Claim() {
			return // it is being woken already
		}
		p.node.pool.Inject(&p.Entity, a.w)
	case free:
		p.cold.scheduler.Schedule(p)
	default: // boxed: what is boxed is not handed over
		p.behaviour.(blocking).prod()
	}
}

// signal puts a message that a signal has become into p's mailbox: past its
// bound, if it has one, for nobody waits or is told if a signal is lost.
func (p *proc) signal(a *acting, msg any) {
	if t := p.node.traces(); t != nil {
		t.message(nil, PID{}, p, msg)
	}
	if !p.boxed {
		p.deliver(a, msg)
		return
	}
	r := mailbox.Full
	if f, ok := p.cold.box.(mailbox.Forcer); ok {
		r = f.Force(msg)
	} else {
		r = p.cold.box.Push(msg)
	}
	p.boxIn(a, r, msg)
}

// boxIn does what is due after msg was pushed into p's box, where nobody waits.
func (p *proc) boxIn(a *acting, r mailbox.Result, msg any) {
	switch r {
	case mailbox.Wake:
		p.wake(a)
	case mailbox.Full:
		p.node.dead.add(DeadLetter{Cause: CauseMailboxFull, To: p.pid(), Message: msg})
	case mailbox.Closed:
		p.node.undeliverable(p.pid(), msg)
	}
}

// tryDeliver is deliver by one who must not be held up.
func (p *proc) tryDeliver(n *inbox.Node) {
	if p.boxed {
		p.boxIn(&p.node.acting, p.cold.box.Push(n.Msg), n.Msg)
		return
	}
	p.push(&p.node.acting, n)
}

// deliverBoxed is deliver to a process with a mailbox of its own making. That the
// message is dropped, or the process dead, is no error.
func (p *proc) deliverBoxed(a *acting, msg any, u *patience) error {
	err := p.offer(a, msg, u)
	if err == ErrDropped || err == ErrNoProcess {
		return nil
	}
	return err
}

// Claim is part of executor.Task.
func (p *proc) Claim() bool { return !p.boxed && p.in.Claim() }

// Notice is part of executor.Task.
func (p *proc) Notice(*executor.Stage) bool {
	p.in.TakeArmed(&p.q)
	return p.boxed || p.q.More() || p.fresh
}

// Back is part of executor.Task: the end of a turn whose handler lost its stage.
func (p *proc) Back(s *executor.Stage) bool {
	if p.cold != nil && p.cold.blocked {
		err := p.cold.pending
		p.cold.pending, p.cold.blocked = nil, false
		if !p.gone() {
			p.settle(s, err)
		}
	}
	return !p.gone() && (p.boxed || p.fresh || p.q.More() || p.in.Pending())
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
		m, ok := p.cold.box.Pop()
		if ok {
			p.q.Append(&inbox.Node{Msg: m})
		}
		return ok
	}
	return p.in.Take(&p.q) > 0
}

// Turn is part of executor.Task: it handles messages until there are none that the
// behaviour wants, or the budget is used up.
func (p *proc) Turn(w *executor.Worker) (v executor.Verdict) {
	c := w.Local.(*Context)
	c.p = p
	ended := false
	before := p.handled.Load()
	bias.Store(&p.running, 1)
	defer func() {
		if !ended {
			v = p.broke(&c.acting, recover())
		}
		c.handled(p.handled.Load() - before)
		p.turned()
		c.p = nil
	}()
	if p.fresh {
		p.fresh = false
		if i, ok := p.behaviour.(Initializer); ok {
			w.Leave()
			if err := i.Init(c); err != nil || p.tells {
				p.born(&c.acting, err)
			}
			if !w.Enter() {
				ended = true
				return executor.Lost
			}
		}
	}
	s := w.Stage()
	for left := max(p.node.cfg.Budget, p.q.Len()/2); left > 0; left-- {
		if st := p.status.Load(); st != alive {
			if st != tokened {
				ended = true
				return executor.Idle
			}
			p.open()
		}
		msg, ok := p.q.Next()
		if !ok {
			if p.refill() {
				continue
			}
			ended = true
			return executor.Idle
		}
		behaviour := p.behaviour
		w.Leave()
		err := behaviour.Receive(c, msg)
		if err != nil {
			err = p.ends(&c.acting, err)
		}
		if !w.Enter() {
			p.mu.Lock()
			p.chill()
			p.mu.Unlock()
			p.cold.pending, p.cold.blocked = err, true
			if err == nil {
				before-- // that it is handled is noted in Back
			}
			ended = true
			return executor.Lost
		}
		if err == nil || err == ErrUnhandled {
			p.settle(s, err)
		} else if n := p.q.Drop(); n != nil {
			s.Recycle(n)
		}
	}
	ended = true
	return executor.Again
}

// Run is part of sched.Runnable: a turn of an actor that a scheduler of its own
// runs. It answers whether there is more to do.
func (p *proc) Run() (again bool) {
	c := &Context{}
	c.acting = acting{node: p.node, p: p, ctx: c}
	ended := false
	before := p.handled.Load()
	bias.Store(&p.running, 1)
	defer func() {
		if !ended {
			p.broke(&c.acting, recover())
			again = false
		}
		p.node.taken.Add(p.handled.Load() - before)
		p.turned()
		c.p = nil
	}()
	if p.fresh {
		p.fresh = false
		if i, ok := p.behaviour.(Initializer); ok {
			if err := i.Init(c); err != nil || p.tells {
				p.born(&c.acting, err)
			}
		}
	}
	b := &p.cold.bias
	b.Enter()
	again = true
	for left := max(p.node.cfg.Budget, p.q.Len()/2); left > 0; {
		if st := p.status.Load(); st != alive {
			if st != tokened {
				break
			}
			p.open()
		}
		msg, ok := p.q.Next()
		if !ok {
			if p.refill() || !p.boxed && !p.in.Arm() { // a box armed itself when it had nothing
				continue
			}
			again = false
			break
		}
		left--
		b.Leave()
		err := p.behaviour.Receive(c, msg)
		if err != nil {
			err = p.ends(&c.acting, err)
		}
		b.Enter()
		if err == nil || err == ErrUnhandled {
			p.settle(nil, err)
		}
	}
	b.Leave()
	ended = true
	return again && !p.gone()
}

// ends does what an error says that Receive has returned: p exits, unless the error is, or
// wraps, ErrUnhandled. It returns plain ErrUnhandled then.
func (p *proc) ends(a *acting, err error) error {
	if errors.Is(err, ErrUnhandled) {
		return ErrUnhandled
	}
	p.exit(a, ReasonOf(err))
	return err
}

// turned is the end of a turn.
func (p *proc) turned() {
	bias.Store(&p.running, 0)
	if p.gone() {
		p.returned()
	}
}

// abandon counts p, which the caller has just made exit from outside, as a
// process whose function still runs, if it does.
func (p *proc) abandon(a *acting) {
	if s := p.coroutine(); s != nil {
		// Its function has begun if its fiber has a number: job.Run looks at status after that
		// is stored, and here it is the other way round. Even one that waits has not returned:
		// it is unwound, and its deferred calls may take long.
		if s.co.fiber.Load() == 0 {
			return
		}
	} else if p.kind <= free {
		if p.kind == staged && a.w != nil && a.w.Enter() {
			// Whoever holds the stage knows of all turns that have begun on it. One
			// may be ending elsewhere, with its stage lost; then status is looked at
			// there after running is cleared, or before: nothing is lost either way.
			idle := p.Home() == a.w.Stage() && atomic.LoadUint32(&p.running) == 0
			if a.w.Leave(); idle {
				return
			}
		}
		bias.Barrier() // against turned: status is written, now running is read
		if atomic.LoadUint32(&p.running) == 0 {
			return
		}
	}
	p.node.lingering.Add(1)
	if p.status.Or(abandoned)&returned != 0 {
		p.node.lingering.Add(-1) // it has returned meanwhile
	}
}

// coroutine returns what p is from inside if it is a coroutine, nil otherwise. The caller holds
// no proc's mu, and need not run p.
func (p *proc) coroutine() *Process {
	if p.kind != staged {
		return nil
	}
	p.mu.Lock() // an Actor may be changing its behaviour
	defer p.mu.Unlock()
	if s, ok := p.behaviour.(blocking); ok {
		return s.Process
	}
	return nil
}

// returned says that the function of p, which is not alive, has returned.
func (p *proc) returned() {
	if p.status.Load()&itself == 0 && p.status.Or(returned)&(abandoned|returned) == abandoned {
		p.node.lingering.Add(-1)
	}
}

// broke ends a process whose handler panicked or called runtime.Goexit.
func (p *proc) broke(a *acting, cause any) executor.Verdict {
	p.exit(a, Panicked(cause))
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
		k := p.chill()
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
	c := p.chill()
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
	case blocking:
		return b.what()
	case BehaviourNamer:
		return b.BehaviourName()
	case ActorFunc:
		return "node.ActorFunc"
	}
	return fmt.Sprintf("%T", v)
}
