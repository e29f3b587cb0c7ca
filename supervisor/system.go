package supervisor

import (
	"errors"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// system is a supervisor's interface for system messages.
type system struct{ *supervisor }

// Module implements sysmsg.Server: OTP's supervisor is a gen_server, too.
func (s system) Module() wire.Atom { return "gen_server" }

// State implements sysmsg.Server: a tuple in the format of OTP's record state.
func (s system) State() any {
	ids := wire.List{}
	for k := range s.children.backward() {
		if !k.dynamic {
			ids = append(ids, k.id())
		}
	}
	var name any = wire.Tuple{s.c.Self(), wire.Atom("supervisor")}
	if i, err := s.c.Node().Info(s.c.Self()); err == nil && i.Name != "" {
		name = wire.Tuple{wire.Atom("local"), i.Name}
	}
	return wire.Tuple{wire.Atom("state"), name, wire.Atom(s.spec.Strategy), wire.Tuple{ids, wire.NewMap()},
		wire.AtomUndefined, s.spec.Intensity, seconds(s.spec.Period), s.restarts.n, 0,
		wire.Atom(s.spec.AutoShutdown), wire.Atom("supervisor"), wire.List{}}
}

// Replace implements sysmsg.Server.
func (s system) Replace(any) error {
	return errors.New("supervisor: the state of a supervisor cannot be replaced")
}

// Status implements sysmsg.Server.
func (s system) Status() any {
	parent := s.c.Parent()
	if parent.IsZero() {
		parent = s.c.Self()
	}
	return append(s.sys.ServerStatus(s.c, parent, s.State()),
		wire.Tuple{wire.Atom("supervisor"), wire.List{wire.Tuple{wire.Charlist("Callback"), wire.Atom("supervisor")}}})
}

// ChangeCode implements sysmsg.Server.
func (s system) ChangeCode(wire.Atom, any, any) error { return nil }

// Enter implements sysmsg.Enterer.
func (s system) Enter(c *node.Context) { s.c = c }

// Resumed implements sysmsg.Enterer.
func (s system) Resumed(c *node.Context) error {
	s.c = c
	return s.resume(nil)
}

// End implements sysmsg.Server.
func (s system) End(c *node.Context, reason any) error {
	s.c = c
	return s.end(reason)
}

func (s *supervisor) suspended() bool { return s.sys.State() != wire.Atom("running") }

// urgent returns nil, or a function that matches the messages that must be handled now.
func (s *supervisor) urgent() func(msg any) bool {
	if !s.suspended() {
		return nil
	}
	return func(msg any) bool {
		e, exited := msg.(node.Exited)
		_, isSystem := sysmsg.Parse(s.c.Node(), msg)
		return isSystem || exited && e.From == s.c.Parent()
	}
}
