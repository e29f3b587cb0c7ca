package sysmsg

import (
	"fmt"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/rpc"
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

// Server is a behaviour's interface for system messages. A panic in State, Replace, Status or ChangeCode is an error in the
// answer, as in OTP, and does not end the process. While the behaviour is suspended its Receive is not called: if its
// methods need a Context, it must be an [Enterer] too.
type Server interface {
	// Module returns the behaviour's name for get_status: gen_server, …
	Module() wire.Atom
	// State returns the state as a term.
	State() any
	// Replace replaces the state, or returns an error.
	Replace(state any) error
	// Status returns the last element of get_status, without the parts that System adds.
	Status() any
	// ChangeCode is called for a new version; an error means that the process cannot continue.
	ChangeCode(module wire.Atom, old, extra any) error
	// End ends the process in an orderly way; Receive returns its result.
	End(c *node.Context, reason any) error
}

// Enterer is a [Server] that must be notified while it is suspended.
type Enterer interface {
	// Enter is called before any other method while the server is suspended, with the currently valid Context.
	Enter(c *node.Context)
	// Resumed is called after the suspension, when the answer to the resume has been sent, before any waiting message is
	// handled: OTP's system_continue. Receive returns its result.
	Resumed(c *node.Context) error
}

// Request is one system message.
type Request struct {
	node.From
	What any

	quiet  bool // a terminate that is answered by the exit itself
	isTerm bool // from Erlang
}

// Command is a system message from Go: a call with a Command corresponds to {system, From, What} from Erlang. The reply is
// a term.
type Command struct {
	What any `isolation:"share"`

	Quiet bool // the caller waits for the exit, not for an answer
}

// Label implements calls.Labelled: another node gets {system, From, What}.
func (c Command) Label() (wire.Atom, any) { return system, c.What }

// DisplayName returns the name of a process in logs: its registered name, or its PID.
func DisplayName(p interface {
	Registered() wire.Atom
	Self() wire.PID
}) string {
	if name := p.Registered(); name != "" {
		return string(name)
	}
	return p.Self().String()
}

// IsStop reports whether an exit signal has no sender and the reason shutdown, like that of Node.Stop: a behaviour obeys it
// like a signal of its parent.
func IsStop(e node.Exited) bool { return e.From.IsZero() && e.Reason == node.Shutdown }

// Parse reads a system message of either kind.
func Parse(n *node.Node, msg any) (Request, bool) {
	switch m := msg.(type) {
	case node.Request[Command]:
		return Request{From: m.From, What: m.Body.What, quiet: m.Body.Quiet}, true
	case node.PeerMessage:
		if t, ok := m.Message.(wire.Tuple); ok && len(t) == 3 && t[0] == system {
			from, ok := n.Inside(process.Key{}).ReadFrom(m, t[1])
			return Request{From: from, What: t[2], isTerm: true}, ok
		}
	case wire.Tuple:
		if len(m) == 3 && m[0] == system {
			from, ok := n.Inside(process.Key{}).ReadFrom(nil, m[1])
			return Request{From: from, What: m[2], isTerm: true}, ok
		}
	}
	return Request{}, false
}

// System is a behaviour's state for system messages. The zero value works.
type System struct {
	// Alone is true if the process was started without a link, and so has no parent whose exit would end it: get_status
	// then shows the process as its own parent.
	Alone bool

	suspended bool
	debug     tools
}

// Handle answers a system message to srv, whose behaviour is running or was suspended by Handle. The behaviour's Receive
// must return its result.
//
// For a protected process ([node.Options].Protected), messages that arrive as terms, like those of other nodes, may only
// inspect it: get_state and get_status. All others are answered with {error, protected}. Go code of the program may do
// everything.
func (s *System) Handle(c *node.Context, srv Server, r Request) error {
	if refusal := r.refusal(c, srv); refusal != nil {
		c.Reply(r.From, refusal)
		return nil
	}
	if t, ok := r.What.(wire.Tuple); ok && len(t) == 2 && t[0] == terminate {
		if !r.quiet {
			c.Reply(r.From, wire.AtomOK)
		}
		return srv.End(c, t[1])
	}
	was := s.suspended
	if reply := s.command(c, srv, r.What); r.wrapped() {
		wrap(c.Node(), r.From, reply)
	} else {
		c.Reply(r.From, reply)
	}
	if e, ok := srv.(Enterer); ok && was && !s.suspended {
		return e.Resumed(c)
	}
	return nil
}

// refusal returns the answer to a forbidden request, or nil if it is allowed.
func (r Request) refusal(c *node.Context, srv Server) any {
	if !r.isTerm {
		return nil
	}
	if r.What != getState && r.What != getStatus && c.Node().Inside(process.Key{}).AskerOf(r.From).Protected(c.Self()) {
		return wire.Tuple{wire.AtomError, wire.Atom("protected")}
	}
	t, ok := r.What.(wire.Tuple)
	if !ok || len(t) != 2 || t[0] != replaceState {
		return nil
	}
	if f, ok := t[1].(wire.Export); ok && !r.From.Inside(process.Key{}).Allows(f) {
		return failed(srv, "system_replace_state", fmt.Errorf("%w: %v", rpc.ErrUndef, f))
	}
	return nil
}

// wrapped reports whether the answer depends on the caller: from OTP 27 on, get_state and replace_state are answered with
// {ok, State}.
func (r Request) wrapped() bool {
	if !r.isTerm {
		return false
	}
	if t, ok := r.What.(wire.Tuple); ok {
		return len(t) == 2 && t[0] == replaceState
	}
	return r.What == getState
}

// okState is the first OTP release that answers get_state with {ok, State}.
const okState = 27

// wrap answers a call for the state in the format of the caller's release.
func wrap(n *node.Node, to node.From, reply any) {
	at := to.Caller().Node()
	answer := func() {
		if t, ok := reply.(wire.Tuple); !ok || len(t) != 2 || t[0] != wire.AtomError {
			if n.Inside(process.Key{}).Release(at) >= okState {
				reply = wire.Tuple{wire.AtomOK, reply}
			}
		}
		to.Reply(reply)
	}
	if at == n.Name() || n.Inside(process.Key{}).ReleaseKnown(at) {
		answer()
	} else {
		go answer() // ends with the answer of the other node, or after some seconds
	}
}

func (s *System) command(c *node.Context, srv Server, what any) any {
	switch what {
	case suspend:
		if !s.suspended {
			s.suspended = true
			c.Push(waiting{s, srv})
		}
		return wire.AtomOK
	case resume:
		if s.suspended {
			s.suspended = false
			c.Unbecome()
		}
		return wire.AtomOK
	case getState:
		state, err := attempt(func() (any, error) { return srv.State(), nil })
		if err != nil {
			return failed(srv, "system_get_state", err)
		}
		return state
	case getStatus:
		return s.status(c, srv)
	}
	t, _ := what.(wire.Tuple)
	switch {
	case len(t) == 2 && t[0] == replaceState:
		state, err := attempt(func() (any, error) { return replace(c, srv, t[1]) })
		if err != nil {
			return failed(srv, "system_replace_state", err)
		}
		return state
	case len(t) == 2 && t[0] == debug:
		return s.debug.command(c, t[1])
	case len(t) == 4 && t[0] == changeCode && s.suspended:
		module, _ := t[1].(wire.Atom)
		if _, err := attempt(func() (any, error) { return nil, srv.ChangeCode(module, t[2], t[3]) }); err != nil {
			return wire.Tuple{wire.AtomError, values.ErrorTerm(err)}
		}
		return wire.AtomOK
	}
	return wire.Tuple{wire.AtomError, wire.Tuple{wire.Atom("unknown_system_msg"), what}}
}

// attempt runs code of a server whose panic must not end it.
func attempt(f func() (any, error)) (v any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %s", wire.Describe(cause, maxBrief))
		}
	}()
	return f()
}

