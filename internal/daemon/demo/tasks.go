package demo

import (
	"errors"
	"time"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/node/rpc"
	"github.com/actornode/actornode/wire"
)

// tasks acts as a Task.Supervisor for Elixir callers on other nodes: it starts a process for each task and forgets it when
// it ends. A task calls the functions of this module which the node exports.
type tasks struct{ running []node.PID }

var taskServers = genserver.Define(
	genserver.OnAnyCall((*tasks).call),
	genserver.OnInfo((*tasks).ended),
)

// Init is part of genserver.Initializer: a task that crashes must not end the others.
func (s *tasks) Init(c *genserver.Context) error {
	c.TrapExit(true)
	return nil
}

func (s *tasks) call(c *genserver.Context, term any) (any, error) {
	switch t, _ := term.(wire.Tuple); {
	case term == wire.Atom("which_children"):
		l := wire.List{}
		for _, pid := range s.running {
			l = append(l, wire.Tuple{wire.AtomUndefined, pid, wire.Atom("worker"), wire.List{wire.Atom("Elixir.Task.Supervised")}})
		}
		return l, nil
	case term == wire.Atom("count_children"):
		n := len(s.running)
		return wire.List{count("specs", n), count("active", n), count("supervisors", 0), count("workers", n)}, nil
	case len(t) == 4 && t[0] == wire.Atom("start_task"):
		if task, ok := parseTask(t[1]); ok {
			pid, err := c.SpawnOpt(node.Options{Link: true}, node.ProcessFunc(task.run))
			if err != nil {
				return nil, err
			}
			s.running = append(s.running, pid)
			return wire.Tuple{wire.AtomOK, pid}, nil
		}
	case len(t) == 2 && t[0] == wire.Atom("terminate_child"):
		for _, pid := range s.running {
			if t[1] == any(pid) {
				c.Exit(pid, node.Shutdown)
				s.forget(pid)
				return wire.AtomOK, nil
			}
		}
		return wire.Tuple{wire.AtomError, wire.Atom("not_found")}, nil
	}
	return nil, &genserver.UnhandledError{Server: "tasks", Request: term}
}

func count(what wire.Atom, n int) wire.Tuple { return wire.Tuple{what, n} }

func (s *tasks) ended(c *genserver.Context, e node.Exited) error {
	if e.From.IsZero() { // the node stops
		c.Stop(e.Reason)
		return nil
	}
	s.forget(e.From)
	return nil
}

func (s *tasks) forget(pid node.PID) {
	for i, p := range s.running {
		if p == pid {
			s.running = append(s.running[:i:i], s.running[i+1:]...)
			return
		}
	}
}

// task holds the arguments of a task's process.
type task struct {
	owner   node.PID   // waits for the answer
	monitor bool       // end with the owner, until the task begins its call
	mfa     wire.Tuple // nil if a message names the function and the receiver of the answer
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
	return t, len(args) == 2
}

// patience is how long a task that monitors its owner waits for the message with its function, as in Elixir.
const patience = 5 * time.Second

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
			return d.Ref == ref
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
	return p.Send(to, wire.Tuple{what[1], v})
}

// apply calls a function exported by this module. As in OTP, an exception becomes an exit with it and its stack, which is
// empty here.
func apply(p *node.Process, mfa wire.Tuple) (any, error) {
	why := any(wire.Atom("undef"))
	if len(mfa) == 3 && mfa[0] == Module {
		function, _ := mfa[1].(wire.Atom)
		args, _ := wire.AsList(mfa[2])
		v, err := rpc.Apply(p.Context(), p.Node(), Module, function, args)
		switch {
		case err == nil:
			return v, nil
		case !errors.Is(err, rpc.ErrUndef):
			why = values.ErrorTerm(err)
		}
	}
	return nil, node.ExitWith(wire.Tuple{why, wire.List{}})
}
