package node

import (
	"context"
	"errors"
	"fmt"
	"go/version"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/counter"
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/env"
	"github.com/actornode/actornode/internal/kernel/erpc"
	"github.com/actornode/actornode/internal/kernel/limits"
	"github.com/actornode/actornode/internal/kernel/peers"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/watch"
	"github.com/actornode/actornode/internal/sched/executor"
	"github.com/actornode/actornode/internal/sched/fiber"

	"github.com/actornode/actornode/wire"
)

// Node is a set of processes with a name: the local half of an Erlang node.
type Node struct {
	common // for plain goroutines, and the node itself

	cfg     Config
	sys     process.System // the processes
	guard   *watch.Isolation
	futures calls.LentFutures[anyFuture]
	exports erpc.Exports[Actor]
	dist    *distribution  // nil: not distributed
	peers   *peers.Cluster // of dist; nil: not distributed
	types   *Types         // those of Distribution

	watchers  peers.Watchers // of connections
	reports   watch.Reports
	draining  atomic.Bool
	counts    counter.Counters // of the packages above
	logLevels atomic.Pointer[[]LogLevel]

	stopTime atomic.Int64  // Config.StopTimeout, or what has been set since: a time.Duration
	stopping atomic.Bool   // somebody has called Stop
	stopped  chan struct{} // closed when the node has stopped; stopErr can be read then
	stopErr  error

	shed     limits.Shed
	keeper   process.Keeper
	failure  atomic.Pointer[error] // why the node has ended by itself; nil: it has not
	doneOnce sync.Once
	done     chan struct{} // closed when the node stops
}

// testedWith is the newest Go release that the tricks that rely on Go's runtime are compiled with: see
// docs/performance-ablation.md.
const testedWith = "go1.26"

// Start creates a node and starts it. The error says what is wrong with the Config.
func Start(cfg Config) (*Node, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	var e env.Env
	for cfg.Creation == 0 {
		cfg.Creation = e.Uint32()
	}
	n := &Node{
		cfg:     cfg,
		done:    make(chan struct{}),
		stopped: make(chan struct{}),
		types:   &registered,
	}
	n.stopTime.Store(int64(cfg.StopTimeout))
	var named *peers.Named
	if d := cfg.Distribution; d != nil && d.NamedBy != "" {
		var err error
		if named, err = n.askForName(*d); err != nil {
			return nil, err
		}
	}
	sys := &n.sys
	sys.Init((*host)(n), wire.NodeID{Name: n.cfg.Name, Creation: n.cfg.Creation}, cfg.Budget, e)
	sys.Remotes = peers.Remotes{} // see startDist
	if sys.Halved = 1; cfg.Budget == 1 {
		sys.Halved = 63 // one means one
	}
	sys.Reports, sys.Values = &n.reports, byDefault
	sys.Sends = checkSends(nil, cfg.SendInterceptors)
	n.by = &sys.Plain
	if release := version.Lang(runtime.Version()); version.Compare(release, testedWith) > 0 {
		cfg.Log.Info("coroutines and values of other nodes take longer with a Go release newer than "+testedWith, "release", release)
	}
	sys.Later = process.New((*lookups)(n), e, &sys.Timers)
	sys.Dead.Init(cfg.Log, e)
	sys.Tracing.Init(watch.TraceHost{Now: e.Now, Find: n.findEnd, IsOwn: isOwn, ErrorTerm: errorTerm})
	n.guard = watch.NewIsolation(cfg.Isolation, cfg.Log)
	if n.guard.Wanted() {
		sys.Tracing.Keep(n.guard)
	}
	n.futures.Init(e)
	if cfg.DetectCycles {
		sys.Cycles = new(calls.WaitGraph[process.Waiter])
	}
	n.reports.Init(cfg.Log, e, n.counts.Add)
	sys.Table.Init(cfg.MaxProcesses)
	sys.Pool = executor.New(executor.Config{
		Workers: cfg.Workers, Stages: cfg.Stages, Blocked: cfg.Blocked,
		Local:     n.newWorkerContext,
		OnBlocked: func(b executor.Blocked) { n.reports.Blocked(b, sys.Pool.BlockedTurns()) },
	})
	n.keeper.Host, n.keeper.Env, n.keeper.Log = keptBy{n}, e, n.cfg.Log
	n.sys.Pool.Start()
	if cfg.Distribution != nil {
		if err := n.startDist(*cfg.Distribution, named); err != nil {
			if named != nil {
				named.Close()
			}
			return nil, errors.Join(err, n.Stop())
		}
	}
	return n, nil
}

// workerContext is the Context of the Actors that a worker runs, as the worker keeps it.
type workerContext Context

