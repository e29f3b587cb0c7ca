package node

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/kernel/tables"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node/deadletter"

	"github.com/actornode/actornode/sched"
)

// Options of a spawn. The zero value works.
type Options struct {
	Name  Atom   // registered before the process runs; "": none
	Label string // what Info and logs show beside the name and the PID
	Link  bool   // link to the spawning process
	// Monitor, if not nil, is set to the reference of a monitor that the spawning process has from the beginning.
	Monitor *Ref `isolation:"share"`
	// Via returns what runs instead of the behaviour. It gives a process a name in another registry than the node's,
	// as OTP's {via, Module, Name} does: see global.As. An Announce waits for the Init of what Via returns.
	Via func(Actor) Actor `isolation:"share"`

	// Place says where an Actor or a coroutine runs. Any other ProcessFunc has its own goroutine.
	Place Place

	// Coroutine runs a ProcessFunc on stages, as a coroutine, instead of on its own goroutine. It is faster to switch
	// to and to send from. Like an Actor's handler it holds up its stage, until the runtime notices, when it blocks
	// other than in a Receive or a Call. On linux/amd64 these panic with [ErrThreadLocked] where they would have to wait while
	// the function is locked to its thread ([runtime.LockOSThread]).
	Coroutine bool

	// Leader is the group leader: the process that prints what this one prints, for
	// Erlang's io. Default: that of the spawning process.
	Leader PID

	// Announce sends Started to the spawning process once the Init of an Initializer has returned nil or ErrIgnore. Any
	// other behaviour has started as soon as it is spawned, and sends nothing. With Config.DetectCycles the spawning
	// process counts as waiting for Started: a supervisor, say, answers no calls before.
	Announce bool

	// Bounds limit the mailbox; the zero value does not. A message counts until an Actor's handler, or a Process's
	// Receive, has returned. Exit signals and Downs get in past the bound.
	Bounds mailbox.Bounds
	// Mailbox replaces the default mailbox. Not together with Bounds.
	Mailbox mailbox.Box
	// Scheduler runs an Actor or a coroutine in place of the stages. Not together with Place.
	Scheduler sched.Scheduler

	// Daemon is for a process that serves the others: lifetime.Wait does not wait for it. This does not make those that
	// it spawns daemons.
	Daemon bool
	// CopyMessages gives the process copies of what others of this node send to it: see package isolation. A sender of
	// what cannot be copied gets an [*isolation.Error]. From then on messages of all processes of the node cost some
	// nanoseconds more.
	CopyMessages bool

	// Protected keeps the process registered, and keeps other nodes from ending it: their exit signals, and those of
	// links that break, are refused or have no effect. So are their group leaders and, by the packages of behaviours,
	// system messages that change something. Processes of this node are not kept from anything.
	Protected bool
	// ShowPeer delivers what comes from another node as a [PeerMessage], which says whose connection it came over.
	ShowPeer bool
	// For is the node whose request the process is started for, as [From.Peer] says. The process counts towards what
	// that node may have started here, [ClusterLimits].Spawned, until it ends, and so does its Name for
	// [ClusterLimits].Names; beyond these the spawn fails with [ErrTooMany]. The process may do by name what that node
	// may: see [Access].Allow. "", or this node itself: it counts for no peer.
	For Atom

	// Interceptors are called for what the process, an Actor, handles: inside those of [Config].
	Interceptors []Interceptor `isolation:"share"`
	// SendInterceptors are called before what the process sends: after those of [Config].
	SendInterceptors []SendInterceptor `isolation:"share"`

	owner   *limits.Owner          // that the process counts for already; nil: none, unless For says one
	service *tables.Reservation    // of the service that the process belongs to; nil: none
	birth   process.Ticket         // is settled when Init has returned
	before  func(*process.Process) // called before the process runs
	counts  bool                   // see Watched
	inline  *executor.InlineWorker // worker of the pool that spawns it; nil: none
}

// Place is where an Actor runs. The zero value lets the runtime choose: the stage of the spawning actor; for spawns
// from elsewhere one stage after the other, in blocks of 256 actors, unless [Config].Spread chooses. It may move the
// actor to another stage to balance the load, or to bring it to those who send to it, or whom it sends to.
type Place struct{ p runner.Place }

// OnStage is the stage with number k, from 0 to Stats().Scheduler.Stages-1 of the node. The actor stays.
func OnStage(k int) Place { return Place{runner.Place{Kind: runner.Number, Number: k}} }

