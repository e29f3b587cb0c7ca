package node

import (
	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/wire"
)

// Words of module sys.
const (
	sysMessage wire.Atom = "system"
	getState   wire.Atom = "get_state"
	getStatus  wire.Atom = "get_status"
)

// kept is the behaviour of a service that does not answer system messages itself. It answers get_state and get_status
// as OTP's gen_server of that name does, and {error, protected} to all else, for services are protected. A behaviour
// states its state by a method State; without one the state is undefined.
type kept struct{ b Actor }

// keptActor returns the behaviour of a service that answers system messages.
func keptActor(b Actor, s *process.Kept[Actor]) Actor {
	if _, blocks := b.(ProcessFunc); blocks || b == nil || s.System {
		return b
	}
	return kept{b}
}

// Behaviour is for inbox.BehaviourOf: the process is called as the behaviour behind it is.
func (k kept) Behaviour() Actor { return k.b }

// Init is part of Initializer.
func (k kept) Init(c *Context) error {
	if i, ok := k.b.(Initializer); ok {
		return i.Init(c)
	}
	return nil
}

// Receive is part of Actor.
func (k kept) Receive(c *Context, msg any) error {
	if from, what, ok := c.Node().systemMessage(msg); ok {
		c.Node().answerSystem(from, what, k.answer(c, what))
		return nil
	}
	return k.b.Receive(c, msg)
}

// systemMessage reads a message of module sys, of this node or another: {system, From, What}.
func (n *Node) systemMessage(msg any) (from From, what any, ok bool) {
	by, msg := sentBy(msg)
	switch m := msg.(type) {
	case wire.Tuple:
		if len(m) == 3 && m[0] == sysMessage {
			from, ok = n.readFrom(by, m[1])
			return from, m[2], ok
		}
	case untyped:
		r := m.untyped()
		if l, labelled := r.Body.(calls.Labelled); labelled {
			label, what := l.Label()
			return r.From, what, label == sysMessage
		}
	}
	return From{}, nil, false
}

// answerSystem answers a system message. OTP 27 and newer want the state as {ok, State}.
func (n *Node) answerSystem(to From, what, reply any) {
	const okState = 27
	at := to.Caller().Node()
	answer := func() {
		if what == getState && to.isTerm() && n.release(at) >= okState {
			reply = wire.Tuple{wire.AtomOK, reply}
		}
		_ = to.Reply(reply)
	}
	if n.releaseKnown(at) {
		answer()
	} else {
		n.sys.Env.Go(answer) // ends with the answer of the other node, or some seconds later
	}
}

// answer is the answer to a system message.
func (k kept) answer(c *Context, what any) any {
	state := any(wire.AtomUndefined)
	if s, ok := k.b.(interface{ State() any }); ok {
		state = s.State()
	}
	running := wire.Atom("running")
	switch what {
	case getState:
		return state
	case getStatus:
		text := func(s string) any { return wire.Charlist(s) }
		data := func(pairs ...any) any { return wire.Tuple{wire.Atom("data"), wire.List(pairs)} }
		return wire.Tuple{wire.Atom("status"), c.Self(), wire.Tuple{wire.Atom("module"), wire.Atom("gen_server")}, wire.List{
			wire.List{}, running, c.Self(), wire.List{}, wire.List{
				wire.Tuple{wire.Atom("header"), text("Status for generic server " + string(c.Registered()))},
				data(wire.Tuple{text("Status"), running}, wire.Tuple{text("Parent"), c.Self()},
					wire.Tuple{text("Logged events"), wire.List{}}),
				data(wire.Tuple{text("State"), state}),
			},
		}}
	}
	return wire.Tuple{wire.AtomError, wire.Atom("protected")}
}