// End implements executor.Local, like Overdue.
func (c *workerContext) End(busy bool) { c.local.End(busy) }

func (c *workerContext) Overdue() { c.local.Overdue() }

// Of is for process.LocalOf.
func (c *workerContext) Of() *process.Local { return &c.local }

// newWorkerContext makes the Context that w keeps.
func (n *Node) newWorkerContext(w *executor.Worker) executor.Local {
	c := newContext(&n.sys)
	c.own.Worker = w
	c.local.Tally, c.local.Fiber = n.sys.Tally.New(), new(fiber.Fiber)
	c.local.Turn.Worker, c.local.Turn.Env = w, n.sys.Env
	return (*workerContext)(c)
}

// Name returns the node's name.
func (n *Node) Name() Atom { return n.cfg.Name }

// Log returns the logger of the node's Config.
func (n *Node) Log() *slog.Logger { return n.cfg.Log }

// Creation returns the number of this life of the node.
func (n *Node) Creation() uint32 { return n.cfg.Creation }

// MakeRef returns a reference that this node has not made before.
func (n *Node) MakeRef() Ref { return n.sys.NewRef() }

// Stop ends all processes with the reason shutdown. It kills those that trap exits and take longer than
// Config.StopTimeout, and waits as long again for functions to return. The error names what still runs then; no timer
// and no other goroutine is left. If the node has ended by itself, the error is that of [Node.Err], too.
//
// A handler or function that calls Stop waits for itself until both times are over: use go n.Stop() there.
func (n *Node) Stop() error {
	if !n.stopping.CompareAndSwap(false, true) {
		<-n.stopped // not a sync.Once: in a bubble of testing/synctest time goes on while somebody waits here
		return n.stopErr
	}
	n.finish()
	n.stopErr = n.stop()
	if failed := n.failure.Load(); failed != nil {
		n.stopErr = errors.Join(*failed, n.stopErr)
	}
	close(n.stopped)
	return n.stopErr
}

func (n *Node) stop() error {
	n.sys.Stopped.Store(true)
	n.sys.Later.End()
	n.keeper.Stop()
	n.futures.Stop()
	for p := range n.sys.Table.All() {
		p.EndTimers()
	}
	late := make(map[*process.Process]string) // the processes to end, with their names; at most mostLate
	for p := range n.sys.Table.All() {
		if len(late) < mostLate {
			late[p] = p.Name()
		}
		n.sys.ExitSignal(&n.sys.Plain, PID{}, p.PID(), Shutdown)
	}
	timeout := time.Duration(n.stopTime.Load())
	deadline := n.sys.Env.Now().Add(timeout)
	n.await(deadline, func() bool {
		alive, _ := n.sys.Tally.Sum()
		return alive == 0
	})
	for p := range n.sys.Table.All() {
		p.Exit(&n.sys.Plain, Killed)
	}
	if n.dist != nil {
		n.dist.stop()
	}
	ctx, cancel := n.sys.Env.WithTimeout(context.Background(), timeout)
	defer cancel()
	end, _ := ctx.Deadline()
	// Coroutines are unwound on stages. The code that kills one, perhaps a function that ends, wakes it when it no longer
	// counts as a process: the stages run until no function is left.
	left := func() int64 { return n.sys.Functions.Load() + n.sys.Fibers.Busy() }
	n.await(end, func() bool { return left() == 0 })
	n.reports.Forsaken(nil)
	err := n.sys.Pool.Stop(ctx)
	n.sys.Fibers.Stop()
	n.sys.Dead.Close()
	n.reports.Close()
	n.sys.Tracing.Stop()
	n.guard.Stop()
	if err != nil || left() > 0 {
		return errors.Join(fmt.Errorf("node: stopped, but %d handlers and functions of killed processes have not returned within %v%s",
			max(n.sys.Lingering.Load(), left()), timeout, lingering(late)), err)
	}
	return nil
}

const (
	mostLate  = 10_000 // processes that are looked at when the node stops
	mostNamed = 5      // of these that the error names
)

// lingering names the processes whose functions still run.
func lingering(late map[*process.Process]string) string {
	var names []string
	for p, name := range late {
		if p.Status.Lingers() {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	more := ""
	if len(names) > mostNamed {
		names, more = names[:mostNamed], ", …"
	}
	return ": " + strings.Join(names, ", ") + more
}

// await polls until done or the deadline: at first often, then rarely.
func (n *Node) await(deadline time.Time, done func() bool) {
	for pause := 50 * time.Microsecond; !done() && n.sys.Env.Now().Before(deadline); pause = min(2*pause, 10*time.Millisecond) {
		n.sys.Env.Sleep(pause)
	}
}
