package supervisor

import (
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Dynamic is for packages of this module: what a supervisor starts on request, besides what any supervisor does. Its
// functions must not block.
type Dynamic struct {
	Max  int   // children at once, running or waiting for their restart; 0: no limit
	Full error // the answer to a request beyond Max; for Elixir max_children
	// Job returns the child that a request of Go asks for, or nil for any other request. The request is forwarded to the
	// child, which answers it.
	Job func(body any) *Child `isolation:"share"`
	// Task returns the child for the Args of {start_task, Args, Restart, Shutdown}, a request of Elixir, with the defaults
	// for Restart and Shutdown; nil: it is none. The answer is {ok, PID}.
	Task func(args any) *Child `isolation:"share"`
}

// NewDynamic is for packages of this module: New of a supervisor that works like a dynamic supervisor of Elixir. When it ends,
// all children get their exit signals at once, and each has the time of its own Shutdown.
func NewDynamic(_ process.Key, s Spec, d Dynamic) node.Actor {
	return &supervisor{spec: s, dynamic: &d}
}

// read returns the child that a request asks for, or nil if that is for the supervisor itself. pass says that the child
// answers it.
func (d *Dynamic) read(body any) (k *Child, pass bool, err error) {
	if d == nil {
		return nil, false, nil
	}
	if k = d.Job(body); k != nil {
		return k, true, nil
	}
	t, _ := body.(wire.Tuple)
	if len(t) != 4 || t[0] != aStartTask {
		return nil, false, nil
	}
	if k = d.Task(t[1]); k == nil {
		return nil, false, nil
	}
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
	return k, false, nil
}

// isNil reports whether a term is Elixir's nil, or says the same in Erlang.
func isNil(term any) bool { return term == wire.Atom("nil") || term == wire.AtomUndefined }

// addRead starts a child without an ID that r asks for.
func (s *supervisor) addRead(k Child, r node.Request[any], done answer) error {
	if d := s.dynamic; d.Max != 0 && s.children.n >= d.Max {
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
