package pool

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/mailbox/inbox"
	"github.com/actornode/actornode/mailbox"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/futures"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// ErrNoWorkers says that no worker of the pool runs: all of them wait for their restarts.
var ErrNoWorkers = errors.New("pool: no worker is running")

// maxWorkers is the highest number of workers: one that is meant can be this high, one that is a mistake is higher.
const maxWorkers = 1 << 16

// Options of a pool. Only New must be set.
type Options struct {
	// Name is what others send to: the registered name of the pool's front. "": none.
	Name node.Atom
	// Workers is the number of workers, 65,536 at most. Default: GOMAXPROCS.
	Workers int
	// New makes a worker: an Actor of any kind, also at each restart. It must not block: do slow work in Init.
	New func() node.Actor `isolation:"share"`
	// Worker are the options of each worker's process. [node.Detached] is for workers that block. Name, Bounds, Mailbox and
	// Via must not be set.
	Worker node.Options
	// Route chooses the worker for a message. Default: [LeastBusy].
	Route Route
	// Bounds limit what waits for the workers: in all, or for each of them if the Route chooses before a worker is idle.
	// Default: no limit.
	Bounds mailbox.Bounds
	// Deadline is the time after which a worker that still handles the same message is killed and replaced. Default: none.
	Deadline time.Duration

	// Intensity and Period limit the restarts of workers, and Backoff delays them: see supervisor.Spec and supervisor.Child.
	// With more than Intensity restarts within Period the pool ends, with the reason shutdown.
	Intensity int
	Period    time.Duration
	Backoff   supervisor.Backoff
	// Stop is how long a worker may take to end. Default: 5 s.
	Stop time.Duration
}

// Route says which worker gets a message. The zero value is [LeastBusy].
type Route struct {
	fixed bool                 // a message is for one worker, busy or not
	hash  func(msg any) uint64 // nil: in turn
}

// LeastBusy lets messages wait in one queue. A worker that is idle gets the oldest: a slow message holds up no other.
func LeastBusy() Route { return Route{} }

// RoundRobin gives each worker one message after the other, in turn, whether it is busy or not.
func RoundRobin() Route { return Route{fixed: true} }

// ByHash gives messages with the same hash to the same worker, in their order, as long as the number of workers stays the
// same. hash gets the body of a call or a cast, and any other message itself. It is called by the senders, often several
// at once, and must not wait. A panic is logged and counts as the hash 0.
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
	case w.Name != "" || inbox.Limited(w.Bounds) || w.Mailbox != nil || w.Via != nil:
		return fmt.Errorf("%w: pool: Options.Worker: Name, Bounds, Mailbox and Via must not be set", node.ErrArgument)
	}
	return checkSize(o.Workers)
}

func checkSize(workers int) error {
	if workers < 1 || workers > maxWorkers {
		return fmt.Errorf("%w: pool: %d workers: want 1 to %d", node.ErrArgument, workers, maxWorkers)
	}
	return nil
}

// New returns a pool for the Start of a supervisor's child with the Type supervisor.Supervisor, or for a spawn. It has
// started when all workers have.
func New(o Options) node.Actor { return &root{o: o} }

// Start starts a pool and returns the PID of its front, to which others send. p are options of the pool's supervisor. The
// pool ends when its front does. Errors: [node.ErrArgument], and those of [node.SpawnWait].
func Start(ctx context.Context, from node.Caller, o Options, p node.Options) (node.PID, error) {
	p.ShowPeer = true // for Distribution.Access.Allow
	r := &root{o: o}
	if err := r.o.complete(); err != nil {
		return node.PID{}, err
	}
	if _, err := node.SpawnWait(ctx, from, p, r); err != nil {
		return node.PID{}, err
	}
	return r.q.self(), nil
}

// Resize changes the number of workers of a pool, on this node or another. It returns when those that are missing have
// started. Those that are too many get no further messages; they end when they have handled what is theirs. Errors:
// [node.ErrArgument], a [*supervisor.StartError] if a worker does not start, [supervisor.ErrNotAllowed] on a node that may
// not operate the pool's, and those of [node.Call].
func Resize(ctx context.Context, from node.Caller, pool node.Dest, workers int) error {
	if err := checkSize(workers); err != nil {
		return err
	}
	_, err := node.Call[any](ctx, from, pool, wire.Tuple{aResize, workers})
	return err
}

