package genserver

import (
	"fmt"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// maxText is the most bytes of a text that are shown.
const maxText = 1 << 10

// systemOf is a server as system messages see it.
type systemOf[S any] struct{ *server[S] }

// Module is part of sysmsg.Server.
func (s systemOf[S]) Module() wire.Atom { return "gen_server" }

// State is part of sysmsg.Server.
func (s systemOf[S]) State() any { return s.stateTerm() }

func (s *server[S]) stateTerm() any {
	if t, ok := any(s.state).(sys.Stater); ok {
		return sysmsg.Given(t.State())
	}
	return sysmsg.Term(s.state)
}

// stateShown is stateTerm, and survives a panic of the state's own code.
func (s *server[S]) stateShown() (t any) {
	defer func() {
		if cause := recover(); cause != nil {
			t = "State: panic: " + wire.Describe(cause, maxText)
		}
	}()
	return s.stateTerm()
}

// Replace is part of sysmsg.Server.
func (s systemOf[S]) Replace(state any) error {
	if r, ok := any(s.state).(sys.StateSetter); ok {
		return r.SetState(state)
	}
	if t, ok := state.(S); ok {
		s.state = t
		return nil
	}
	return fmt.Errorf("genserver: the new state is not of the type that %s uses, which has no SetState", s.BehaviourName())
}

// Status is part of sysmsg.Server.
func (s systemOf[S]) Status() any {
	parent := s.Self()
	if s.child {
		parent = s.Parent()
	}
	return s.extras.sys.ServerStatus(s.Context.ActorContext, parent, s.stateTerm())
}

// ChangeCode is part of sysmsg.Server.
func (s systemOf[S]) ChangeCode(module wire.Atom, old, extra any) error {
	if c, ok := any(s.state).(sys.CodeChanger); ok {
		return c.CodeChange(module, old, extra)
	}
	return nil
}

// End is part of sysmsg.Server.
func (s systemOf[S]) End(c *node.Context, reason any) error { return s.ends(wire.List{}, reason) }

// Enter is part of sysmsg.Enterer.
func (s systemOf[S]) Enter(c *node.Context) { s.Context.ActorContext = c }

// Resumed is part of sysmsg.Enterer.
func (s systemOf[S]) Resumed(*node.Context) error {
	s.settle()
	return nil
}
