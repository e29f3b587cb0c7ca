package sys

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Answer returns an actor that does what b does and also answers system messages, as
// the servers of this module and OTP's special processes do. b does not see them. They use
// of b:
//
//	get_state             b itself, as a term; what State returns if b is a [Stater]
//	replace_state         SetState, if b is a [StateSetter]; else the answer is an error
//	change_code           CodeChange, if b is a [CodeChanger]; else the answer is ok
//	terminate             nothing: the process ends with the reason
//
// While the process is suspended, b gets no message. The exit of the parent, as a message to a
// process that traps exits, ends a suspended process.
//
// b may be a [node.Initializer] and a [node.BehaviourNamer]. After [node.Context.Become] the new
// actor gets the system messages: pass Answer of it to Become. A
// ProcessFunc cannot be wrapped, as it takes its messages itself: the process ends.
func Answer(b node.Actor) node.Actor {
	a := &answerer{b: b}
	if _, ok := b.(node.Initializer); ok {
		return initialized{a}
	}
	return a
}

// answerer is an actor and its state for system messages.
type answerer struct {
	b   node.Actor
	sys sysmsg.System
}

// initialized is an answerer for an Initializer.
type initialized struct{ *answerer }

// Init is part of node.Initializer.
func (i initialized) Init(c *node.Context) error { return i.b.(node.Initializer).Init(c) }

// BehaviourName is part of node.BehaviourNamer.
func (a *answerer) BehaviourName() string {
	if n, ok := a.b.(node.BehaviourNamer); ok {
		return n.BehaviourName()
	}
	return fmt.Sprintf("%T", a.b)
}

// Receive is part of node.Actor.
func (a *answerer) Receive(c *node.Context, msg any) error {
	if r, ok := sysmsg.Parse(c.Node(), msg); ok {
		return a.sys.Handle(c, a, r)
	}
	if !a.sys.Debugging() {
		return a.b.Receive(c, msg)
	}
	a.sys.In(c, msg)
	err := a.b.Receive(c, msg)
	if err == nil && a.sys.Watched() {
		a.sys.NoReply(c, a.shown())
	}
	return err
}

// shown is State, and survives a panic of the behaviour.
func (a *answerer) shown() (state any) {
	if crash := sysmsg.Guard(func() { state = a.State() }); crash != nil {
		return crash.Error()
	}
	return state
}

// Module is part of sysmsg.Server.
func (a *answerer) Module() wire.Atom { return wire.AtomOf(a.BehaviourName()) }

// State is part of sysmsg.Server.
func (a *answerer) State() any {
	if s, ok := a.b.(Stater); ok {
		return sysmsg.Given(s.State())
	}
	return sysmsg.Term(a.b)
}

// errNoSetState is the answer to replace_state of an actor without SetState.
var errNoSetState = errors.New("sys: the actor's type has no method SetState(any) error")

// Replace is part of sysmsg.Server.
func (a *answerer) Replace(state any) error {
	if s, ok := a.b.(StateSetter); ok {
		return s.SetState(state)
	}
	return errNoSetState
}

// Status is part of sysmsg.Server: the state.
func (a *answerer) Status() any { return a.State() }

// ChangeCode is part of sysmsg.Server.
func (a *answerer) ChangeCode(module wire.Atom, old, extra any) error {
	if s, ok := a.b.(CodeChanger); ok {
		return s.CodeChange(module, old, extra)
	}
	return nil
}

// End is part of sysmsg.Server.
func (*answerer) End(_ *node.Context, reason any) error { return node.ExitWith(reason) }
