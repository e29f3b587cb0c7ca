package node

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/counter"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/node/rights"
	"github.com/actornode/actornode/wire"
)

// inside is what the packages of this module, but not programs, may do with a node and its processes: behaviours and
// tools are built on package node and on this. Other modules cannot name a process.Key. It is a view of who acts, and
// keeps nothing.
type inside struct{ by *process.Acting }

// Inside is for packages of this module.
func (c *common) Inside(process.Key) inside { return inside{c.by} }

// actingOf returns who acts.
func actingOf(from Caller) *process.Acting { return from.Inside(process.Key{}).by }

// Acting returns who acts: the process, nil for a plain goroutine, and its worker.
func (i inside) Acting() *process.Acting { return i.by }

// System returns what the processes of the node have in common.
func (i inside) System() *process.System { return i.by.System }

// Node returns the node.
func (i inside) Node() *Node { return nodeOf(i.by.System) }

// Origin returns what mints the identifiers of the node.
func (i inside) Origin() wire.Origin { return i.by.System.Origin }

// Tracing returns what says which processes of the node are traced.
func (i inside) Tracing() *watch.Traces { return &i.by.System.Tracing }

// Mailboxes returns how many messages wait for each of some processes, including the one being handled; -1 for a
// process that is gone. A message that is being handed to a process that waits on its own goroutine may be missing for
// that moment.
func (i inside) Mailboxes(pids []PID) []int { return runner.Mailboxes(i.by.System, pids) }

// Behaviours returns the Go type of the behaviour of each of some processes, as observe.Process has it; "" for one that is
// gone.
func (i inside) Behaviours(pids []PID) []string {
	return runner.EachOf(i.by.System, pids, func(p *process.Process) string { return typeName(behaviourOf(p)) })
}

// Processes yields the PIDs of all processes of the node; those that start or end meanwhile may or may not be among them.
func (i inside) Processes() iter.Seq[PID] { return runner.PIDs(i.by.System) }

// Messages returns the oldest max messages that wait for a process. It takes the process's stage for a moment: a
// handler that runs meanwhile goes on without it. Messages in a mailbox that is bounded or that a user has made are not
// shown.
func (i inside) Messages(pid PID, max int) []any { return i.Node().messages(pid, max) }

// Stack returns the current traceback of the goroutine that runs the code of a process, or a sentence that says why there is
// none. The program stands still for a moment. Errors: ErrNoProcess.
func (i inside) Stack(pid PID) (traceback, why string, err error) {
	p := i.by.System.Lookup(pid)
	if p == nil {
		return "", "", fmt.Errorf("%w: %v", ErrNoProcess, pid)
	}
	traceback, why = runner.Stack(p)
	return traceback, why, nil
}

// Traffic returns how many bytes have come and gone over the connections that the node has now.
func (i inside) Traffic() (in, out uint64) { return i.Node().traffic() }

// Release returns the OTP release of a node that this one is connected to, such as 27; 0 if it has none, or does not
// say. Each node is asked when it connects; Release waits for the answer, at most 5 s. ReleaseKnown reports whether it
// needs no waiting.
func (i inside) Release(name Atom) int       { return i.Node().release(name) }
func (i inside) ReleaseKnown(name Atom) bool { return i.Node().releaseKnown(name) }

// MaxProcesses returns how many processes can live at a time.
func (i inside) MaxProcesses() int { return i.Node().cfg.MaxProcesses }

// Resolve finds the process that a destination stands for now; false: there is none, or it is a name on another node.
func (i inside) Resolve(to Dest) (PID, bool) {
	t := i.by.System.Target(to)
	return t.PID, !t.PID.IsZero()
}

// Signal puts a message into the mailbox of a process of the node, past its bound; false: the process is gone.
func (i inside) Signal(to PID, msg any) bool {
	p := i.by.System.Lookup(to)
	if p != nil {
		p.Signal(i.by, msg)
	}
	return p != nil
}

// Count adds one to the node's counter with that name and these labels. It is for what is rare: a supervisor counts
// restarts. A name has at most 500; more labels than that are counted as "other". Long labels are cut. Counts returns
// the counters of a name, sorted by their labels.
//
// Counter returns such a counter, to be kept and added to; it is shown at once, with 0. Gauge adds a value that Counts asks
// read for, until over reports true; those with the same labels are added up. Both functions may be called at any time and
// must not wait.
func (i inside) Count(name string, labels ...string) { i.Node().counts.Add(name, labels...) }
func (i inside) Counts(name string) []counter.Count  { return i.Node().counts.All(name) }
func (i inside) Counter(name string, labels ...string) *atomic.Uint64 {
	return i.Node().counts.Counter(name, labels...)
}
func (i inside) Gauge(name string, over func() bool, read func() int, labels ...string) {
	i.Node().counts.Gauge(name, over, read, labels...)
}

