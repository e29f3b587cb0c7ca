// Package nodehook has functions of a node that only packages of this module call: its
// tools and behaviours, system messages, metrics, what OTP's observer shows.
//
// The functions are set by package node before any code of a package that imports it runs,
// and never changed. A caller of one imports package node, as it has a node to pass.
package nodehook

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/actornode/actornode/internal/counter"
	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/wire"
)

// Node is a *node.Node. Nothing else may be given.
type Node interface {
	Name() wire.Atom
	Creation() uint32
}

// Mailboxes returns how many messages wait for each of some processes, the one
// being handled included; -1 for one that is gone. One that is being handed to a
// process on a goroutine of its own, which waits for it, may not be among them for that
// moment.
var Mailboxes func(n Node, pids []wire.PID) []int

// Behaviours returns the Go type of the behaviour of each of some processes, as observe.Process has it; "" for one that is
// gone.
var Behaviours func(n Node, pids []wire.PID) []string

// Processes yields the PIDs of all processes of a node; those that start or end meanwhile may or
// may not be among them.
var Processes func(n Node) iter.Seq[wire.PID]

// Messages returns the messages that wait for a process, the oldest max of them. It takes the
// process's stage for a moment: a handler that runs meanwhile goes on without it.
// Those in a mailbox that is bounded or that a user has made are not shown.
var Messages func(n Node, pid wire.PID, max int) []any

// Traffic returns how many bytes have come and gone over the connections that a
// node has now.
var Traffic func(n Node) (in, out uint64)

// Release returns the OTP release of a node that n is connected to, such as 27; 0 if it
// is none, or does not say. Each node is asked when it connects; until it has
// answered, Release waits, at most 5 s.
var Release func(n Node, name wire.Atom) int

// ReleaseKnown reports whether Release of a node needs no waiting.
var ReleaseKnown func(n Node, name wire.Atom) bool

// System returns what the processes of a node have in common, a *System of package internal/kernel/process.
var System func(n Node) any

// Origin returns what mints the identifiers of a node.
var Origin func(n Node) wire.Origin

// Tracing returns what says which processes of a node are traced, a *watch.Traces of
// internal/kernel/watch.
var Tracing func(n Node) any

// MaxProcesses returns how many processes can live at a time.
var MaxProcesses func(n Node) int

// Of returns the node of a node.Caller, a *node.Node.
var Of func(from any) any

// What package stage needs. Acting returns the *process.Acting of a node.Caller. InPlace returns what is in a
// node.Place, a runner.Place, and OfPlace is the other way round.
var (
	Acting           func(from any) any
	InPlace, OfPlace func(place any) any
)

// Resolve finds the process that a destination of a node.Caller stands for now; false: there
// is none, or it is a name on another node.
var Resolve func(from any, to wire.Dest) (wire.PID, bool)

// Alias is Alias of a *node.Context or a *node.Process for messages that as accepts: the process gets what as
// returns. One that it does not accept is a dead letter and does not use the alias up. as is called by whoever
// sends, many at once, and must not wait or panic.
var Alias func(from any, once bool, as func(msg any) (any, bool)) wire.Ref

// Linked reports whether the process of a *node.Context or a *node.Process is linked to another.
// A name or an alias stands for the process that has it now; a name on another node for the
// process that Link has found by it, for no other node is asked.
var Linked func(from any, to wire.Dest) bool

// MonitorConnected is Monitor of a *node.Context or a *node.Process, but makes no connection: where
// there is none to the node of the process, the node.Down comes at once, with the reason
// noconnection.
var MonitorConnected func(from any, to wire.Dest) wire.Ref

// StartGlobal starts the name server of a published node. It is set by the init function of package node/global, which
// package node does not import; nil: the program has no such package. partial and overlap are those of discovery.Global.
var StartGlobal func(n Node, partial, overlap bool, log *slog.Logger) error

// LookGlobal returns what a published node knows of the others; ok false: it is hidden. It is set as StartGlobal.
var LookGlobal func(ctx context.Context, n Node) (g Global, ok bool, err error)

// Global is package global's State, and how many names there are.
type Global struct {
	Known, Synced, Unreached []wire.Atom
	Names, Locks             int
}

// TellLinks has the process of a *node.Context told of each connection with a visible node: a LinkUp before anything
// that the node sends, and a LinkDown after all else that the end of the connection means for the process.
var TellLinks func(c any)

// LinkUp and LinkDown have the name of the other node.
type (
	LinkUp   wire.Atom
	LinkDown wire.Atom
)

