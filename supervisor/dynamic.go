package supervisor

import (
	"sync/atomic"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Dynamic is for packages of this module: what a supervisor starts on request, besides what any supervisor does. Its
// functions must not block.
type Dynamic struct {
	Max  int   // children at once that are not done, running or waiting for their restart; 0: no limit
	Full error // the answer to a request beyond Max; for Elixir max_children
	// Job returns the child that a request of Go asks for, or nil for any other request. The request is forwarded to the
	// child, which answers it. The child tells done before it answers.
	Job func(body any, done *Done) *Child `isolation:"share"`
	// Task returns the child for the Args of {start_task, Args, Restart, Shutdown}, a request of Elixir, with the defaults
	// for Restart and Shutdown, or nil if Args are not those of a task. The answer is {ok, PID}. The child tells done before
	// it sends its result.
	Task func(args any, done *Done) *Child `isolation:"share"`

	done *atomic.Int64 // children that are done and have not been forgotten
}

// Done is for packages of this module: how a child of a Dynamic says that its work is done. From then on it does not count
// toward Max, though its process ends a moment later. So a caller that knows the result of one child can start another.
//
//	open ──Tell──► told ──its process has ended──► closed, and counted no more
//	  └────────────its process has ended─────────► closed
type Done struct {
	state atomic.Uint32
	count *atomic.Int64 // of the Dynamic, which a told Done is part of
}

// The states of a Done.
const (
	doneOpen = iota
	doneTold
	doneClosed
)

// Tell says that the work is done. Any goroutine may call it, several times, and when the process has ended. A nil Done
// does nothing.
func (d *Done) Tell() {
	if d == nil {
		return
	}
	d.count.Add(1) // first, so that close subtracts what has been added
	if !d.state.CompareAndSwap(doneOpen, doneTold) {
		d.count.Add(-1)
	}
}

// close ends the part of d in the count.
func (d *Done) close() {
	if d != nil && d.state.Swap(doneClosed) == doneTold {
		d.count.Add(-1)
	}
}

// NewDynamic is for packages of this module: New of a supervisor that works like a dynamic supervisor of Elixir. When it ends,
// all children get their exit signals at once, and each has the time of its own Shutdown.
func NewDynamic(_ process.Key, s Spec, d Dynamic) node.Actor {
	d.done = new(atomic.Int64)
	return &supervisor{spec: s, dynamic: &d}
}

// read returns the child that a request asks for, or nil if that is for the supervisor itself. pass says that the child
// answers it.
func (d *Dynamic) read(body any) (k *Child, pass bool, err error) {
	if d == nil {
		return nil, false, nil
	}
	var done *Done
	if d.Max > 0 {
		done = &Done{count: d.done}
	}
	if k = d.Job(body, done); k != nil {
		k.done = done
		return k, true, nil
	}
	t, _ := body.(wire.Tuple)
	if len(t) != 4 || t[0] != aStartTask {
		return nil, false, nil
	}
	if k = d.Task(t[1], done); k == nil {
		return nil, false, nil
	}
	k.done = done
	ok := true
	if !isNil(t[2]) {
		if k.Restart, ok = read(t[2], restarts); !ok {
			return k, false, bad("invalid_restart_type", t[2])
		}
	}
	if !isNil(t[3]) {
		if k.Shutdown, ok = parseShutdown(t[3]); !ok {
			return k, false, bad("invalid_shutdown", t[3])
		}
	}
	if k.Restart != Temporary {
		k.done.close() // it may be started again
	}
	return k, false, nil
}

// isNil reports whether a term is Elixir's nil, or says the same in Erlang.
func isNil(term any) bool { return term == wire.Atom("nil") || term == wire.AtomUndefined }

// addRead starts a child without an ID that r asks for.
func (s *supervisor) addRead(k Child, r node.Request[any], done answer) error {
	if d := s.dynamic; d.Max != 0 && s.children.n-int(d.done.Load()) >= d.Max {
		return done.fail(d.Full)
	}
	k.ID = wire.AtomUndefined
	k.Options.For = r.From.Inside(process.Key{}).MadeBy()
	return s.add(k, true, done)
}

// forward leaves the answer to a child that has started. If its caller has given up, the child has nothing to do.
func (a answer) forward(pid node.PID) {
	if err := node.Forward(a.s.c, *a.pass, pid); err != nil {
		a.s.c.Exit(pid, node.Shutdown)
		a.to.Fail(err)
	}
}
