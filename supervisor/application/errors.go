package application

import (
	"fmt"
	"strings"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// StateError says that an application is not in the state that a request needs.
// What is OTP's name for it:
//
//	already_started   Start of one that runs
//	not_started       Stop of one that has not been started; Start of one that depends on Name
//	not_running       Start of one that depends on Name, which has ended
//	already_loaded    Load of one that is loaded
//	not_loaded        Unload of one that is not loaded
//	running           Unload of one that runs
type StateError struct {
	What wire.Atom
	Name wire.Atom
}

func (e *StateError) Error() string {
	return fmt.Sprintf("application: %s: %s", e.What, wire.Format(e.Name))
}

// term is {What, Name}.
func (e *StateError) term() any { return wire.Tuple{e.What, e.Name} }

// UnknownError says that no application of that name has been loaded.
type UnknownError struct{ Name wire.Atom }

func (e *UnknownError) Error() string {
	return "application: no application is loaded with the name " + wire.Format(e.Name)
}

// term is {"no such file or directory", "Name.app"}: where OTP would look.
func (e *UnknownError) term() any {
	return wire.Tuple{wire.Charlist("no such file or directory"), wire.Charlist(string(e.Name) + ".app")}
}

// CycleError says that applications depend on one another in a circle. The first
// of Cycle is the last, too.
type CycleError struct{ Cycle []wire.Atom }

func (e *CycleError) Error() string {
	names := make([]string, len(e.Cycle))
	for i, n := range e.Cycle {
		names[i] = wire.Format(n)
	}
	return "application: the dependencies form a cycle: " + strings.Join(names, " -> ")
}

// term is {cycle, [Name]}.
func (e *CycleError) term() any { return wire.Tuple{wire.Atom("cycle"), wire.Atoms(e.Cycle)} }

// StartError says why an application has not started: what its start function
// has returned, or the reason with which it has exited.
type StartError struct {
	Name   wire.Atom
	Reason any // an exit reason
	exited bool
}

func (e *StartError) Error() string {
	return fmt.Sprintf("application: %s did not start: %s", wire.Format(e.Name), (&node.ExitError{Reason: e.Reason}).Error())
}

// term is {Reason, {Name, start, [normal, []]}}, or what OTP makes of a start that
// has exited.
func (e *StartError) term() any {
	mfa := wire.Tuple{e.Name, wire.Atom("start"), wire.List{node.Normal, wire.List{}}}
	exit := wire.Tuple{wire.Atom("EXIT"), e.Reason}
	switch {
	case !e.exited:
		return wire.Tuple{e.Reason, mfa}
	case e.Reason == node.Normal:
		return wire.Tuple{exit, mfa}
	}
	return wire.Tuple{wire.Atom("bad_return"), wire.Tuple{mfa, exit}}
}

// EnsureError says which application has kept [Controller.EnsureAllStarted] and
// [Controller.StartAll] from starting them all.
type EnsureError struct {
	Name wire.Atom
	Err  error
}

func (e *EnsureError) Error() string {
	return fmt.Sprintf("application: starting %s: %v", wire.Format(e.Name), e.Err)
}

// Unwrap returns Err.
func (e *EnsureError) Unwrap() error { return e.Err }

// term is {Name, Reason}.
func (e *EnsureError) term() any { return wire.Tuple{e.Name, node.ErrorTerm(e.Err)} }

// EndedError says that an application has taken all others down.
type EndedError struct {
	Name    wire.Atom
	Type    Type
	Reason  any  // its exit reason
	Started bool // false: it could not start
}

func (e *EndedError) Error() string {
	verb := "ended"
	if !e.Started {
		verb = "did not start"
	}
	return fmt.Sprintf("application: the %s application %s %s: %s", e.Type, wire.Format(e.Name), verb, sysmsg.Brief(e.Reason))
}

// term is {application_terminated | application_start_failure, Name, Reason}: the
// reason with which OTP's application controller ends.
func (e *EndedError) term() any {
	what := wire.Atom("application_terminated")
	if !e.Started {
		what = "application_start_failure"
	}
	return wire.Tuple{what, e.Name, e.Reason}
}

func init() {
	termof.Enter((*StateError).term)
	termof.Enter((*UnknownError).term)
	termof.Enter((*CycleError).term)
	termof.Enter((*StartError).term)
	termof.Enter((*EnsureError).term)
	termof.Enter((*EndedError).term)
}
