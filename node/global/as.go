package global

import (
	"context"
	"errors"
	"fmt"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// As is for [node.Options].Via: before the Init of its behaviour a new process registers itself, as OTP's start_link does for
// {global, Name}. If another process has the name, the new one exits with the reason {already_started, PID}: the start
// fails with an [*node.ExitError] of that reason, and that of a supervisor's child as in OTP. With o.Again it takes the name from
// whoever has it.
func As(name any, o Options) func(node.Actor) node.Actor {
	return func(b node.Actor) node.Actor {
		if f, ok := b.(node.ProcessFunc); ok {
			return node.ProcessFunc(func(p *node.Process) error {
				if err := take(p.Context(), p, name, o); err != nil {
					return err
				}
				return f(p)
			})
		}
		return &unnamed{b, name, o}
	}
}

// take registers the process that self is.
func take(ctx context.Context, self self, name any, o Options) error {
	err := Register(ctx, self, name, self.Self(), o)
	if errors.Is(err, ErrTaken) {
		if pid, ok := Whois(self.Node(), name); ok {
			return node.ExitWith(wire.Tuple{wire.Atom("already_started"), pid})
		}
	}
	return err
}

// self is what a process acts by: a Context or a Process.
type self interface {
	node.Caller
	Self() node.PID
	Node() *node.Node
}

// unnamed is the behaviour of an Actor until it has its name.
type unnamed struct {
	node.Actor
	name any
	o    Options
}

// Init is part of node.Initializer.
func (u *unnamed) Init(c *node.Context) error {
	if err := take(c.Context(), c, u.name, u.o); err != nil {
		return err
	}
	c.Become(u.Actor)
	if i, ok := u.Actor.(node.Initializer); ok {
		return i.Init(c)
	}
	return nil
}

// BehaviourName is part of node.BehaviourNamer.
func (u *unnamed) BehaviourName() string {
	if n, ok := u.Actor.(node.BehaviourNamer); ok {
		return n.BehaviourName()
	}
	return fmt.Sprintf("%T", u.Actor)
}
