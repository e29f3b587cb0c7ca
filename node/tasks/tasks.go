package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/supervisor"
)

// Errors of this package; callers compare them with errors.Is.
var (
	ErrFull     = errors.New("tasks: the supervisor has as many tasks as its Max allows")
	ErrNotLocal = errors.New("tasks: a function runs on its own node") // the supervisor is on another one
)

// Options of a supervisor of tasks. The zero value works.
type Options struct {
	// Max limits the tasks at once: a further one fails with [ErrFull]. 0: no limit; below 0: no tasks. A task whose
	// result is known does not count any more.
	Max int
	// Stop is how long a task may take to end once it gets the exit signal shutdown; then it is killed. Default: 5 s.
	// supervisor.BrutalKill: no time; node.Infinity: any. A caller from Elixir may choose another time for its task.
	Stop time.Duration
}

// The restarts of Elixir's tasks after which the supervisor gives up: as of Task.Supervisor. Those of Go are not restarted.
const (
	maxRestarts = 3
	maxSeconds  = 5
)

// Child returns a supervisor of tasks as a child of a supervisor. name is its ID and the registered name of its process, for
// [Go].
func Child(name node.Atom, o Options) supervisor.Child {
	return supervisor.Child{ID: name, Type: supervisor.Supervisor, Options: node.Options{Name: name},
		Start: func(...any) (node.Actor, error) { return New(o), nil }}
}

// New returns a supervisor of tasks as an Actor, for a spawn or for rpc.ExportBehaviour. [Child] makes one for a supervision
// tree.
func New(o Options) node.Actor {
	return supervisor.NewDynamic(process.Key{},
		supervisor.Spec{Intensity: maxRestarts, Period: maxSeconds * time.Second},
		supervisor.Dynamic{Max: o.Max, Full: ErrFull, Job: o.job, Task: o.elixir})
}

// Start starts a supervisor of tasks. Errors: those of [node.SpawnWait].
func Start(ctx context.Context, from node.Caller, o Options, p node.Options) (node.PID, error) {
	p.ShowPeer = true // for Distribution.Access.Allow
	return node.SpawnWait(ctx, from, p, New(o))
}

// Go runs f in a process under sup, which is a supervisor of tasks on this node. The future gets what f returns:
//
//	f returns a value or an error      the value or the error
//	f returns node.ExitWith(reason),
//	panics, or is ended from outside   a [*node.ExitError] with the reason
//	sup is full                        [ErrFull]
//	sup is on another node             [ErrNotLocal]
//	sup is gone, or ends               a [*node.ExitError], [node.ErrNoName]
//
// The task is not linked to the caller, and goes on if the caller ends: async_nolink of Elixir. Who gives up on the future,
// by its Cancel or because the context of [node.Await] ends, ends the task with the reason shutdown; the context of p is
// cancelled then.
func Go[R any](from node.Caller, sup node.Dest, f func(p *node.Process) (R, error)) *node.Future[R] {
	return start(from, sup, false, f)
}

// GoLinked is Go, but links the task to the calling process before f is called: async of Elixir. A crash of f ends the
// caller, too, unless it traps exits, and the task ends with the caller, unless that ends with the reason normal. An error
// that f returns is no crash. A goroutine that passes its node has no process to link to.
func GoLinked[R any](from node.Caller, sup node.Dest, f func(p *node.Process) (R, error)) *node.Future[R] {
	return start(from, sup, true, f)
}

// job is the request that starts a task for Go. The supervisor forwards it to the task, which answers it.
type job struct {
	link bool
	run  func(p *node.Process) (any, error) `isolation:"share"`
}

func start[R any](from node.Caller, sup node.Dest, link bool, f func(p *node.Process) (R, error)) *node.Future[R] {
	if t := from.Inside(process.Key{}).System().Target(sup); t.Node != "" {
		failed := &node.Future[R]{}
		from.Inside(process.Key{}).Failed(failed, fmt.Errorf("%w: %v is a supervisor of node %s", ErrNotLocal, sup, t.Node))
		return failed
	}
	return node.Async[R](from, sup, job{link, func(p *node.Process) (any, error) { return f(p) }})
}

// exits reports whether err, which is not nil, chooses an exit reason.
func exits(err error) bool {
	_, chosen := calls.ChosenReason(err)
	return chosen
}

// runJob is the process of a task for Go.
func runJob(p *node.Process, done *supervisor.Done) error {
	var r node.Request[any]
	p.ReceiveMatch(func(m any) (ok bool) {
		if r, ok = p.Node().AsRequest(m); ok {
			_, ok = r.Body.(job)
		}
		return ok
	})
	j, caller := r.Body.(job), r.Caller()
	linked := j.link && !caller.IsZero()
	if linked {
		p.Link(caller)
	}
	n, own := p.Node(), p.Inside(process.Key{}).Acting().Own()
	unlink := func() { // the caller wants the end, as by Task.shutdown; a dead process has told it
		if linked && !own.Gone() {
			own.Unlink(&own.System.Plain, caller)
		}
	}
	wanted := r.Context(p.Context())
	stop := context.AfterFunc(wanted, func() {
		unlink()
		n.Exit(own.PID(), node.Shutdown)
	})
	defer stop()
	v, err := any(nil), node.ExitWith(node.Shutdown)
	if wanted.Err() == nil {
		v, err = j.run(p)
	}
	if !stop() {
		unlink()
	}
	switch {
	case own.Gone(): // its end is the answer
	case err == nil:
		done.Tell()
		p.Reply(r.From, v)
	case exits(err):
		return err // which the caller gets as the exit of the process, after the supervisor
	default:
		done.Tell()
		r.Fail(err)
	}
	return nil
}

// label is that of a task's process.
const label = "task"

// child describes the process of a task.
func child(run node.ProcessFunc, stop time.Duration) *supervisor.Child {
	return &supervisor.Child{
		Start:   func(...any) (node.Actor, error) { return run, nil },
		Restart: supervisor.Temporary, Shutdown: stop,
		Modules: []node.Atom{supervised},
		Options: node.Options{Label: label},
	}
}

// job returns the task that a request of Go asks for, or nil.
func (o Options) job(request any, done *supervisor.Done) *supervisor.Child {
	if _, ok := request.(job); ok {
		return child(func(p *node.Process) error { return runJob(p, done) }, o.Stop)
	}
	return nil
}

func init() { values.Enter(ErrFull, ErrNotLocal) }
