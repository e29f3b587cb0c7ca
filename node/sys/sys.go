package sys

import (
	"context"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// The words of the protocol; see sys in OTP's stdlib.
const (
	getState     wire.Atom = "get_state"
	replaceState wire.Atom = "replace_state"
	getStatus    wire.Atom = "get_status"
	suspend      wire.Atom = "suspend"
	resume       wire.Atom = "resume"
	terminate    wire.Atom = "terminate"
	changeCode   wire.Atom = "change_code"
	debug        wire.Atom = "debug"
)

// Interfaces that the state of a server (package genserver), the data of a state machine (statem) and an
// event handler (event) may implement for system messages.
type (
	// Stater shows the state to others: in answers to [GetState] and in logs. What it returns is a term, or any
	// value, of which all fields are shown; nothing may change it afterwards. Default: the state itself if it is a
	// term, else its type, or what its LogValue, Error or String says.
	Stater interface{ State() any }

	// StateSetter replaces the current state by another, a term: see
	// [ReplaceState]. Without it a server or machine takes only a value of the state's own
	// type, and an event handler takes none.
	StateSetter interface{ SetState(term any) error }

	// CodeChanger is called for a new version while its process is suspended: see
	// [ChangeCode]. The error says why it cannot go on. Default: no error. For an event
	// handler it is called only if module is its own.
	CodeChanger interface {
		CodeChange(module node.Atom, old, extra any) error
	}
)

// ask sends one command and returns the answer.
func ask(ctx context.Context, from node.Caller, to node.Dest, what any) (any, error) {
	reply, err := node.Call[any](ctx, from, to, sysmsg.Command{What: what})
	if err != nil {
		return nil, err
	}
	if t, ok := reply.(wire.Tuple); ok && len(t) == 2 && t[0] == wire.AtomError {
		return nil, &RefusedError{t[1]}
	}
	return reply, nil
}

// RefusedError is the answer {error, Reason} to a system message.
type RefusedError struct{ Reason any }

func (e *RefusedError) Error() string { return "sys: refused: " + sysmsg.Words(e.Reason) }

// GetState returns the state of a server as a term, see [Stater]. As in OTP, a state
// {error, Reason} cannot be told from a refusal. GetState and the functions below have the errors
// of [node.Call], and [*RefusedError].
func GetState(ctx context.Context, from node.Caller, to node.Dest) (any, error) {
	return ask(ctx, from, to, getState)
}

// ReplaceState replaces the state by f of it, both terms, and returns the new state. f
// runs in the server's process.
func ReplaceState(ctx context.Context, from node.Caller, to node.Dest, f func(any) (any, error)) (any, error) {
	return ask(ctx, from, to, wire.Tuple{replaceState, f})
}

// GetStatus returns {status, Pid, {module, Module}, [Dictionary, State, Parent,
// Debug, Status]}.
func GetStatus(ctx context.Context, from node.Caller, to node.Dest) (any, error) {
	return ask(ctx, from, to, getStatus)
}

// Suspend makes a server handle nothing but system messages until Resume.
func Suspend(ctx context.Context, from node.Caller, to node.Dest) error {
	_, err := ask(ctx, from, to, suspend)
	return err
}

// Resume ends what Suspend began.
func Resume(ctx context.Context, from node.Caller, to node.Dest) error {
	_, err := ask(ctx, from, to, resume)
	return err
}

// ChangeCode sends a suspended server a new version of its code. A running server
// refuses.
func ChangeCode(ctx context.Context, from node.Caller, to node.Dest, module wire.Atom, old, extra any) error {
	_, err := ask(ctx, from, to, wire.Tuple{changeCode, module, old, extra})
	return err
}

// Debug sends one of the debug commands of the package's table and returns the
// answer, {ok, Events} or {ok, Counts} for the two that get something. For
// example, the last ten events:
//
//	sys.Debug(ctx, n, pid, wire.Tuple{wire.Atom("log"), true})
//	sys.Debug(ctx, n, pid, wire.Tuple{wire.Atom("log"), wire.Atom("get")})
func Debug(ctx context.Context, from node.Caller, to node.Dest, what any) (any, error) {
	return ask(ctx, from, to, wire.Tuple{debug, what})
}

// Stop ends a server in an orderly way and waits until it is gone: proc_lib:stop
// of stdlib. Errors: [*node.ExitError] with the server's exit reason, if it is
// another, or noproc if there was no server; the error of ctx, after which the
// server may still end.
func Stop(ctx context.Context, from node.Caller, to node.Dest, reason any) error {
	pid, ok := from.Inside(process.Key{}).Resolve(to)
	if !ok {
		return &node.ExitError{Reason: node.NoProc}
	}
	// No reply: the call ends with the server, which says why it ended.
	_, err := node.Call[any](ctx, from, pid, sysmsg.Command{What: wire.Tuple{terminate, reason}, Quiet: true})
	if e, ok := err.(*node.ExitError); ok && ctx.Err() == nil && wire.Equal(e.Reason, reason) {
		return nil
	}
	return err
}