// Know makes types, each a node.Type, and errors known to all nodes from the start, whichever types
// they have registered. It is called by init functions only; names begin with '$'.
var Know func(all ...any)

// Labelled is a request whose message is not '$gen_call' to another node.
type Labelled interface {
	Label() (label wire.Atom, body any)
}

// NewDeadLetters returns a *deadletter.Stream that reads c, a <-chan deadletter.Letter. missed
// counts what did not fit into c, and end closes it.
var NewDeadLetters func(c any, missed func() uint64, end func()) any

// Count adds one to the counter of a node that the labels tell from others of that name. It
// is for what is rare: a supervisor counts restarts. There are at most 500 to a name; more
// labels than that are counted as "other". Long labels are cut.
var Count func(n Node, name string, labels ...string)

// Counts returns the counters of a name, sorted by their labels.
var Counts func(n Node, name string) []counter.Count

// SetGroupLimits replaces how many memberships and groups other nodes may make a *pg.Scope keep; 0 is the default of each.
// Package pg sets it.
var SetGroupLimits func(scope any, members, groups int) error

// SetStopTimeout replaces Config.StopTimeout of a node.
var SetStopTimeout func(n Node, d time.Duration)

// Shed makes a node take on nothing new from others while on is set, as a program does that
// is short of memory: what other nodes want to start or call there by name is refused with
// system_limit, as Node.Drain does it, and so are their connections, but for one a second,
// so that an operator can look at the node. What runs goes on, connections that there are
// included, and those of the native protocol that are being mended.
var Shed func(n Node, on bool)

// Shedding reports whether a node does what [Shed] says, and how often it has refused
// something for that so far.
var Shedding func(n Node) (on bool, refused uint64)

// DefaultClusterLimits returns the limits that a node with that TickTime has by default, a
// node.ClusterLimits; 0: the default of TickTime.
var DefaultClusterLimits func(tick time.Duration) any

// Service describes a process that a node keeps up; see [Keep].
type Service struct {
	Name     wire.Atom  // that it is registered under; "": none
	Label    string     // what logs call a service without a name
	ShowPeer bool       // see node.Options
	New      func() any // makes the behaviour of a new process, a node.Actor, again at each restart
	System   bool       // the behaviour answers system messages by itself; else the node does: its State, if it has that method

	// Ask asks the process for an answer, for the check of the services; nil: that it runs is
	// enough.
	Ask func(ctx context.Context, pid wire.PID) error

	// Operators says, from then on, which peers operate the node: all others cannot end, nor suspend, what peers have not
	// started. Nil: nothing changes.
	Operators func(peer wire.Atom) bool
}

// Keep starts a service: a process that the node starts again under its name when it has ended,
// in whatever way. It returns when the first process has started, its Init included. The name is
// the service's as long as the node runs: nobody else can register it or take it away, also
// while no process runs.
//
// The process is protected: other nodes cannot end it (Protected of node.Options). This program
// can; then it is started again, and what the process knew is lost.
//
// A service that ends more than 10 times within a minute cannot be kept up. Then the node ends,
// with a [*ServiceError].
//
// Errors: node.ErrBadOption without a name and a label, and those of node.SpawnWait.
var Keep func(ctx context.Context, n Node, s Service) (wire.PID, error)

// ServiceError says that a service cannot be kept up: the node has ended for it.
type ServiceError struct {
	Service string
	Ends    int // within Within
	Within  time.Duration
	Reason  string // of the last end
}

func (e *ServiceError) Error() string {
	return fmt.Sprintf("node: the service %s keeps failing: it ended %d times within %v, the last time with %s",
		e.Service, e.Ends, e.Within, e.Reason)
}

// CheckServices finds out whether each service that a node keeps up runs, is registered, and
// answers before ctx ends. The error names the first that does not: one that is being started
// again, too.
var CheckServices func(n Node, ctx context.Context) error

// Leader returns the group leader of a process: the process that prints for it, by Erlang's
// I/O protocol. It is that of the process that spawned it; of one that another node has
// spawned, what that node says. Others have the process that is registered as user.
var Leader func(n Node, pid wire.PID) wire.PID

// Exports returns what a node exports, in alphabetical order.
var Exports func(n Node) []wire.Export

// ExportTable returns what a node exports, which package node/rpc changes and reads: a *Table of
// package internal/kernel/erpc for node.Actor.
var ExportTable func(n Node) any

// Apply calls a function that a node exports, in the calling process: see package node/rpc.
var Apply func(n Node, ctx context.Context, module, function wire.Atom, args []any) (any, error)

