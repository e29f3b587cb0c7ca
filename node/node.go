package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/counter"
	"github.com/actornode/actornode/internal/executor"
	"github.com/actornode/actornode/internal/fiber"
	"github.com/actornode/actornode/internal/nodehook"
	"github.com/actornode/actornode/node/internal/admission"
	"github.com/actornode/actornode/node/internal/env"
	"github.com/actornode/actornode/node/internal/export"
	"github.com/actornode/actornode/node/internal/futures"
	"github.com/actornode/actornode/node/internal/keep"
	"github.com/actornode/actornode/node/internal/names"
	"github.com/actornode/actornode/node/internal/report"
	"github.com/actornode/actornode/node/internal/table"
	"github.com/actornode/actornode/node/internal/tally"
	"github.com/actornode/actornode/node/internal/timers"
	"github.com/actornode/actornode/node/internal/trace"
	"github.com/actornode/actornode/node/internal/undelivered"
	"github.com/actornode/actornode/node/internal/values"
	"github.com/actornode/actornode/node/internal/waiting"
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// Node is a set of processes with a name: the local half of an Erlang node.
type Node struct {
	acting // of plain goroutines, and of the node itself

	cfg    Config
	origin wire.Origin
	pool   *executor.Pool

	tracing trace.Registry // beside what is only read: every message looks at it

	table   table.Table[proc]
	names   names.Directory[named, *named]
	calls   table.Lent[ticket] // whose From is known elsewhere
	futures futures.Lent[anyFuture]
	dead    undelivered.Log
	refSeq  atomic.Uint64
	fibers  fiber.Pool
	exports export.Table[Actor]
	dist    *distribution // nil: not distributed
	types   *Types        // those of Distribution, and how values of them cross
	values  *values.Codec
	env     env.Env
	clock   env.Clock

	tally   tally.Counts
	reports report.Log

	functions atomic.Int64          // Processes and detached actors whose goroutine has not ended
	lingering atomic.Int64          // processes that were killed and whose function still runs
	timers    timers.Count          // those that are not over
	byName    sync.Map              // *proc to its namelink.Links
	cycles    *waiting.Graph[*proc] // see Config.DetectCycles; nil: they are not detected
	stopped   atomic.Bool
	draining  atomic.Bool
	counts    counter.Counters // of the packages above

	stopOnce sync.Once
	stopErr  error

	shed     admission.Shed
	keeper   keep.Keeper
	failure  atomic.Pointer[nodehook.ServiceError] // why the node has ended by itself; nil: it has not
	doneOnce sync.Once
	done     chan struct{} // closed when the node stops
}

// Start makes a node and sets it going. The error says what is wrong with the
// Config.
func Start(cfg Config) (*Node, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	var e env.Env
	for cfg.Creation == 0 {
		cfg.Creation = e.Uint32()
	}
	n := &Node{
		cfg:    cfg,
		env:    e,
		origin: wire.NewOrigin(wire.NodeID{Name: cfg.Name, Creation: cfg.Creation}),
		done:   make(chan struct{}),
		types:  &registered,
		values: byDefault,
	}
	n.acting.node = n
	n.names.Init(n.origin)
	n.dead.Init(cfg.Log, e)
	n.tracing.Init(trace.Host{Now: n.env.Now, Find: n.findEnd, IsOwn: isOwn, ErrorTerm: errorTerm})
	n.clock.Init(n.env)
	n.futures.Init(n.env)
	if cfg.DetectCycles {
		n.cycles = new(waiting.Graph[*proc])
	}
	n.reports.Log, n.reports.Env = cfg.Log, e
	n.table.Init(cfg.MaxProcesses)
	n.pool = executor.New(executor.Config{
		Workers: cfg.Workers, Stages: cfg.Stages, Blocked: cfg.Blocked,
		Local:     func(w *executor.Worker) any { return n.newContext(w) },
		OnBlocked: func(b executor.Blocked) { n.reports.Blocked(b, n.pool.BlockedTurns()) },
		OnTurnEnd: func(w *executor.Worker, busy bool) { w.Local.(*Context).turn.End(busy) },
		OnLong:    func(w *executor.Worker) { w.Local.(*Context).turn.Overdue() },
	})
	n.keeper.Host, n.keeper.Env, n.keeper.Log = keptBy{n}, n.env, n.cfg.Log
	n.pool.Start()
	if cfg.Distribution != nil {
		if err := n.startDist(*cfg.Distribution); err != nil {
			return nil, errors.Join(err, n.Stop())
		}
	}
	return n, nil
}