// Beside is the stage of another Actor or coroutine. Both stay there from then on.
func Beside(pid PID) Place { return Place{runner.Place{Kind: runner.Beside, PID: pid}} }

// Detached is a stage of the actor's own, with a goroutine of its own: for
// handlers that block or compute for long. A ProcessFunc has a goroutine anyway.
func Detached() Place { return Place{runner.Place{Kind: runner.Detached}} }

// noOptions is for a spawn without options. Nobody writes to it.
var noOptions Options

// plain reports whether o is the zero value, apart from Monitor.
func (o *Options) plain() bool {
	if o == &noOptions {
		return true
	}
	return o.Name == "" && o.Label == "" && o.Leader == PID{} && !o.Protected && !o.ShowPeer && !o.Daemon && o.For == "" &&
		!o.CopyMessages && !o.Link && !o.Announce && o.birth.Call == nil && o.before == nil && !o.counts && !o.Coroutine &&
		o.Place.p.Kind == runner.Anywhere && o.Mailbox == nil && o.Scheduler == nil &&
		o.Bounds.Messages == 0 && o.Bounds.Bytes == 0 && o.Bounds.Policy == 0
}

// nothing reports whether b is no behaviour at all. A nil pointer may be one.
func nothing(b Actor) bool {
	switch f := b.(type) {
	case nil:
		return true
	case ActorFunc:
		return f == nil
	case ProcessFunc:
		return f == nil
	}
	return false
}

// validate reports what is wrong with options.
//
//go:noinline
func (o *Options) validate(n *Node, caller *process.Process, b Actor) error {
	_, process := b.(ProcessFunc)
	detached := o.Place.p.Kind == runner.Detached
	switch {
	case o.Link && caller == nil:
		return fmt.Errorf("%w: Options.Link: only a process can link; use Context.SpawnOpt or Process.SpawnOpt", ErrArgument)
	case o.Monitor != nil && caller == nil:
		return fmt.Errorf("%w: Options.Monitor: only a process can monitor; use Context.SpawnOpt or Process.SpawnOpt", ErrArgument)
	case o.Announce && caller == nil:
		return fmt.Errorf("%w: Options.Announce: only a process can wait for the start; see SpawnWait", ErrArgument)
	case o.Mailbox != nil && inbox.Limited(o.Bounds):
		return fmt.Errorf("%w: Options: Mailbox and Bounds cannot be combined", ErrArgument)
	case o.Scheduler != nil && o.Place != Place{}:
		return fmt.Errorf("%w: Options: Scheduler and Place cannot be combined", ErrArgument)
	case o.Coroutine && (!process || detached):
		return fmt.Errorf("%w: Options.Coroutine: only for a ProcessFunc that is not Detached", ErrArgument)
	case process && !o.Coroutine && (o.Scheduler != nil || o.Place != Place{} && !detached):
		return fmt.Errorf("%w: Options: a ProcessFunc runs on its own goroutine: Scheduler and Place must not be set", ErrArgument)
	case o.Place.p.Order != nil && (process || o.Mailbox != nil || inbox.Limited(o.Bounds)):
		return fmt.Errorf("%w: Options: an ordered stage is for Actors without Mailbox and Bounds", ErrArgument)
	}
	if err := inbox.Check(o.Bounds); err != nil {
		return fmt.Errorf("%w: Options: %w", ErrArgument, err)
	}
	return nil
}

// Open returns the calling goroutine's handle: a process whose code is that goroutine's. Close it when done.
func (n *Node) Open() (*Process, error) {
	s := newProcess(n, nil)
	p := &s.own.Own
	p.ColdPart() // whoever looks at a handle may ask why it has exited
	if _, err := n.begin(&n.sys.Plain, &noOptions, nil, p); err != nil {
		return nil, err
	}
	return s, nil
}

// newProcess makes a process with its own goroutine; fn is nil for a handle. It is not inlined, so that its frame is
// gone before begin has one: see spawn. The same goes for the others with go:noinline here. With the profile of a program
// that spawns a lot, the compiler would inline them: spawn would need 176 bytes more and begin 56, and a process that has
// spawned another would keep a stack of 4 KiB, where it now often has 2.
//
//go:noinline
func newProcess(n *Node, fn ProcessFunc) *Process {
	s := new(Process)
	if fn == nil {
		s.own.Init(&n.sys, nil)
	} else {
		s.own.Init(&n.sys, function(fn))
	}
	s.by = &s.own.Acting
	return s
}