// CallFar sends a request to another node, on behalf of a, a *process.Acting: to the process to, or to the one that has
// the name in at. What comes of it settles ticket, a process.Ticket. False: that node cannot be reached.
var CallFar func(a, ticket any, to wire.PID, at wire.At, req any) bool

// Typed returns a request, of a node n and with a node.From, as the node.Request of the type that the body has, as one of
// another node would be.
var Typed func(n, body, from any) any

// End is an error that a call of another node is settled with, when the process has ended that the request was forwarded
// to. Tell tells the caller's node. It returns nil, or the error to reply with: that node waits for no end.
type End interface{ Tell() error }

// AwaitAll waits until all futures, each a *node.Future, are completed or ctx ends. from is the
// node.Caller that waits: an actor gives up its stage meanwhile, and a process can be ended.
var AwaitAll func(from any, ctx context.Context, futures ...any)

// What package active needs of a process: of c, a *node.Context while its handler runs, and of futures, each
// a *node.Future.
var (
	// Fibers returns the pool from which the coroutines of the node have their stacks.
	Fibers func(c any) *fiber.Pool
	// Home returns what stands for the goroutine that runs the handler; nil: it must not switch to a
	// fiber, as it is locked to its thread, or is not the node's.
	Home func(c any) *fiber.Fiber
	// Gone reports whether the process is dead.
	Gone func(c any) bool
	// Coarse returns the Unix time in ns, up to 250 ms late.
	Coarse func(c any) int64
	// Past returns a *node.Context of the same process that is valid without a turn, when the process is dead.
	Past func(c any) any
	// Signal puts a message into the mailbox of a process of the node of from, a node.Caller, past its
	// bound; false: the process is gone.
	Signal func(from any, to wire.PID, msg any) bool
	// Open makes a new future one of from, a node.Caller, that nothing has completed. Promise makes it
	// the reply of the process to a call of its own: its exit completes the future. Settle completes
	// one of either, for from, a node.Caller; unread, nil for nothing, is called later if it can no longer be
	// reached and nobody has read it.
	Open    func(from, future any)
	Promise func(c, future any)
	Settle  func(from, future, reply any, err error, unread func())
	// FailFrom fails a call, as of a node.From, with unread as in Settle.
	FailFrom func(c, from any, err error, unread func())
	// IsDone reports whether a future is completed.
	IsDone func(future any) bool
	// Wait has a waiter, a calls.Waiter[*process.Acting], told once a future is completed.
	Wait func(c, future, waiter any)
	// Process returns the process, a *process.Process, and the behaviour of the Actor whose handler runs; of c,
	// a *node.Context. Slot has c act on another variable, a *node.Actor, where it puts a behaviour, and returns
	// which it was.
	Process func(c any) (process, behaviour any)
	Slot    func(c, slot any) (was any)
	// Ticket returns the process.Ticket of a future or a *node.From.
	Ticket func(future any) any
	// Watch has then called once a future is completed, on behalf of by, a node.Caller; at once, if it
	// is. stop, called once, takes that back.
	Watch func(from, future any, then func(by any)) (stop func())
	// Failed makes a new future one that has failed.
	Failed func(from, future any, err error)
)

// Became is called when a behaviour, a node.Actor, has become that of the Actor whose handler runs, of c, a
// *node.Context. It is set by the init function of package match, which package node does not import; nil: the
// program has no such package.
var Became func(c, behaviour any)

// AnyModule, as the module of an exported function, offers it under every module that offers
// no such function itself: module_info. Its first argument is the module.
const AnyModule wire.Atom = "_"

// MetricNames returns the names of all metrics of package metrics, sorted, for checks of a
// dashboard.
var MetricNames func() []string

// What supervisors count for package metrics, see [Count]: restarts, with the names of the
// supervisor and of the child as labels, and the times that a supervisor has given up because
// there were too many, with its name.
const (
	Restarts  = "supervisor_restarts"
	Shutdowns = "supervisor_shutdowns"
)

// Defaults of Members and Groups of pg.Config.
const (
	GroupMembers = 2_000_000
	Groups       = 200_000
)

// Unknown stands for the sender of a request of which the node is not known: one that has
// come as a term, through another process of this node. All of these share what one
// peer may make this node hold.
const Unknown wire.Atom = "unknown"

// MadeBy is what node.Options.For should be of a process that is started because of a
// request, a node.From, and what [RegisterFor] wants: the node that it comes from; "" for Go
// code of this program; else [Unknown].
var MadeBy func(from any) wire.Atom

