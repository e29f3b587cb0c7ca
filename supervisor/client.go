package supervisor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/actornode/actornode/internal/wire/termof"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Errors that a supervisor may return, with OTP's names.
var (
	ErrNotFound       = errors.New("supervisor: not_found: there is no such child")
	ErrRunning        = errors.New("supervisor: running: the child is already running")
	ErrRestarting     = errors.New("supervisor: restarting: the child is waiting to be restarted")
	ErrAlreadyPresent = errors.New("supervisor: already_present: a child with this id exists but does not run")
	ErrSimple         = errors.New("supervisor: simple_one_for_one: the request does not apply to the children of a " +
		"simple_one_for_one supervisor")
	// ErrNotAllowed is returned to a node that is not an operator, if it requests the end of a child that this node has
	// started.
	ErrNotAllowed = errors.New("supervisor: not_allowed: only nodes that operate this one do that to children of its own")
	ErrNotSimple  = errors.New("supervisor: only a simple_one_for_one supervisor starts children from arguments")
)

var errAnswer = errors.New("supervisor: unknown answer")

// AlreadyStartedError reports that the child already exists and is running.
type AlreadyStartedError struct{ PID node.PID }

func (e *AlreadyStartedError) Error() string {
	return fmt.Sprintf("supervisor: already_started: the child already runs as %v", e.PID)
}

// term returns {already_started, Pid}.
func (e *AlreadyStartedError) term() any { return wire.Tuple{aAlreadyStarted, e.PID} }

// StartError reports why a child has not started. errors.Is and errors.As find the error returned by its Init or Start, and
// [node.ErrNameTaken] and an [*AlreadyStartedError] if another process has its name.
type StartError struct {
	ID      any // of the child; nil if unknown
	Reason  any // an exit reason
	child   *Child
	dynamic bool
	exit    *node.ExitError // of the supervisor, if it has not started; else nil
}

func (e *StartError) Error() string {
	exit := e.exit
	if exit == nil {
		exit = failedToStart(cmp.Or[any](e.ID, wire.AtomUndefined), e.Reason)
	}
	return "supervisor: " + strings.TrimPrefix(exit.Error(), "node: the process exited: shutdown: ")
}

// failedToStart returns the exit of a supervisor whose child has not started.
func failedToStart(id, reason any) *node.ExitError {
	return &node.ExitError{Reason: wire.Tuple{node.Shutdown, wire.Tuple{aFailedToStartChild, id, reason}}}
}

// Unwrap returns the wrapped errors.
func (e *StartError) Unwrap() []error {
	if e.exit != nil {
		return []error{e.exit}
	}
	all := []error{&node.ExitError{Reason: e.Reason}}
	if pid, ok := alreadyStarted(e.Reason); ok {
		all = append(all, &AlreadyStartedError{pid})
	}
	return all
}

// Start starts a supervisor and waits until its children have started. With
// Options.Link and a process as the caller it is start_link. Errors: those of [node.SpawnWait]; a [*StartError] if a child
// has failed, and a [*SpecError] if the Spec is invalid. Both wrap an *node.ExitError with OTP's reason: {shutdown,
// {failed_to_start_child, ID, Reason}}, or {start_spec, Reason} and the like.
func Start(ctx context.Context, from node.Caller, s Spec, o node.Options) (node.PID, error) {
	o.ShowPeer = true // for Distribution.Access.Allow
	pid, err := node.SpawnWait(ctx, from, o, New(s))
	if exit, ok := err.(*node.ExitError); ok {
		err = s.notStarted(exit)
	}
	return pid, err
}

// notStarted converts the exit of a supervisor that has not started to a SpecError or StartError.
func (s *Spec) notStarted(exit *node.ExitError) error {
	t, ok := exit.Reason.(wire.Tuple)
	if !ok || len(t) != 2 {
		return exit
	}
	switch t[0] {
	case node.Shutdown:
		if failed, ok := t[1].(wire.Tuple); ok && len(failed) == 3 && failed[0] == aFailedToStartChild {
			return &StartError{ID: failed[1], Reason: failed[2], exit: exit}
		}
	case aSupervisorData, aStartSpec, aBadStartSpec:
		e := &SpecError{Reason: t[1]}
		if why, ok := CheckSpecs(s.Children, s.AutoShutdown).(*SpecError); ok && t[0] == aStartSpec {
			e = why
		}
		e.exit = exit
		return e
	}
	return exit
}

// StartChild adds a child and starts it. The PID is zero if its Init or Start has returned node.ErrIgnore. For a supervisor
// on another node the child must use Named, without Options and Backoff. Errors: [*SpecError], [*AlreadyStartedError],
// [ErrAlreadyPresent], [*StartError], and those of [node.Call].
func StartChild(ctx context.Context, from node.Caller, sup node.Dest, k Child) (node.PID, error) {
	if err := k.travels(from, sup); err != nil {
		return node.PID{}, err
	}
	return ask(ctx, from, sup, startChild{child: k}, readPID)
}

// StartDynamic starts a child of a SimpleOneForOne supervisor with arguments for
// its Start and its NameOf. The PID is zero if its Init or Start has returned node.ErrIgnore. Errors: [*StartError], in which
// errors.Is finds [node.ErrNameTaken], and errors.As an [*AlreadyStartedError] with the PID of the process that has the name;
// [ErrNotSimple], and those of [node.Call].
func StartDynamic(ctx context.Context, from node.Caller, sup node.Dest, args ...any) (node.PID, error) {
	return started(ask(ctx, from, sup, startDynamic{args}, readPID))
}

// TerminateChild stops a child, by its ID, or by its PID for SimpleOneForOne. RestartChild can restart it, unless it is
// Temporary. Errors: [ErrNotFound], [ErrSimple], [ErrNotAllowed], and those of [node.Call].
func TerminateChild(ctx context.Context, from node.Caller, sup node.Dest, id any) error {
	_, err := ask(ctx, from, sup, terminateChild{id}, readOK)
	return err
}

// RestartChild starts a stopped child. Errors: [ErrNotFound], [ErrRunning], [ErrRestarting], [ErrSimple], [*StartError],
// and those of [node.Call].
func RestartChild(ctx context.Context, from node.Caller, sup node.Dest, id any) (node.PID, error) {
	return ask(ctx, from, sup, restartChild{id}, readPID)
}

// DeleteChild removes a stopped child. Errors: [ErrNotFound], [ErrRunning], [ErrRestarting], [ErrSimple], [ErrNotAllowed],
// and those of [node.Call].
func DeleteChild(ctx context.Context, from node.Caller, sup node.Dest, id any) error {
	_, err := ask(ctx, from, sup, deleteChild{id}, readOK)
	return err
}

// ChildSpec returns the description of a child, with defaults filled in. Errors: [ErrNotFound], and those of [node.Call].
func ChildSpec(ctx context.Context, from node.Caller, sup node.Dest, id any) (Child, error) {
	return ask(ctx, from, sup, getChildSpec{id}, readChild)
}

// WhichChildren lists the children, the last started first. For a supervisor on another node Restarts is not set.
func WhichChildren(ctx context.Context, from node.Caller, sup node.Dest) ([]ChildInfo, error) {
	return ask(ctx, from, sup, whichChildren{}, readChildren)
}

// CountChildren counts the children.
func CountChildren(ctx context.Context, from node.Caller, sup node.Dest) (Counts, error) {
	return ask(ctx, from, sup, countChildren{}, readCounts)
}

func init() {
	termof.Enter((*AlreadyStartedError).term)
}
