package genserver

import (
	"errors"
	"fmt"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/sys"
)

// moving is what a server takes with it to another node: see package migrate.
type moving struct {
	State any
	Child bool
}

// handedOver is a state that moves as a term.
type handedOver interface {
	sys.Stater
	sys.StateSetter
}

// MoveOut is part of migrate.Mover. It hands over what State returns, if the state has State and SetState, else the state.
func (s *server[S]) MoveOut(*node.Context) (any, error) {
	if s.debugging() != nil {
		return nil, errors.New("genserver: the server is being debugged by system messages")
	}
	m := moving{State: s.state, Child: s.child}
	if h, ok := any(s.state).(handedOver); ok {
		m.State = h.State()
	}
	return m, nil
}

// MoveIn is part of migrate.Mover.
func (s *server[S]) MoveIn(c *node.Context, state any) error {
	m, ok := state.(moving)
	if !ok {
		return fmt.Errorf("genserver: the state of a server of %s is a %T", s.BehaviourName(), state)
	}
	s.Context.ActorContext, s.child = c, m.Child
	if h, ok := any(s.state).(handedOver); ok {
		return h.SetState(m.State)
	}
	if s.state, ok = m.State.(S); !ok {
		return fmt.Errorf("genserver: the state of a server of %s is a %T", s.BehaviourName(), m.State)
	}
	return nil
}

func init() { node.Know(process.Key{}, node.TypeOf[moving]("$genserver.moving")) }
