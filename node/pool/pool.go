package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/counter"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/futures"
	"github.com/actornode/actornode/supervisor"
)

// ErrNoWorkers says that no worker of the pool runs: the pool has not started or has ended, or all workers wait for their
// restarts.
var ErrNoWorkers = errors.New("pool: no worker is running")

func init() { values.Enter(ErrNoWorkers) }

// maxWorkers is the highest number of workers: one that is meant can be this high, one that is a mistake is higher.
const maxWorkers = 1 << 16

// Options of a pool. Only New must be set.
type Options struct {
	// Name is the registered name of the front. "": none.
	Name node.Atom
	// Workers is the number of workers, 65,536 at most. Default: GOMAXPROCS.
	Workers int
	// New makes a worker: an Actor of any kind, also at each restart. It must not block: do slow work in Init.
	New func() node.Actor `isolation:"share"`
	// Worker are the options of each worker's process. [node.Detached] is for workers that block. Name, Bounds, Mailbox and
	// Scheduler must not be set.
	Worker node.Options
	// Route chooses the worker for a message. Default: [LeastBusy].
	Route Route
	// Bounds limit a line. Default: no limit. A call that is dropped fails with node.ErrDropped. Their Dropped gets the front.
	Bounds mailbox.Bounds

	// Deadline is the time after which a worker that still handles the same message is killed and replaced, which is logged.
	// Go cannot stop a function: one that is stuck goes on, and should have [node.Detached]. Default: none.
	Deadline time.Duration

	// Intensity and Period limit the restarts of workers, and Backoff delays them: see supervisor.Spec and supervisor.Child.
	// With more than Intensity restarts within Period the pool ends, with the reason shutdown. Defaults: 10 for each of
	// Workers; a minute.
	Intensity int
	Period    time.Duration
	Backoff   supervisor.Backoff
	// Stop is how long a worker that traps exits may take to end. Default: 5 s.
	Stop time.Duration
}

// Route says which worker gets a message. The zero value is [LeastBusy].
type Route struct {
	fixed bool                 // each worker has a line of its own
	hash  func(msg any) uint64 // nil: in turn
}

// LeastBusy lets messages wait in one line. A worker that is idle gets the oldest: a slow message holds up no other.
func LeastBusy() Route { return Route{} }

// RoundRobin gives each worker one message after the other, in turn, whether it is busy or not.
func RoundRobin() Route { return Route{fixed: true} }

// ByHash gives messages with the same hash to the same worker, in their order, as long as the number of workers stays the
// same. hash gets the body of a call, and any other message itself. It is called by senders, often several at once, and must
// not wait. If it panics, the message gets the hash 0, and the panic is logged.
func ByHash(hash func(msg any) uint64) Route { return Route{true, hash} }

// complete checks o and fills in defaults.
func (o *Options) complete() error {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	w := &o.Worker
	switch err := inbox.Check(o.Bounds); {
	case o.New == nil:
		return fmt.Errorf("%w: pool: Options.New is nil: it makes the workers", node.ErrArgument)
	case err != nil:
		return fmt.Errorf("%w: pool: Options.Bounds: %w", node.ErrArgument, err)
	case o.Deadline < 0:
		return fmt.Errorf("%w: pool: Options.Deadline %v: want 0 for none, or more", node.ErrArgument, o.Deadline)
	case w.Name != "" || inbox.Limited(w.Bounds) || w.Mailbox != nil || w.Scheduler != nil:
		return fmt.Errorf("%w: pool: Options.Worker: Name, Bounds, Mailbox and Scheduler must not be set", node.ErrArgument)
	}
	o.Intensity = cmp.Or(o.Intensity, restartsEach*o.Workers)
	o.Period = cmp.Or(o.Period, time.Minute)
	return checkSize(o.Workers)
}

// restartsEach is how many restarts in a minute each worker adds to the default of Intensity. A request that makes a worker
// crash is nothing unusual.
const restartsEach = 10

func checkSize(workers int) error {
	if workers < 1 || workers > maxWorkers {
		return fmt.Errorf("%w: pool: %d workers: want 1 to %d", node.ErrArgument, workers, maxWorkers)
	}
	return nil
}

// Pool is a pool of workers. Any goroutine may use it. It outlives its processes, which a supervisor may restart.
type Pool struct {
	o        Options
	run      atomic.Pointer[run] // the processes that run, or were the last to; nil: none have started
	resizing chan struct{}       // holds a token while nobody resizes
}

// New returns a pool that is still to be started, below a supervisor: see [Pool.Child]. The error is [node.ErrArgument].
func New(o Options) (*Pool, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	p := &Pool{o: o, resizing: make(chan struct{}, 1)}
	p.resizing <- struct{}{}
	return p, nil
}

// MustNew is [New] for Options that are written in the program, where an error is a mistake of the program: it panics with it.
func MustNew(o Options) *Pool {
	p, err := New(o)
	if err != nil {
		panic(err)
	}
	return p
}