// failed returns the answer when a server's own code has failed.
func failed(srv Server, function wire.Atom, err error) any {
	return wire.Tuple{wire.AtomError, wire.Tuple{wire.Atom("callback_failed"),
		wire.Tuple{srv.Module(), function}, wire.Tuple{wire.AtomError, values.ErrorTerm(err)}}}
}

// status returns {status, Pid, {module, Module}, [Dictionary, State, Parent, Debug, Status]}.
func (s *System) status(c *node.Context, srv Server) any {
	status, err := attempt(func() (any, error) { return srv.Status(), nil })
	if err != nil {
		status = failed(srv, "format_status", err)
	}
	return wire.Tuple{wire.Atom("status"), c.Self(), wire.Tuple{wire.Atom("module"), srv.Module()},
		wire.List{dictionary(c, srv), s.State(), s.parent(c), s.debug.list(c), status}}
}

// ServerStatus returns the Status of a gen_server, and of a supervisor, which is one in OTP: the three parts returned by
// format_status of gen_server. parent is the process itself if it was started without a link.
func (s *System) ServerStatus(c *node.Context, parent wire.PID, state any) wire.List {
	text := func(t string) any { return wire.Charlist(t) }
	return wire.List{
		wire.Tuple{wire.Atom("header"), text("Status for generic server " + DisplayName(c))},
		wire.Tuple{wire.Atom("data"), wire.List{
			wire.Tuple{text("Status"), s.State()},
			wire.Tuple{text("Parent"), parent},
			wire.Tuple{text("Logged events"), s.Logged()},
		}},
		wire.Tuple{wire.Atom("data"), wire.List{wire.Tuple{text("State"), state}}},
	}
}