// SetStopTimeout replaces Config.StopTimeout.
func (i inside) SetStopTimeout(d time.Duration) { i.Node().stopTime.Store(int64(d)) }

// Shed makes the node take on nothing new from others while on is set, for a program that is short of memory: it
// refuses with system_limit what other nodes want to start or call there by name, as Node.Drain does, and their
// connections, except one a second, so that an operator can look at the node. What runs goes on, including connections
// that exist, and those of the native protocol that are being restored.
func (i inside) Shed(on bool) { i.Node().shed.Set(on) }

// Shedding reports whether Shed is on, and how often the node has refused something for that so far.
func (i inside) Shedding() (on bool, refused uint64) { return i.Node().shed.State() }

// Keep starts a service: a process that the node restarts under its name whenever it ends, for whatever reason. It
// returns when the first process has started, its Init included. The name is the service's as long as the node runs:
// nobody else can register it or take it away, even while no process runs.
//
// The process is protected: other nodes cannot end it (Protected of Options). This program can; then it is restarted,
// and what the process knew is lost.
//
// A service that ends more than 10 times within a minute cannot be kept up. Then the node ends, with a
// [*process.ServiceError].
//
// Errors: ErrArgument without a name and a label, and those of SpawnWait.
func (i inside) Keep(ctx context.Context, s process.Kept[Actor]) (PID, error) {
	return i.Node().keep(ctx, s)
}

// CheckServices checks whether each service that the node keeps up runs, is registered, and answers before ctx ends.
// The error names the first that does not, or that is being restarted.
func (i inside) CheckServices(ctx context.Context) error { return i.Node().checkServices(ctx) }

// Leader returns the group leader of a process: the process that prints for it, by Erlang's I/O protocol. A process has
// the leader of the process that spawned it; one that another node has spawned has what that node says. Others have the
// process that is registered as user.
func (i inside) Leader(pid PID) PID { return i.Node().leaderOf(pid) }

// Exports returns what the node exports, in alphabetical order, and ExportTable the table of it, which package rpc changes.
func (i inside) Exports() []wire.Export            { return i.Node().exports.All() }
func (i inside) ExportTable() *erpc.Exports[Actor] { return &i.Node().exports }

// Apply calls a function that the node exports, in the calling process: see package rpc.
func (i inside) Apply(ctx context.Context, module, function Atom, args []any) (any, error) {
	return i.Node().callExported(ctx, module, function, args)
}

// AllowsIn reports whether the process that ctx belongs to may call a function of a name that the node may export: one
// that a peer has started may call what that peer may call or start.
func (i inside) AllowsIn(ctx context.Context, e wire.Export) bool {
	n := i.Node()
	return n.dist == nil || n.allowsIn(ctx, e)
}

// RegisterFor is Node.Register for a request of peer: the name counts towards those that it may have registered, until
// the name goes; "" and the node itself are not counted.
func (i inside) RegisterFor(peer, name Atom, pid PID) error {
	return i.Node().registerFor(peer, name, pid)
}

// ReadFrom reads the second element of a system message, {Pid, Tag}. via is the PeerMessage that the term is in; nil:
// none.
func (i inside) ReadFrom(via, term any) (From, bool) {
	by, _ := sentBy(via)
	return i.Node().readFrom(by, term)
}

// ReportCrash logs the crash report of a child that has ended with a reason, with what its supervisor decides. False:
// there is none, or it has been logged.
func (i inside) ReportCrash(reason any, attrs ...any) bool {
	c, ok := reason.(*Crash)
	return ok && i.Node().reports.Decided(c, attrs...)
}

// AskerOf returns who is behind it: who sent a message, as a process with ShowPeer of Options gets it; who made a
// request, a From; or, for a context.Context, whom the process acts for that the context belongs to.
func (i inside) AskerOf(it any) peers.Account {
	a := account{n: i.Node()}
	switch it := it.(type) {
	case context.Context:
		a.Asker = peers.AskerIn(it)
	case From:
		a.Asker = it.asker()
	case PeerMessage:
		a.Asker = it.from.Asker(i.by.System)
	}
	return a
}

// account is peers.Account.
type account struct {
	*peers.Asker
	n *Node
}

func (a account) Protected(pid PID) bool {
	q := a.n.sys.Lookup(pid)
	return q != nil && a.IsKeptFrom(q)
}