// Start starts a pool without a supervisor. It returns when all workers have started. Errors: [node.ErrArgument], and those
// of [supervisor.Start].
func Start(ctx context.Context, from node.Caller, o Options) (*Pool, error) {
	p, err := New(o)
	if err == nil {
		_, err = supervisor.Start(ctx, from, p.spec(), node.Options{Label: p.label()})
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Child returns the pool as a child of a supervisor. A pool that is restarted has as many workers as Options say.
func (p *Pool) Child() supervisor.Child {
	return supervisor.Child{ID: p.label(), Type: supervisor.Supervisor, Options: node.Options{Label: p.label()},
		Start: func(...any) (node.Actor, error) { return supervisor.New(p.spec()), nil }}
}

func (p *Pool) label() string {
	if p.o.Name == "" {
		return "pool"
	}
	return "pool " + string(p.o.Name)
}

// PID returns the front of the pool, which runs or was the last to; zero if none has started. With Options.Name, the name is as
// good, and stays when a supervisor restarts the pool.
func (p *Pool) PID() node.PID {
	if r := p.run.Load(); r != nil {
		return r.front.PID()
	}
	return node.PID{}
}

// running returns the processes of the pool; nil: the front has ended, or has never started.
func (p *Pool) running() *run {
	if r := p.run.Load(); r != nil && !r.closed.Load() {
		return r
	}
	return nil
}

// Workers returns the workers that run. Those whose restart is due are missing.
func (p *Pool) Workers() []node.PID {
	if r := p.running(); r != nil {
		return r.workers()
	}
	return nil
}

// Stats say what a pool does at this moment.
type Stats struct {
	Workers int // that run
	Idle    int // of these
	Waiting int // messages in the lines
}

// Stats returns what the pool does. The numbers are read one after the other.
func (p *Pool) Stats() Stats {
	r := p.running()
	if r == nil {
		return Stats{}
	}
	return Stats{Workers: len(r.workers()), Idle: r.idle(), Waiting: (*box)(r).Len()}
}

// export makes the counters of the node that r adds to, and has the node read the gauges until the front has ended.
func (r *run) export() {
	in, name := r.node.Inside(process.Key{}), cmp.Or(string(r.o.Name), counter.Other)
	r.replaced = in.Counter(counter.PoolReplaced, name)
	r.refused = in.Counter(counter.PoolRefused, name, strings.ReplaceAll(r.o.Bounds.Policy.String(), " ", "_"))
	in.Gauge(counter.PoolWorkers, r.closed.Load, func() int { return len(r.workers()) }, name)
	in.Gauge(counter.PoolIdle, r.closed.Load, r.idle, name)
	in.Gauge(counter.PoolWaiting, r.closed.Load, (*box)(r).Len, name)
}

// Resize changes the number of workers until the pool is restarted. It returns when those that are missing have started, or
// those that are too many have ended: they handle what they have taken first. If ctx ends before, the workers that have not
// begun to end stay. Errors: [node.ErrArgument], [node.ErrSelfCall] for a worker of the pool, [ErrNoWorkers] if the pool does
// not run, or ends, a [*supervisor.StartError] if a worker
// does not start, that of ctx, and those of [node.Call].
func (p *Pool) Resize(ctx context.Context, from node.Caller, workers int) error {
	if err := checkSize(workers); err != nil {
		return err
	}
	a := from.Inside(process.Key{}).Acting()
	if r := p.running(); r != nil && slices.Contains(r.workers(), a.PID()) {
		return fmt.Errorf("%w: a worker of %s", node.ErrSelfCall, p.label())
	}
	if ctx.Err() != nil {
		return cause.Of(ctx)
	}
	a.Block()
	select {
	case <-p.resizing:
	case <-ctx.Done():
		return cause.Of(ctx)
	}
	defer func() { p.resizing <- struct{}{} }()
	r := p.running()
	if r == nil {
		return p.none()
	}
	err := r.resize(ctx, from, workers)
	if r.closed.Load() {
		return p.none()
	}
	return err
}

func (p *Pool) none() error { return fmt.Errorf("%w: %s", ErrNoWorkers, p.label()) }

// Broadcast sends msg to each worker that runs, past the lines: one whose restart is due does not get it. Errors:
// [ErrNoWorkers], and those of [node.Send].
func Broadcast(from node.Caller, p *Pool, msg any) error {
	all := p.Workers()
	if len(all) == 0 {
		return p.none()
	}
	var errs []error
	for _, pid := range all {
		errs = append(errs, node.Send(from, pid, msg))
	}
	return errors.Join(errs...)
}

// First asks all workers that run, past the lines, and returns the first answer that is no error. The calls to the others are
// given up: a worker sees that by the context of its request. If none answers, the error has those of all calls. Errors
// otherwise: [ErrNoWorkers], and the end of ctx.
func First[R, Q any](ctx context.Context, from node.Caller, p *Pool, req Q) (R, error) {
	all := p.Workers()
	if len(all) == 0 {
		return *new(R), p.none()
	}
	asked := make([]*node.Future[R], len(all))
	for i, pid := range all {
		asked[i] = node.Async[R](from, pid, req)
		defer asked[i].Cancel()
	}
	first, err := node.Await(ctx, from, futures.First(from, asked...))
	return first.Value, err
}
