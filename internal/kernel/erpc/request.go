package erpc

import (
	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// The functions that are started for a call and for a cast.
const (
	module      wire.Atom = "erpc"
	executeCall wire.Atom = "execute_call"
	executeCast wire.Atom = "execute_cast"
)

// Call returns the spawn that requests a node to call f. ref is that of the request and of the result.
func (f Function) Call(ref wire.Ref, leader wire.PID) *dist.Spawn {
	return &dist.Spawn{
		Module: module, Function: executeCall, Monitor: true, Leader: leader,
		Args: []any{ref, f.Module, f.Name, wire.List(f.Args)},
	}
}

// Cast returns the spawn that requests a node to call f without reporting the outcome.
func (f Function) Cast(leader wire.PID) *dist.Spawn {
	return &dist.Spawn{Module: module, Function: executeCast, Args: []any{f.Module, f.Name, wire.List(f.Args)}, Leader: leader}
}

// Spawn returns the spawn that requests a process from a node.
func (b Behaviour) Spawn(leader wire.PID) *dist.Spawn {
	return &dist.Spawn{Module: b.Module, Function: b.Name, Args: b.Args, Leader: leader}
}

// IsCast reports whether a spawn is a cast, whose loss is not reported.
func IsCast(s *dist.Spawn) bool { return s.Function == executeCast }

// Request is a request to execute_call or execute_cast.
type Request struct {
	Module, Function wire.Atom
	Args             []any
	// Bad reports that the function is invalid: its outcome is badarg.
	Bad  bool
	cast bool
	ref  any
	all  []any // the terms of module, function and arguments
}

// Asked returns the request in a spawn, and false if it requests something else.
func Asked(s *dist.Spawn) (r Request, ok bool) {
	r.all, r.cast = s.Args, s.Function == executeCast
	switch {
	case s.Module != module:
		return r, false
	case s.Function == executeCall && len(s.Args) == 4:
		r.ref, r.all = s.Args[0], s.Args[1:]
	case !r.cast || len(s.Args) != 3:
		return r, false
	}
	var ok1, ok2, ok3 bool
	r.Module, ok1 = r.all[0].(wire.Atom)
	r.Function, ok2 = r.all[1].(wire.Atom)
	r.Args, ok3 = wire.AsList(r.all[2])
	r.Bad = !ok1 || !ok2 || !ok3
	return r, true
}

// Refused returns the outcome of a request that was not run: badarg if it is Bad, otherwise undef.
func (r Request) Refused() Outcome {
	if r.Bad {
		return Outcome{wire.AtomError, wire.Atom("badarg"), Stack("erlang", "apply", r.all)}
	}
	return Undef(r.Module, r.Function, r.Args)
}

// End returns the error with which the process ends that has run the request, or nil for normal.
func (r Request) End(o Outcome) error {
	if r.cast {
		return o.Cast(r.all)
	}
	return o.Called(r.ref)
}
