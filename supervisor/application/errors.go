package application

import (
	"fmt"
	"strings"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Error describes a problem with an application or a request. Code, with OTP's word if there is one, determines the meaning
// of Name and Reason:
//
//	bad_spec          Load: what is wrong with the Spec is the Reason, as in OTP
//	already_loaded    Load of one that is loaded
//	not_loaded        Unload of one that is not loaded
//	running           Unload of one that runs
//	unknown           Start: no application of that name has been loaded
//	cycle             applications depend on one another in a circle: Reason is a []wire.Atom, whose
//	                  first name is the last, too
//	already_started   Start of one that runs
//	not_started       Stop of one that has not been started; Start of one that depends on Name
//	not_running       Start of one that depends on Name, which has ended
//	start_failed      Name has not started: Reason is what its start function has returned, or the
//	                  reason with which it has exited
//	application_start_failure
//	                  the controller has ended since Name could not start; Reason says why
//	application_terminated
//	                  the controller has ended since Name has exited with Reason
type Error struct {
	Code   wire.Atom
	Name   wire.Atom
	Reason any

	typ    RestartType // of the application that ended the controller
	exited bool        // start_failed: the process exited, instead of returning an error
}

const (
	badSpec      wire.Atom = "bad_spec"
	cycle        wire.Atom = "cycle"
	unknown      wire.Atom = "unknown"
	startFailed  wire.Atom = "start_failed"
	startFailure wire.Atom = "application_start_failure"
	terminated   wire.Atom = "application_terminated"
)

func bad(reason wire.Atom, value any) error {
	return &Error{Code: badSpec, Reason: wire.Tuple{reason, value}}
}

// wrongState returns the error for an application that is not in the state that a request requires.
func wrongState(code, name wire.Atom) error { return &Error{Code: code, Name: name} }

func inCircle(names []wire.Atom) error { return &Error{Code: cycle, Name: names[0], Reason: names} }

func (e *Error) Error() string {
	name := wire.Format(e.Name)
	switch e.Code {
	case badSpec:
		return "application: bad specification: " + sysmsg.Words(e.Reason)
	case unknown:
		return "application: no application is loaded with the name " + name
	case cycle:
		circle, _ := e.Reason.([]wire.Atom)
		names := make([]string, len(circle))
		for i, n := range circle {
			names[i] = wire.Format(n)
		}
		return "application: the dependencies form a cycle: " + strings.Join(names, " -> ")
	case startFailed:
		return fmt.Sprintf("application: %s did not start: %s", name, (&node.ExitError{Reason: e.Reason}).Error())
	case startFailure:
		return fmt.Sprintf("application: the %s application %s did not start: %s", e.typ, name, sysmsg.Words(e.Reason))
	case terminated:
		return fmt.Sprintf("application: the %s application %s ended: %s", e.typ, name, sysmsg.Words(e.Reason))
	}
	return fmt.Sprintf("application: %s: %s", e.Code, name)
}

// Unwrap returns the errors in Reason, such as the one returned by the start function or the Init of a child.
func (e *Error) Unwrap() error {
	switch e.Code {
	case startFailed, startFailure, terminated:
		return &node.ExitError{Reason: e.Reason}
	}
	return nil
}

// term returns the error as in OTP.
func (e *Error) term() any {
	switch e.Code {
	case badSpec:
		return e.Reason
	case unknown: // the file that OTP would look for
		return wire.Tuple{wire.Charlist("no such file or directory"), wire.Charlist(string(e.Name) + ".app")}
	case cycle:
		circle, _ := e.Reason.([]wire.Atom)
		return wire.Tuple{cycle, termof.Atoms(circle)}
	case startFailed:
		return e.failure()
	case startFailure, terminated:
		return wire.Tuple{e.Code, e.Name, e.Reason}
	}
	return wire.Tuple{e.Code, e.Name}
}

// failure returns {Reason, {Name, start, [normal, []]}}, or OTP's term for a start that has exited.
func (e *Error) failure() any {
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

// ensureError names the application that made EnsureAllStarted or StartAll fail.
type ensureError struct {
	name wire.Atom
	err  error
}

func (e *ensureError) Error() string {
	return fmt.Sprintf("application: starting %s: %v", wire.Format(e.name), e.err)
}

func (e *ensureError) Unwrap() error { return e.err }

func (e *ensureError) Term() any { return wire.Tuple{e.name, values.ErrorTerm(e.err)} }

func init() { termof.Enter((*Error).term) }