func (a account) Send(to Dest, msg any) error { return a.n.sendFor(&a.n.sys.Plain, a.Asker, to, msg) }

// The methods below are for a process: a Context, while its handler runs, or a Process.

// Named returns the registered name of the process, and its behaviour as Info shows it.
func (i inside) Named() (name Atom, behaviour string) { return who(i.by.Own()) }

// Linked reports whether the process is linked to another. A name or an alias means the process that has it now; a name
// on another node the process that Link has found by it, for no other node is asked.
func (i inside) Linked(to Dest) bool { return (&core{common(i)}).linked(to) }

// MonitorConnected is Monitor, but makes no connection: without one to the node of the process, the Down comes at once,
// with the reason noconnection.
func (i inside) MonitorConnected(to Dest) Ref { return i.Node().monitorConnected(i.by.Own(), i.by, to) }

// TellLinks tells the process of each connection with a visible node: by a peers.LinkUp before anything that the node
// sends, and a peers.LinkDown after all else that the end of the connection means for the process.
func (i inside) TellLinks() { i.Node().watchers.Serve(i.by.Own()) }

// Alias makes an alias for messages that as accepts: the process gets what as returns. One that it does not accept is a
// dead letter and does not use the alias up. Senders call as, many at once; it must not wait or panic.
func (i inside) Alias(once bool, as func(msg any) (any, bool)) Ref { return i.by.Alias(once, as) }

// CrashDetails adds attrs, as slog has them, to the crash report of the process, which is about to end.
func (i inside) CrashDetails(attrs ...any) {
	p := i.by.Own()
	p.Mu.Lock()
	defer p.Mu.Unlock()
	p.ColdPart().Crash = &attrs
}

// Gone reports whether the process is dead.
func (i inside) Gone() bool { return i.by.Process.Gone() }

// Coarse returns the Unix time in ns, up to 250 ms late.
func (i inside) Coarse() int64 { return i.by.System.Clock.Coarse() }

// Fibers returns the pool from which the coroutines of the node have their stacks.
func (i inside) Fibers() *fiber.Pool { return &i.by.System.Fibers }

// Order makes an Actor of the node call to once, as if it were its behaviour, when the messages before have been handled.
// False: pid is no Actor with an unlimited mailbox, or is gone.
//
//actornode:blocks the lock of a process is held for a moment
func (i inside) Order(pid PID, to Actor) bool {
	p := i.by.System.Lookup(pid)
	if p == nil || p.Kind != process.Actor && p.Kind != process.External || p.Boxed {
		return false
	}
	p.Mu.Lock()
	p.ColdPart()
	p.Mu.Unlock()
	p.Status.Token() // so that its turn looks for orders
	return p.Deliver(&p.System.Plain, order{to}) == nil
}

// Forward is node.Forward of a message, which no [SendInterceptor] sees. False: it is no request.
func (i inside) Forward(msg any, to Dest) (ok bool, err error) {
	r, ok := i.Node().AsRequest(msg)
	if !ok {
		return false, nil
	}
	if _, typed := msg.(untyped); !typed {
		msg = i.Node().types.maker(r.Body).request(r.Body, r.From)
	}
	return true, forward(&common{i.by}, r.From.t, r.Body, msg, to)
}

// Process returns the process, and the behaviour of the Actor whose handler runs.
func (i inside) Process() (*process.Process, Actor) { return i.by.Process, behaviourOf(i.by.Process) }

// Open makes a new future one that nothing has completed. Promise makes it the reply to a call of the process to
// itself: its exit completes the future. Settle completes either; unread, if not nil, is called later if the future can
// no longer be reached and nobody has read it. Failed makes a new future one that has failed.
func (i inside) Open(f ownFuture)    { f.open(i.by) }
func (i inside) Promise(f ownFuture) { f.promise(i.by) }

func (i inside) Settle(f ownFuture, reply any, err error, unread func()) {
	f.ticket().SettleOrTell(i.by, reply, err, unread)
}

func (i inside) Failed(f ownFuture, err error) {
	f.open(i.by)
	i.Settle(f, nil, err, nil)
}

// FailFrom fails a call, with unread as in Settle.
func (i inside) FailFrom(from From, err error, unread func()) {
	_ = from.answerOrTell(i.by, nil, err, unread) // who has given up does not want it
}

// Watch calls then once a future is completed, on behalf of by; at once if it is already. stop, called once, undoes
// that.
func (i inside) Watch(f ownFuture, then func(by Caller)) (stop func()) {
	w := f.watches()
	number := w.Add(i.by, func(a *process.Acting) { then(&common{a}) })
	return func() { w.Remove(number) }
}

