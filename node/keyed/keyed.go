package keyed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/cause"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/supervisor"
)

// Errors, which errors.Is finds.
var (
	// ErrFull says that there are Max processes, and none of those that were looked at is idle.
	ErrFull = errors.New("keyed: all processes are in use")
	// ErrFailing says that the process of a key has failed, and is not started again yet: see [FailingError].
	ErrFailing = errors.New("keyed: the process fails")
	// ErrEnded says that the group has ended. A group that has a supervisor is waited for instead.
	ErrEnded = errors.New("keyed: the group has ended")
)

// FailingError is [ErrFailing] with details. It does not hold the key.
type FailingError struct {
	Group node.Atom
	Since time.Time // of the first failure in a row
	Next  time.Time // when a use starts it again
	Times int       // failures in a row
	Err   error     // the last one: of New or Init, or a *node.ExitError with the reason of a crash
}

func (e *FailingError) Error() string {
	return fmt.Sprintf("keyed: group %s: the process has failed %d times since %s, and is started again at a use after %s: %v",
		e.Group, e.Times, e.Since.Format(time.RFC3339), e.Next.Format(time.RFC3339Nano), e.Err)
}

// Is makes errors.Is find ErrFailing.
func (e *FailingError) Is(target error) bool { return target == ErrFailing }

func (e *FailingError) Unwrap() error { return e.Err }

// Kind says how the processes of a group are made and when they end.
type Kind[K comparable] struct {
	// Name is the registered name of the group's process, shown by ps and tree, and in logs.
	Name node.Atom
	// New makes the behaviour of the process of a key. It runs in the group's process and must not block: do slow work in the
	// behaviour's Init.
	New func(key K) (node.Actor, error) `isolation:"share"`
	// Options of each process: bounds, place, label. Name, Link, Monitor, Announce, Protected and Mailbox, which would be one for
	// all, must not be set.
	Options node.Options

	// Idle is how long a process lives after the end of its last use, and at most a quarter longer. 0: for ever. One that has more
	// to do then, such as what was sent to it, lives for three quarters of Idle after that at least.
	Idle time.Duration
	// Max is how many processes there are at a time. At one more the one that has been unused for longest ends, if one of
	// the 1,000 unused for longest is idle; otherwise the use fails with [ErrFull]. Default: 100,000.
	Max int
	// Memory is how many bytes of the Go heap may be in use. While it is more after a cycle of the garbage collector, an
	// eighth of the processes end, those that have been unused for longest, if they are idle. 0: no limit.
	Memory uint64
	// Shutdown is how long a process that traps exits may take to end before it is killed. Default: 5 s.
	Shutdown time.Duration
	// Restart starts a process that has crashed again at once, after the back-off. Default: at its next use.
	Restart bool
	// Backoff is the longest time for which a process that fails again and again is not started. It is not started for 100 ms
	// after the second failure in a row, and then for twice as long each time. One that has run for longer than Backoff
	// begins with no delay again. Default: 5 s.
	Backoff time.Duration
}

// Defaults and limits of a Kind.
const (
	defaultMax      = 100_000
	defaultShutdown = 5 * time.Second
	defaultBackoff  = 5 * time.Second
	firstBackoff    = 100 * time.Millisecond
)

func (k *Kind[K]) complete() error {
	o := &k.Options
	wrong := ""
	switch {
	case k.Name == "":
		wrong = "Name is missing"
	case k.New == nil:
		wrong = "New is missing"
	case k.Idle < 0 || k.Shutdown < 0 || k.Backoff < 0 || k.Max < 0:
		wrong = "Idle, Max, Shutdown and Backoff must not be below 0"
	case o.Name != "" || o.Link || o.Monitor != nil || o.Announce || o.Protected || o.Mailbox != nil:
		wrong = "Options must not set Name, Link, Monitor, Announce, Protected or Mailbox"
	}
	if wrong != "" {
		return fmt.Errorf("%w: keyed: group %s: %s", node.ErrArgument, cmp.Or(k.Name, "without a name"), wrong)
	}
	k.Max, k.Shutdown, k.Backoff = cmp.Or(k.Max, defaultMax), cmp.Or(k.Shutdown, defaultShutdown), cmp.Or(k.Backoff, defaultBackoff)
	return nil
}

