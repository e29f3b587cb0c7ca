package tasks

import (
	"errors"
	"time"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/supervisor"
	"github.com/actornode/actornode/wire"
)

// supervised is the module of a task's process in Elixir.
const supervised wire.Atom = "Elixir.Task.Supervised"

// patience is how long a task that monitors its owner waits for the message with its function, as in Elixir.
const patience = 5 * time.Second

// task holds the arguments of a task's process.
type task struct {
	owner   node.PID   // waits for the answer
	monitor bool       // end with the owner, until the task begins its call
	mfa     wire.Tuple // nil if a message names the function and the receiver of the answer
	done    *supervisor.Done
}

// elixir returns the task for the Args of {start_task, Args, Restart, Shutdown}, or nil.
func (o Options) elixir(args any, done *supervisor.Done) *supervisor.Child {
	t, ok := parseTask(args)
	if !ok {
		return nil
	}
	t.done = done
	return child(t.run, o.Stop)
}

// parseTask reads [{Node, Name, Owner}, monitor | nomonitor] or [{Node, Name, Owner}, Callers, {M, F, Args}].
func parseTask(term any) (t task, ok bool) {
	args, _ := wire.AsList(term)
	if len(args) < 2 {
		return t, false
	}
	from, _ := args[0].(wire.Tuple)
	if len(from) != 3 {
		return t, false
	}
	if t.owner, ok = from[2].(node.PID); !ok {
		return t, false
	}
	if len(args) == 3 {
		t.mfa, ok = args[2].(wire.Tuple)
		return t, ok
	}
	t.monitor = args[1] == wire.Atom("monitor")
	return t, len(args) == 2 && (t.monitor || args[1] == wire.Atom("nomonitor"))
}

// run is the process of a task.
func (t task) run(p *node.Process) error {
	if t.mfa != nil {
		_, err := apply(p, t.mfa)
		return err
	}
	wait, ref := node.Infinity, node.Ref{}
	if t.monitor {
		wait, ref = patience, p.Monitor(t.owner)
	}
	// {Owner, Ref, ReplyTo, Callers, {M, F, Args}}
	m, err := p.ReceiveWithin(wait, func(m any) bool {
		if d, ok := m.(node.Down); ok {
			return t.monitor && d.Ref == ref
		}
		what, ok := m.(wire.Tuple)
		return ok && len(what) == 5 && what[0] == any(t.owner)
	})
	if err != nil {
		return node.ExitWith(wire.Atom("timeout"))
	}
	if d, ok := m.(node.Down); ok {
		return node.ExitWith(wire.Tuple{node.Shutdown, d.Reason})
	}
	if t.monitor {
		p.DemonitorFlush(ref)
	}
	what := m.(wire.Tuple)
	mfa, _ := what[4].(wire.Tuple)
	v, err := apply(p, mfa)
	if err != nil {
		return err
	}
	to, ok := what[2].(node.Dest) // a PID, or an alias
	if !ok {
		return node.ExitWith(wire.Atom("badarg"))
	}
	t.done.Tell()
	return p.Send(to, wire.Tuple{what[1], v})
}

// apply calls an exported function. An exception is the exit reason of the task, as in Elixir: an exit as it is, an error or
// what is thrown with its stack, which is empty here.
func apply(p *node.Process, mfa wire.Tuple) (any, error) {
	why := any(wire.Atom("undef"))
	if len(mfa) == 3 {
		module, _ := mfa[0].(wire.Atom)
		function, _ := mfa[1].(wire.Atom)
		args, _ := wire.AsList(mfa[2])
		v, err := rpc.Apply(p.Context(), p.Node(), module, function, args)
		switch {
		case err == nil:
			return v, nil
		case exits(err):
			return nil, err
		case !errors.Is(err, rpc.ErrUndef):
			why = values.ErrorTerm(err)
			if thrown, ok := calls.Thrown(err); ok {
				why = wire.Tuple{wire.Atom("nocatch"), thrown}
			}
		}
	}
	return nil, node.ExitWith(wire.Tuple{why, wire.List{}})
}
