package sys

import (
	"context"
	"fmt"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// The words of the protocol; see sys in OTP's stdlib.
const (
	system       wire.Atom = "system"
	getState     wire.Atom = "get_state"
	replaceState wire.Atom = "replace_state"
	getStatus    wire.Atom = "get_status"
	suspend      wire.Atom = "suspend"
	resume       wire.Atom = "resume"
	terminate    wire.Atom = "terminate"
	changeCode   wire.Atom = "change_code"
	debug        wire.Atom = "debug"
	running      wire.Atom = "running"
	suspended    wire.Atom = "suspended"
)

// Server is a behaviour as system messages see it.
type Server interface {
	// Module is what get_status calls the behaviour: gen_server, …
	Module() wire.Atom
	// State is the state as a term.
	State() any
	// Replace puts another state in place; the error says why it cannot.
	Replace(state any) error
	// Status is the last element of get_status, without what System adds.
	Status() any
	// ChangeCode is told of a new version; the error says why it cannot go on.
	ChangeCode(module wire.Atom, old, extra any) error
	// End ends the process in an orderly way: what it returns, Receive returns.
	End(c *node.Context, reason any) error
}

// Request is one system message.
type Request struct {
	node.From
	What any
}

// Command is a system message on its way from Go: a call with a Command in it is
// what {system, From, What} is from Erlang.
type Command struct{ What any }

// Parse reads a system message of either kind.
func Parse(n *node.Node, msg any) (Request, bool) {
	switch m := msg.(type) {
	case node.Request[Command]:
		return Request{m.From, m.Body.What}, true
	case wire.Tuple:
		if len(m) == 3 && m[0] == system {
			from, ok := n.ReadFrom(m[1])
			return Request{from, m[2]}, ok
		}
	}
	return Request{}, false
}

// System is what a behaviour keeps for system messages. The zero value works.
type System struct {
	suspended bool
	debug     tools
}

// Handle answers a system message to srv, whose behaviour is running or, by way
// of Handle, suspended. What it returns, the behaviour's Receive must return.
func (s *System) Handle(c *node.Context, srv Server, r Request) error {
	reply, err := s.command(c, srv, r.What)
	c.Reply(r.From, reply)
	return err
}

func (s *System) command(c *node.Context, srv Server, what any) (reply any, err error) {
	switch what {
	case suspend:
		if !s.suspended {
			s.suspended = true
			c.Push(waiting{s, srv})
		}
		return wire.OK, nil
	case resume:
		if s.suspended {
			s.suspended = false
			c.Unbecome()
		}
		return wire.OK, nil
	case getState:
		return srv.State(), nil
	case getStatus:
		return s.status(c, srv), nil
	}
	t, _ := what.(wire.Tuple)
	switch {
	case len(t) == 2 && t[0] == replaceState:
		return replace(c, srv, t[1]), nil
	case len(t) == 2 && t[0] == terminate:
		return wire.OK, srv.End(c, t[1])
	case len(t) == 2 && t[0] == debug:
		return s.debug.command(c, t[1]), nil
	case len(t) == 4 && t[0] == changeCode && s.suspended:
		module, _ := t[1].(wire.Atom)
		if err := srv.ChangeCode(module, t[2], t[3]); err != nil {
			return wire.Tuple{wire.Error, node.ErrorTerm(err)}, nil
		}
		return wire.OK, nil
	}
	return wire.Tuple{wire.Error, wire.Tuple{wire.Atom("unknown_system_msg"), what}}, nil
}

// status is {status, Pid, {module, Module}, [Dictionary, State, Parent, Debug, Status]}.
func (s *System) status(c *node.Context, srv Server) any {
	return wire.Tuple{wire.Atom("status"), c.Self(), wire.Tuple{wire.Atom("module"), srv.Module()},
		wire.List{s.dictionary(c), s.State(), parent(c), s.debug.list(), srv.Status()}}
}

// State returns running or suspended.
func (s *System) State() wire.Atom {
	if s != nil && s.suspended {
		return suspended
	}
	return running
}

// Logged returns what the event log holds, for a Status.
func (s *System) Logged() wire.List {
	if s == nil || s.debug.log == nil {
		return wire.List{}
	}
	return s.debug.log.events()
}

// dictionary is what a process started by OTP would have in its dictionary.
func (s *System) dictionary(c *node.Context) wire.List {
	ancestors := wire.List{}
	if p := c.Parent(); !p.IsZero() {
		ancestors = wire.List{p}
	}
	return wire.List{wire.Tuple{wire.Atom("$ancestors"), ancestors}}
}

func parent(c *node.Context) wire.PID {
	if p := c.Parent(); !p.IsZero() {
		return p
	}
	return c.Self() // as for a gen_server that was started without a link
}

// replace applies f to the state: a Go function, or an exported one. Erlang's own
// funs cannot be run here.
func replace(c *node.Context, srv Server, f any) any {
	var state any
	var err error
	switch f := f.(type) {
	case func(any) (any, error):
		state, err = f(srv.State())
	case wire.Export:
		state, err = c.Node().Apply(c.Context(), f.Module, f.Function, []any{srv.State()})
	default:
		err = fmt.Errorf("sys: %s is not a function that this node can run", wire.Format(f))
	}
	if err == nil {
		err = srv.Replace(state)
	}
	if err != nil {
		return wire.Tuple{wire.Error, wire.Tuple{wire.Atom("callback_failed"), f, wire.Tuple{wire.Error, node.ErrorTerm(err)}}}
	}
	return srv.State()
}

// waiting is the behaviour of a server that is suspended: nothing but system
// messages and the death of its parent.
type waiting struct {
	s   *System
	srv Server
}

// BehaviourName is part of what node.Info shows.
func (w waiting) BehaviourName() string { return fmt.Sprintf("%s (suspended)", w.srv.Module()) }

// Receive is part of node.Actor.
func (w waiting) Receive(c *node.Context, msg any) error {
	if r, ok := Parse(c.Node(), msg); ok {
		return w.s.Handle(c, w.srv, r)
	}
	if e, ok := msg.(node.Exited); ok && e.From == c.Parent() {
		return w.srv.End(c, e.Reason)
	}
	return node.Unhandled
}

func localtime(t time.Time) wire.Tuple {
	return wire.Tuple{
		wire.Tuple{t.Year(), int(t.Month()), t.Day()},
		wire.Tuple{t.Hour(), t.Minute(), t.Second()},
	}
}

// ask sends one command and returns the answer.
func ask[T node.Dest](ctx context.Context, from node.Caller, to T, what any) (any, error) {
	reply, err := node.Call[any](ctx, from, to, Command{what})
	if err != nil {
		return nil, err
	}
	if t, ok := reply.(wire.Tuple); ok && len(t) == 2 && t[0] == wire.Error {
		return nil, &RefusedError{t[1]}
	}
	return reply, nil
}

// RefusedError is the answer {error, Reason} to a system message.
type RefusedError struct{ Reason any }

func (e *RefusedError) Error() string { return "sys: refused: " + wire.FormatPlain(e.Reason) }

// GetState returns the state of a server as a term.
func GetState[T node.Dest](ctx context.Context, from node.Caller, to T) (any, error) {
	return ask(ctx, from, to, getState)
}

// ReplaceState puts f of the state in its place and returns it.
func ReplaceState[T node.Dest](ctx context.Context, from node.Caller, to T, f func(any) (any, error)) (any, error) {
	return ask(ctx, from, to, wire.Tuple{replaceState, f})
}

// GetStatus returns {status, Pid, {module, Module}, [Dictionary, State, Parent,
// Debug, Status]}.
func GetStatus[T node.Dest](ctx context.Context, from node.Caller, to T) (any, error) {
	return ask(ctx, from, to, getStatus)
}

// Suspend makes a server handle nothing but system messages until Resume.
func Suspend[T node.Dest](ctx context.Context, from node.Caller, to T) error {
	_, err := ask(ctx, from, to, suspend)
	return err
}

// Resume ends what Suspend began.
func Resume[T node.Dest](ctx context.Context, from node.Caller, to T) error {
	_, err := ask(ctx, from, to, resume)
	return err
}

// ChangeCode tells a suspended server of a new version of its code.
func ChangeCode[T node.Dest](ctx context.Context, from node.Caller, to T, module wire.Atom, old, extra any) error {
	_, err := ask(ctx, from, to, wire.Tuple{changeCode, module, old, extra})
	return err
}

// Debug sends one of the debug commands: {log, true}, {log, {true, N}}, {log,
// get}, {log, false}, {statistics, true}, {statistics, get}, {statistics,
// false}, {trace, true}, {trace, false}, no_debug. It returns the answer.
func Debug[T node.Dest](ctx context.Context, from node.Caller, to T, what any) (any, error) {
	return ask(ctx, from, to, wire.Tuple{debug, what})
}

// Stop ends a server in an orderly way and waits until it is gone. The reason
// that it gave in the end, if another, is in the *node.ExitError: proc_lib:stop.
func Stop[T node.Dest](ctx context.Context, from node.Caller, to T, reason any) error {
	pid, ok := node.Resolve(from, to)
	if !ok {
		return &node.ExitError{Reason: node.NoProc}
	}
	if _, err := ask(ctx, from, pid, wire.Tuple{terminate, reason}); err != nil {
		if e, ok := err.(*node.ExitError); !ok || !wire.Equal(e.Reason, reason) {
			return err
		}
		return nil
	}
	got, err := node.AwaitExit(ctx, from, pid)
	if err == nil && got != node.NoProc && !wire.Equal(got, reason) {
		err = &node.ExitError{Reason: got}
	}
	return err
}