// newContext makes a worker's context.
func (n *Node) newContext(w *executor.Worker) *Context {
	c := &Context{tally: n.tally.New(), home: new(fiber.Fiber)}
	c.turn.Worker, c.turn.Env = w, n.env
	c.acting = acting{node: n, w: w, ctx: c}
	return c
}

// count adds d to the number of processes.
func (n *Node) count(a *acting, d int64) {
	if a.w != nil {
		a.ctx.tally.Alive(d)
	} else {
		n.tally.Alive(d)
	}
}

// Name returns the node's name.
func (n *Node) Name() Atom { return n.cfg.Name }

// Log returns the logger of the node's Config.
func (n *Node) Log() *slog.Logger { return n.cfg.Log }

// Creation returns the number of this life of the node.
func (n *Node) Creation() uint32 { return n.cfg.Creation }

// lookup finds a process that is alive.
func (n *Node) lookup(pid PID) *proc {
	if !n.origin.Minted(pid) {
		return nil
	}
	return n.numbered(pid.Number())
}

// numbered finds a process that is alive by its number.
func (n *Node) numbered(id uint64) *proc {
	if p := n.table.At(id); p != nil && p.id == id {
		return p
	}
	return nil
}

// refBatch is how many reference numbers a context takes at once.
const refBatch = 1024

// refs is a context's supply of reference numbers.
type refs struct{ next_, end uint64 }

func (r *refs) next(n *Node) uint64 {
	if r.next_ == r.end {
		r.end = n.refSeq.Add(refBatch)
		r.next_ = r.end - refBatch
	}
	r.next_++
	return r.next_
}

func (n *Node) newRef() Ref { return n.origin.RefOf(n.refSeq.Add(refBatch)) }

// MakeRef returns a reference that this node has not made before.
func (n *Node) MakeRef() Ref { return n.newRef() }

func (n *Node) sendAlias(a *acting, ref Ref, msg, token any) error {
	if !n.origin.Equal(ref.Origin()) {
		if p := n.peer(ref.Node()); p != nil {
			return p.send(a, dist.Frame{Op: dist.OpSend, From: n.self(), Ref: ref, Payload: msg, Token: token})
		}
	}
	if p := n.aliased(ref, msg); p != nil {
		if t := n.traces(); t != nil {
			t.Message(a.pid(), p.pid(), msg)
		}
		return p.deliverWith(a, msg, token)
	}
	return nil
}

// Stop ends all processes with the reason shutdown, those that trap exits and
// take longer than Config.StopTimeout by force, and waits as long again for
// functions to return. What then still runs is named in the error; no timer and
// no other goroutine is left. If the node has ended by itself, the error is that of
// [Node.Err], too.
func (n *Node) Stop() error {
	n.stopOnce.Do(func() {
		n.finish()
		n.stopErr = n.stop()
		if failed := n.failure.Load(); failed != nil {
			n.stopErr = errors.Join(failed, n.stopErr)
		}
	})
	return n.stopErr
}

func (n *Node) stop() error {
	n.stopped.Store(true)
	n.keeper.Stop()
	n.futures.Stop()
	for p := range n.table.All() {
		p.endTimers()
	}
	for p := range n.table.All() {
		n.exitSignal(&n.acting, PID{}, p.pid(), Shutdown)
	}
	deadline := n.env.Now().Add(n.cfg.StopTimeout)
	n.await(deadline, func() bool {
		alive, _ := n.tally.Sum()
		return alive == 0
	})
	for p := range n.table.All() {
		p.exit(&n.acting, Killed)
	}
	if n.dist != nil {
		n.dist.stop()
	}
	ctx, cancel := n.env.WithTimeout(context.Background(), n.cfg.StopTimeout)
	defer cancel()
	end, _ := ctx.Deadline()
	// Coroutines are unwound on stages, and whoever kills one, a function that ends
	// perhaps, wakes it after nobody counts it as a process any more: the stages
	// run until no function is left.
	left := func() int64 { return n.functions.Load() + n.fibers.Busy() }
	n.await(end, func() bool { return left() == 0 })
	err := n.pool.Stop(ctx)
	n.fibers.Stop()
	n.dead.Close()
	n.tracing.Stop()
	if err != nil || left() > 0 {
		return errors.Join(fmt.Errorf("node: stopped, but %d handlers and functions of killed processes have not returned within %v",
			n.lingering.Load(), n.cfg.StopTimeout), err)
	}
	return nil
}

// await polls until done or the deadline: at first often, then rarely.
func (n *Node) await(deadline time.Time, done func() bool) {
	for pause := 50 * time.Microsecond; !done() && n.env.Now().Before(deadline); pause = min(2*pause, 10*time.Millisecond) {
		n.env.Sleep(pause)
	}
}