// Group is a group of processes that are found by key, on one node. Any goroutine may use it. It outlives its process, which a
// supervisor may restart.
type Group[K comparable] struct {
	kind      Kind[K]
	table     table[K]
	alone     bool                      // without a supervisor: set by Start
	keeper    atomic.Pointer[keeper[K]] // of the running group's process, or the last one; nil: none has started
	taken     entry[K]                  // what a ticket holds that its user has given up
	mu        sync.Mutex                // of the keeper whose handler runs
	counts    [counters]atomic.Uint64
	processes atomic.Int64
	waiting   atomic.Int64 // uses that could not enter at once
}

// New returns a group whose process is still to be started, below a supervisor: see [Group.Child]. The error is
// [node.ErrArgument].
func New[K comparable](k Kind[K]) (*Group[K], error) {
	if err := k.complete(); err != nil {
		return nil, err
	}
	g := &Group[K]{kind: k}
	g.table.init()
	return g, nil
}

// MustNew is [New] for a Kind that is written in the program, where an error is a mistake of the program: it panics with it.
func MustNew[K comparable](k Kind[K]) *Group[K] {
	g, err := New(k)
	if err != nil {
		panic(err)
	}
	return g
}

// Start starts a group without a supervisor. Errors: [node.ErrArgument], and those of [node.SpawnWait].
func Start[K comparable](ctx context.Context, from node.Caller, k Kind[K]) (*Group[K], error) {
	g, err := New(k)
	if err == nil {
		g.alone = true
		_, err = node.SpawnWait(ctx, from, node.Options{Name: k.Name}, &keeper[K]{g: g})
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// Child returns the group's process as a child of a supervisor. When it is restarted, its processes end first; uses wait
// meanwhile, within their contexts.
func (g *Group[K]) Child() supervisor.Child {
	return supervisor.Child{ID: g.kind.Name, Type: supervisor.Supervisor, Options: node.Options{Name: g.kind.Name},
		Start: func(...any) (node.Actor, error) { return &keeper[K]{g: g}, nil }}
}

// Call is [node.Call] to the process of a key, which is started if need be and does not end for idleness meanwhile. Errors
// besides: those of [Group.Use].
func Call[R, Q any, K comparable](ctx context.Context, from node.Caller, g *Group[K], key K, req Q) (r R, err error) {
	e, err := g.enter(ctx, from, key)
	if err != nil {
		return r, err
	}
	defer e.leave()
	return node.Call[R](ctx, from, e.process.PID(), req)
}

// Ask is [Call] of a server of package genserver: the request says what the reply is.
func Ask[Q genserver.Returning[R], R any, K comparable](ctx context.Context, from node.Caller, g *Group[K], key K,
	req Q) (R, error) {
	return Call[R](ctx, from, g, key, req)
}

// Send is [node.Send] to the process of a key, which is started if need be and does not end for idleness before it has
// handled the message. ctx bounds the wait for the start; if it has ended before, nothing is sent. Errors besides:
// those of [Group.Use].
func Send[K comparable](ctx context.Context, from node.Caller, g *Group[K], key K, msg any) error {
	e, err := g.enter(ctx, from, key)
	if err != nil {
		return err
	}
	defer e.leave()
	return node.Send(from, e.process.PID(), msg)
}

// Use calls f with the process of a key, which is started if need be and does not end for idleness before f has returned and the
// process has handled what f has sent. Errors: that of f; [ErrKey]; [ErrFull]; a [*FailingError]; [ErrEnded]; of a process
// that has not started, one that wraps that of New or Init; and that of ctx: if it has ended before, f is
// not called, and if it ends while the process starts, the start goes on.
func (g *Group[K]) Use(ctx context.Context, from node.Caller, key K, f func(pid node.PID) error) error {
	e, err := g.enter(ctx, from, key)
	if err != nil {
		return err
	}
	defer e.leave()
	return f(e.process.PID())
}

// Lookup returns the process of a key if it is running. It does not start it, and is no use of it: it may end at any time.
func (g *Group[K]) Lookup(key K) (node.PID, bool) {
	e, err := g.table.get(key)
	if err != nil || e == nil || !e.runs() {
		return node.PID{}, false
	}
	return e.process.PID(), true
}

func (e *entry[K]) runs() bool { return e.word.Load()&closed == 0 && !e.process.Gone() }

// All yields the running processes, in no order. Those that start or end meanwhile may or may not be among them.
func (g *Group[K]) All() iter.Seq2[K, node.PID] {
	return func(yield func(K, node.PID) bool) {
		g.table.all(func(e *entry[K]) bool { return !e.runs() || yield(e.key, e.process.PID()) })
	}
}

// End ends the process of a key, idle or not, and waits until it has ended: the exit signal is shutdown, and kill after
// Kind.Shutdown. What waits in its mailbox is lost. It is no error if there is none. A process cannot end itself in this way:
// that is [node.ErrSelfCall].
func (g *Group[K]) End(ctx context.Context, from node.Caller, key K) error {
	if _, err := g.table.get(key); err != nil {
		return g.wrap(err)
	}
	return g.wrap(ask(ctx, from, g, func() finish[K] { return finish[K]{key} }))
}

// wrap adds the name of the group to an error.
func (g *Group[K]) wrap(err error) error {
	if _, ok := err.(*FailingError); err == nil || ok {
		return err
	}
	return fmt.Errorf("keyed: group %s: %w", g.kind.Name, err)
}

// enter begins a use of the process of a key.
func (g *Group[K]) enter(ctx context.Context, from node.Caller, key K) (*entry[K], error) {
	if ctx.Err() != nil {
		return nil, g.wrap(cause.Of(ctx))
	}
	e, err := g.table.get(key)
	if err == nil && e != nil {
		k := g.keeper.Load()
		if k.node == from.Inside(process.Key{}).Node() && !k.process.Gone() && e.enter() {
			return e, nil
		}
	}
	if err == nil {
		err = check(key)
	}
	var t *ticket[K]
	g.waiting.Add(1)
	defer func() { // also if the calling process is killed
		g.waiting.Add(-1)
		if t != nil && e == nil {
			t.giveUp(g)
		}
	}()
	if e = nil; err == nil {
		err = ask(ctx, from, g, func() use[K] {
			if t != nil {
				t.giveUp(g)
			}
			t = new(ticket[K])
			return use[K]{key, t}
		})
	}
	if err != nil {
		return nil, g.wrap(err)
	}
	e = t.entry.Load()
	return e, nil
}

// ticket is what a use has asked for: the group's process puts the entry in, which has been entered for it.
type ticket[K comparable] struct{ entry atomic.Pointer[entry[K]] }

func (t *ticket[K]) giveUp(g *Group[K]) {
	if e := t.entry.Swap(&g.taken); e != nil && e != &g.taken {
		e.leave()
	}
}

// use asks the group's process for the process of a key, and finish for its end. The reply is an outcome.
type (
	use[K comparable] struct {
		key    K          `isolation:"share"`
		ticket *ticket[K] `isolation:"share"`
	}
	finish[K comparable] struct {
		key K `isolation:"share"`
	}
	outcome struct {
		err error `isolation:"share"`
	}
)

// ask sends a request to the group's process. While a supervisor restarts that, it tries again, with another request.
func ask[K comparable, Q any](ctx context.Context, from node.Caller, g *Group[K], request func() Q) error {
	var o outcome // its error may wrap ErrNoName, which Retry must not see
	_, err := node.Retry(ctx, from, func() (none struct{}, err error) {
		again := node.ErrNoName // what Retry waits for
		if g.alone {
			again = ErrEnded
		}
		k := g.keeper.Load()
		if k == nil {
			return none, again
		}
		if n := from.Inside(process.Key{}).Node(); n != k.node {
			return none, fmt.Errorf("%w: the group is on another node", node.ErrArgument)
		}
		o, err = node.Call[outcome](ctx, from, k.pid, request())
		if exit, ok := errors.AsType[*node.ExitError](err); ok || o.err == ErrEnded {
			if exit != nil && k.node.Err() != nil {
				return none, node.ErrNodeStopped
			}
			return none, again
		}
		return none, err
	})
	return cmp.Or(err, o.err)
}

func init() { values.Enter(ErrFull, ErrFailing, ErrEnded, ErrKey) }