// insideTurn is what packages of this module may do with the Context of an Actor while its handler runs.
type insideTurn struct{ c *Context }

// InsideTurn is for packages of this module.
func (c *Context) InsideTurn(process.Key) insideTurn { return insideTurn{c} }

// Home returns the fiber of the goroutine that runs the handler; nil: it must not switch to a fiber, because it is
// locked to its thread or is not the node's.
func (i insideTurn) Home() *fiber.Fiber {
	if w := i.c.own.Worker; w == nil || !w.CanSwitch() {
		return nil
	}
	return i.c.local.Fiber
}

// Past returns a Context of the same process that is valid without a turn, when the process is dead.
func (i insideTurn) Past() *Context {
	past := newContext(i.c.own.System)
	past.own.Process, past.behaviour = i.c.own.Process, i.c.behaviour
	return past
}

// Slot makes the Context put a behaviour into another variable, and returns the previous one.
func (i insideTurn) Slot(slot *Actor) (was *Actor) {
	was, i.c.behaviour = i.c.behaviour, slot
	return was
}

// Receive lets the behaviour handle msg in this turn, as if it had come into the mailbox.
func (i insideTurn) Receive(msg any) error {
	err := (*i.c.behaviour).Receive(i.c, msg)
	if err == nil {
		i.c.own.Process.CountHandled()
	}
	return err
}

// insideFuture is what packages of this module may do with a future.
type insideFuture struct{ f ownFuture }

// Inside is for packages of this module.
func (f *Future[R]) Inside(process.Key) insideFuture { return insideFuture{f} }

// IsDone reports whether the future is completed.
func (i insideFuture) IsDone() bool { return i.f.ticket().Done() }

// Ticket returns the ticket of the future, and Watches what is told when it is completed.
func (i insideFuture) Ticket() process.Ticket    { return i.f.ticket() }
func (i insideFuture) Watches() *process.Watches { return i.f.watches() }

// ownFuture is a *Future of whatever type.
type ownFuture interface {
	open(a *process.Acting)
	promise(a *process.Acting)
	ticket() process.Ticket
	watches() *process.Watches
}

// open makes f, which is new, a future that nothing has completed and that the process has made.
func (f *Future[R]) open(a *process.Acting) {
	f.p.System, f.p.More, f.by = a.System, &f.w, a.Process
	f.t = f.p.NewTicket()
}

// promise makes f, which is new, the reply to a call that the process makes to itself.
func (f *Future[R]) promise(a *process.Acting) {
	f.open(a)
	f.p.Target = a.Process
	if !f.p.List() {
		f.t.Settle(a, nil, &ExitError{Reason: NoProc})
	}
}

func (f *Future[R]) ticket() process.Ticket { return f.t }

// insideFrom is what packages of this module may know of who has made a request.
type insideFrom struct{ f From }

// Inside is for packages of this module.
func (f From) Inside(process.Key) insideFrom { return insideFrom{f} }

// Ticket returns the ticket of the call.
func (i insideFrom) Ticket() process.Ticket { return i.f.t }

// MadeBy is the value for Options.For of a process that is started because of the request, and for RegisterFor: the
// node that it comes from; "" for Go code of this program; else limits.Unknown.
func (i insideFrom) MadeBy() Atom { return i.f.madeBy() }

// IsTerm reports whether the request came as a term, as those of other nodes do, and not from Go code of this program.
// If no peer is known, anybody may have made such a request: perhaps a process here has passed it on.
func (i insideFrom) IsTerm() bool { return i.f.isTerm() }

// Granted returns what the maker of the request may do by the rights of the node: nil for everything, as for Go code of
// this program. who is what is known of the maker's node.
func (i insideFrom) Granted() (granted *rights.Granted, who rights.Identity) {
	return i.f.granted(), i.f.identity()
}

// Allows reports whether the maker of the request may have something run by name: see Allow of Distribution. Go code of
// this program always may; a request from an unknown node may if all nodes may.
func (i insideFrom) Allows(e wire.Export) bool { return i.f.allows(e) }

// Inside is for packages of this module: what the place is.
func (p Place) Inside(process.Key) runner.Place { return p.p }

// PlaceOf is for packages of this module, which alone have a Key.
func PlaceOf(_ process.Key, p runner.Place) Place { return Place{p} }

// Know is for packages of this module, which alone have a Key: it makes types known to all nodes, whichever types they have
// registered. It is called by init functions; names begin with '$'.
func Know(_ process.Key, types ...Type) { own = append(own, types...) }