// Workers returns the workers that run, in the order of their start. What is sent to one of them directly does not wait in
// the queue of the pool. Errors: those of [node.Call].
func Workers(ctx context.Context, from node.Caller, pool node.Dest) ([]node.PID, error) {
	v, err := node.Call[any](ctx, from, pool, aWorkers)
	if err != nil {
		return nil, err
	}
	list, _ := wire.AsList(v)
	all := make([]node.PID, len(list))
	for i, pid := range list {
		var ok bool
		if all[i], ok = pid.(node.PID); !ok {
			return nil, fmt.Errorf("%w: %v is not a pool: it has answered %s", node.ErrReplyType, pool,
				wire.Formatter{Max: 1 << 8}.Format(v))
		}
	}
	return all, nil
}

// Broadcast sends msg to each worker that runs, directly: one whose restart is due does not get it. Errors:
// [ErrNoWorkers], and those of [Workers] and of [node.Send].
func Broadcast(ctx context.Context, from node.Caller, pool node.Dest, msg any) error {
	all, err := running(ctx, from, pool)
	for _, pid := range all {
		err = errors.Join(err, node.Send(from, pid, msg))
	}
	return err
}

// First asks all workers that run, directly, and returns the first answer. The calls to the others are cancelled: a worker
// sees that by the context of its request. If none answers, the error has those of all calls. Errors otherwise:
// [ErrNoWorkers], those of [Workers], and the end of ctx.
func First[R, Q any](ctx context.Context, from node.Caller, pool node.Dest, req Q) (R, error) {
	all, err := running(ctx, from, pool)
	if err != nil {
		return *new(R), err
	}
	asked := make([]*node.Future[R], len(all))
	for i, pid := range all {
		asked[i] = node.Async[R](from, pid, req)
	}
	first, err := node.Await(ctx, from, futures.First(from, asked...))
	for _, f := range asked {
		f.Cancel()
	}
	return first.Value, err
}

// running is Workers of a pool that has some.
func running(ctx context.Context, from node.Caller, pool node.Dest) ([]node.PID, error) {
	all, err := Workers(ctx, from, pool)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%w: pool %v", ErrNoWorkers, pool)
	}
	return all, err
}

// root becomes the supervisor of a pool.
type root struct {
	node.Actor
	o Options
	q *queue
}

// BehaviourName is part of node.BehaviourNamer.
func (r *root) BehaviourName() string { return "supervisor" }

// The children of a pool's supervisor. Each worker's ID is a number.
const (
	frontID = wire.Atom("front")
	sizerID = wire.Atom("size")
)

// Init is part of node.Initializer.
func (r *root) Init(c *node.Context) error {
	if err := r.o.complete(); err != nil {
		return err
	}
	r.q = newQueue(c.Node(), r.o)
	children := []supervisor.Child{{
		ID: frontID, Restart: supervisor.Temporary, Significant: true, Modules: []node.Atom{modules},
		Options: node.Options{Name: r.o.Name, Label: "pool", Mailbox: r.q, ShowPeer: true, CopyMessages: r.o.Worker.CopyMessages},
		Start:   func(...any) (node.Actor, error) { return &front{q: r.q}, nil },
	}, {
		ID: sizerID, Modules: []node.Atom{modules},
		Options: node.Options{Label: "size of a pool", Coroutine: true},
		Start:   func(...any) (node.Actor, error) { return node.ProcessFunc(r.q.size), nil },
	}}
	for _, s := range r.q.slots {
		children = append(children, r.q.child(s))
	}
	sup := supervisor.NewDynamic(process.Key{}, supervisor.Spec{
		Intensity: r.o.Intensity, Period: r.o.Period, AutoShutdown: supervisor.AnySignificant, Children: children,
	}, supervisor.Dynamic{
		Job:  func(any) *supervisor.Child { return nil },
		Task: func(any) *supervisor.Child { return nil },
	})
	c.Become(sup)
	return sup.(node.Initializer).Init(c)
}

// child describes the worker of a slot.
func (q *queue) child(s *slot) supervisor.Child {
	return supervisor.Child{
		ID: s.id, Shutdown: q.o.Stop, Backoff: q.o.Backoff, Options: q.o.Worker,
		Start: func(...any) (node.Actor, error) {
			b := q.o.New()
			if _, blocks := b.(node.ProcessFunc); blocks || b == nil {
				return nil, fmt.Errorf("%w: pool: Options.New has returned %T: want an Actor (which may be Detached)", node.ErrArgument, b)
			}
			return q.newWorker(s, b), nil
		},
	}
}

func init() { values.Enter(ErrNoWorkers) }