// newCoroutine makes a process that is a coroutine.
//
//go:noinline
func newCoroutine(n *Node, fn ProcessFunc) *Process {
	one := new(struct {
		s  Process
		co runner.Turns
	})
	s := &one.s
	s.own.InitCoroutine(&n.sys, function(fn), &one.co)
	s.by = &s.own.Acting
	return s
}

// spawn is behind all the spawns. It may change o, except noOptions. o is a pointer because the stack of a spawn should
// fit into the one that a goroutine begins with.
func (n *Node) spawn(a *process.Acting, o *Options, b Actor) (PID, error) {
	if nothing(b) {
		return PID{}, errNilBehaviour
	}
	if o.Via != nil {
		b = o.Via(b)
	}
	a.Own() // or panic
	f, blocks := b.(ProcessFunc)
	coroutine := blocks && n.cfg.Coroutines
	if o != &noOptions {
		o.Coroutine = o.Coroutine || coroutine && o.Place.p.Kind != runner.Detached
		coroutine = o.Coroutine
		if err := o.validate(n, a.Process, b); err != nil {
			return PID{}, err
		}
	}
	if a.Process != nil && !a.Process.Plain() {
		if a.Gone() {
			return PID{}, ErrExited
		}
		o = bequeath(a.Process, o)
	}
	if o.For != "" {
		if err := n.ownFor(o); err != nil {
			return PID{}, err
		}
	}
	if o.Place.p.Kind == runner.Detached && !blocks {
		o.Scheduler = executor.NewDedicated()
	}
	if !blocks && o.service == nil && (n.cfg.Interceptors != nil || o.Interceptors != nil) {
		b = n.intercept(o, b)
	}
	var p *process.Process
	switch {
	case coroutine:
		p = &newCoroutine(n, f).own.Own
	case blocks:
		p = &newProcess(n, f).own.Own
	default:
		p = newActor(b, o)
	}
	fresh, err := n.begin(a, o, b, p)
	if err != nil {
		if o.For != "" && o.owner != nil {
			o.owner.GiveSpawn()
		}
		return PID{}, err
	}
	p.Runner().Start(a, o.inline, fresh)
	runner.Started(p)
	return p.PID(), nil
}

// bequeath returns o changed so that the process inherits p's trace token.
func bequeath(p *process.Process, o *Options) *Options {
	if o == &noOptions {
		o = new(Options)
	}
	token, before := p.Token(), o.before
	o.before = func(q *process.Process) {
		if before != nil {
			before(q)
		}
		q.Inherit(token)
	}
	return o
}

// home finds the stage for a new process.
func (n *Node) home(a *process.Acting, o *Options) (*executor.Stage, bool, error) {
	if o.Scheduler != nil {
		return n.sys.Pool.NewDriven(o.Scheduler), true, nil
	}
	s, pinned, err := o.Place.p.Home(a, n.cfg.Spread)
	if err != nil && !errors.Is(err, ErrNoProcess) {
		err = fmt.Errorf("%w: Options: %w", ErrArgument, err)
	}
	return s, pinned, err
}

// newActor makes a process whose code is an Actor.
func newActor(b Actor, o *Options) *process.Process {
	// Write a non-pointer field first. While the collector runs, a store of a pointer reads the old value before it
	// writes, and so faults a fresh page twice.
	if o.Scheduler != nil {
		r := new(external)
		r.Kind, r.behaviour, r.Scheduler = process.External, b, o.Scheduler
		r.Adopt(r, nil, false)
		return &r.Process
	}
	r := new(actor)
	r.Kind, r.behaviour = process.Actor, b
	r.Adopt(r, nil, false)
	return &r.Process
}