// Asker is on whose account something is done: in an exported function, the node that has called it. An effect that such a
// function has on others is asked of it, for the right to call the function says nothing of those. The program of this node may
// do everything.
type Asker interface {
	// Send sends a message, which arrives as from that node. The error is node.ErrNoName also for what it may not send.
	Send(to wire.Dest, msg any) error
	MaySend(to wire.Dest, msg any) bool
	// MayReach is MaySend for answers and reports to a process that it names.
	MayReach(pid wire.PID) bool
	// MayEnd is for exit signals, MayName for names of processes of this node.
	MayEnd(pid wire.PID) bool
	MayName(pid wire.PID) bool
	// Protected reports whether it must not end a process of the node, suspend it or take its name: that is protected, see
	// node.Options, or is the node's own, of which others are the operators.
	Protected(pid wire.PID) bool
	// MayLink is for a link to a process that it names, which gets messages, too.
	MayLink(pid wire.PID) bool
	// Operates reports whether it operates the node, or nobody has said who does; MayAct, whether it has the right to, too.
	Operates() bool
	MayAct() bool
	// Node is what it is called, for node.Options.For; "": the program.
	Node() wire.Atom
}

// AskerOf returns who is behind something: who has sent a message, as a process with ShowPeer of node.Options gets it, or made a
// request, a node.From; or whom the process acts for whose context, a context.Context, it is or comes from.
var AskerOf func(it any, n Node) Asker

// RegisterFor is Node.Register for a request of the node peer: the name counts among those
// that it may have had registered, until the name goes; "" and the node itself are not counted.
var RegisterFor func(n Node, peer, name wire.Atom, pid wire.PID) error

// IsTerm reports whether a request, a node.From, has come as a term, as those of other nodes
// do, and not from Go code of this program. One that has come as a term and of which no peer is
// known may have been made by anybody: a process here has passed it on, perhaps.
var IsTerm func(from any) bool

// GrantedTo returns what who has made a request, a node.From, may do by the rights of the node, a *rights.Granted: nil for
// everything, as Go code of this program may. who is what is known of that node, a rights.Identity.
var GrantedTo func(from any) (granted, who any)

// Allows reports whether the maker of a request, a node.From, may have something run by name:
// see Allow of node.Distribution. Go code of this program always may; a request that nobody
// knows the node of may if all nodes may.
var Allows func(from any, e wire.Export) bool

// ReadFrom reads the second element of a system message, {Pid, Tag}: the answer is a node.From.
// via is the node.PeerMessage that the term is in, nil: it is in none.
var ReadFrom func(n Node, via, term any) (from any, ok bool)

// AsCast reads a message that is a cast, of whatever kind: a node.Cast of any type, or Erlang's
// {'$gen_cast', Body}.
var AsCast func(msg any) (body any, ok bool)

// Panicked returns the exit reason, a *node.Crash, for code that has panicked with cause, which
// is what recover has returned; nil stands for runtime.Goexit. It is for the deferred function
// that recovers, whose stack still is the panic's.
var Panicked func(cause any) any

// ErrorTerm is an error as Erlang's {error, Reason} should carry it: the exit reason of an error
// that has one, what its method Term() any returns, else the error's text as a binary. err,
// which must not be nil, or an error that it wraps may have them.
var ErrorTerm func(err error) any

// IsExit reports whether err is, or wraps, what node.ExitWith has made.
var IsExit func(err error) bool

// ReasonOf returns the exit reason of a process whose behaviour returns err: what node.ExitWith
// was given, normal for nil, else a *node.Crash.
var ReasonOf func(err error) any

// CrashDetails adds to the crash report of a process, a *node.Context, which is about to end, as slog has attributes.
var CrashDetails func(from any, attrs ...any)

// ReportCrash logs the crash report of a child that has ended with a reason, with what its supervisor decides. False: there
// is none, or it has been logged.
var ReportCrash func(n Node, reason any, attrs ...any) bool

// shutdown is node.Shutdown, normal node.Normal.
const (
	normal   wire.Atom = "normal"
	shutdown wire.Atom = "shutdown"
)

// IsCleanExit reports whether an exit reason is one that nobody needs to be told of:
// normal, shutdown, {shutdown, _}.
func IsCleanExit(reason any) bool {
	if t, ok := reason.(wire.Tuple); ok {
		return len(t) == 2 && t[0] == shutdown
	}
	return reason == normal || reason == shutdown
}