// State returns running or suspended.
func (s *System) State() wire.Atom {
	if s != nil && s.suspended {
		return suspended
	}
	return running
}

// Logged returns the contents of the event log, for a Status.
func (s *System) Logged() wire.List {
	if s == nil || s.debug.log == nil {
		return wire.List{}
	}
	return s.debug.log.events()
}

// dictionary returns the dictionary of a process that was started by OTP.
func dictionary(c *node.Context, srv Server) wire.List {
	ancestors := wire.List{}
	if p := c.Parent(); !p.IsZero() {
		ancestors = wire.List{p}
	}
	module := srv.Module()
	if b, ok := srv.(node.BehaviourNamer); ok {
		module = wire.AtomOf(b.BehaviourName())
	}
	return wire.List{
		wire.Tuple{wire.Atom("$initial_call"), wire.Tuple{module, wire.Atom("init"), 1}},
		wire.Tuple{wire.Atom("$ancestors"), ancestors},
	}
}

// parent returns the parent as for a gen_server: the process itself if it was started without a link.
func (s *System) parent(c *node.Context) wire.PID {
	if p := c.Parent(); !s.Alone && !p.IsZero() {
		return p
	}
	return c.Self()
}

// replace applies f to the state: a Go function, or an exported one. Erlang's own funs cannot run here. It returns the new
// state.
func replace(c *node.Context, srv Server, f any) (state any, err error) {
	switch f := f.(type) {
	case func(any) (any, error):
		state, err = f(srv.State())
	case wire.Export:
		state, err = rpc.Apply(c.Context(), c.Node(), f.Module, f.Function, []any{srv.State()})
	default:
		err = fmt.Errorf("sys: %s is not a function that this node can run", Words(f))
	}
	if err == nil {
		err = srv.Replace(state)
	}
	if err != nil {
		return nil, err
	}
	return srv.State(), nil
}

// waiting is the behaviour of a suspended server: it handles only system messages and the exit of its parent.
type waiting struct {
	s   *System
	srv Server
}

// BehaviourName implements node.BehaviourNamer.
func (w waiting) BehaviourName() string { return fmt.Sprintf("%s (suspended)", w.srv.Module()) }

// Receive implements node.Actor.
func (w waiting) Receive(c *node.Context, msg any) error {
	r, ok := Parse(c.Node(), msg)
	e, exited := msg.(node.Exited)
	if exited = exited && (!w.s.Alone && e.From == c.Parent() || IsStop(e)); !ok && !exited {
		return node.ErrUnhandled
	}
	if srv, ok := w.srv.(Enterer); ok {
		srv.Enter(c)
	}
	if exited {
		return w.srv.End(c, e.Reason)
	}
	return w.s.Handle(c, w.srv, r)
}

func localtime(t time.Time) wire.Tuple {
	return wire.Tuple{
		wire.Tuple{t.Year(), int(t.Month()), t.Day()},
		wire.Tuple{t.Hour(), t.Minute(), t.Second()},
	}
}