// begin makes p, which is nearly all zero, a process, and leaves it to the caller to start it. fresh: its Init must
// run.
func (n *Node) begin(a *process.Acting, o *Options, b Actor, p *process.Process) (fresh bool, err error) {
	p.System = &n.sys
	if p.OnStage() {
		home, pinned, err := n.home(a, o)
		if err != nil {
			return false, err
		}
		p.Adopt(p.Task(), home, pinned)
	} else {
		p.Inbox.Claim() // its first run is owed below
	}
	if a.Process != nil {
		p.Parent = a.Process.ID + 1
		if a.Process.Led && o.Leader.IsZero() {
			p.Follow(a.Process.OwnLeader())
		}
	}
	if a.Worker != nil {
		p.Started = n.sys.Pool.Clock()
	} else {
		p.Started = n.sys.Clock.Now()
	}
	if _, ok := b.(Initializer); ok {
		p.Fresh = true
		p.Tells = o.Announce || o.birth.Call != nil
	}
	if !o.plain() {
		o.apply(n, p)
	}
	if (n.sys.Sends != nil || len(o.SendInterceptors) != 0) && o.service == nil {
		p.Check(checkSends(n.sys.Sends, o.SendInterceptors))
	}
	fresh = p.Fresh // once others know p, it may run
	id, ok := n.sys.Table.Reserve(a.Slots())
	if !ok {
		return false, ErrTooMany
	}
	p.ID = id
	pid := p.PID()
	if o.Announce && p.Tells && !o.counts { // a group of package keyed answers calls meanwhile
		a.AwaitsStart(p)
	}
	n.sys.Table.Put(id, p)
	n.sys.Count(a, 1)
	if o.Name != "" {
		// Killed already? Then it has no name, and that was not the spawner's fault.
		if err := n.give(o.Name, p, o.by(), o.service); err != nil && !errors.Is(err, ErrNoProcess) {
			cancel(p, a, Normal)
			return false, err
		}
	}
	if n.sys.Stopped.Load() { // Stop may have looked through the table before p was in it
		cancel(p, a, Shutdown)
		return false, ErrNodeStopped
	}
	if o.Link {
		a.Process.Link(a, pid)
		if a.Process.Gone() { // killed meanwhile, perhaps before the link was there
			cancel(p, a, a.Process.Reason())
			return false, ErrExited
		}
	}
	if o.Monitor != nil {
		*o.Monitor = a.Process.Monitor(a, pid)
	}
	if o.birth.Call != nil {
		o.birth.Call.Target = p
		if err := a.MayAwait(process.Ticket{}, o.birth, calls.WaitStart, nil); err != nil { // known by its name, it has called
			o.birth.Settle(a, nil, err)
		} else if !o.birth.Call.List() { // killed by its name
			o.birth.Settle(a, nil, &ExitError{Reason: p.Reason()})
		} else if !p.Tells {
			o.birth.Settle(a, nil, nil)
		}
	}
	if o.owner != nil {
		runner.SetOwner(p, o.owner)
	}
	if o.before != nil {
		o.before(p)
	}
	if t := n.sys.Traces(); t != nil && t.Traced(a.PID()) {
		t.Spawned(a.PID(), p.PID(), p.Ended)
	}
	return fresh, nil
}

// Watched is for packages of this module: f gets the process before it runs, and the process counts its requests that a
// message will answer, see process.AskedLocked.
func (o *Options) Watched(_ process.Key, f func(*process.Process)) { o.counts, o.before = true, f }

// cancel ends p, which has not been started. Others may know it already, and what they sent may have run a process on
// stages.
func cancel(p *process.Process, a *process.Acting, reason any) {
	p.Leave(a, reason, false)
	if p.Kind == process.Goroutine {
		p.Returned() // there is none yet
	}
}

// apply sets up p as the options say. Nobody knows p yet.
//
//go:noinline
func (o *Options) apply(n *Node, p *process.Process) {
	p.Protected, p.ShowsPeer, p.Daemon, p.Counts = o.Protected, o.ShowPeer, o.Daemon, o.counts
	if o.Label != "" {
		p.ColdPart().Label = o.Label
	}
	if o.CopyMessages {
		p.Copies = true
		n.sys.Tracing.Keep(n.guard)
	}
	if !o.Leader.IsZero() {
		p.Follow(o.Leader)
	}
	if o.birth.Call != nil {
		p.ColdPart().Birth = o.birth
	}
	o.Place.p.Apply(p)
	if o.Mailbox != nil {
		p.ColdPart().Box, p.Boxed = o.Mailbox, true
	}
	if inbox.Limited(o.Bounds) {
		l := o.Bounds
		tell := l.Dropped
		l.Dropped = func(_ PID, msg any) {
			n.sys.DeadLetter(deadletter.Letter{Cause: deadletter.MailboxFull, To: p.PID(), Message: msg})
			unanswered(msg, ErrDropped)
			if tell != nil {
				tell(p.PID(), msg)
			}
		}
		p.ColdPart().Box, p.Boxed = inbox.NewBounded(l), true
	}
}

// by is the peer that the process is started for; "": none.
func (o *Options) by() Atom {
	if o.owner == nil {
		return ""
	}
	return o.owner.Peer
}
