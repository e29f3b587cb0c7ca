package event

import (
	"fmt"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// systemOf is a manager as system messages see it.
type systemOf struct{ *manager }

// Module is part of sysmsg.Server.
func (m systemOf) Module() wire.Atom { return "gen_event" }

// State is part of sysmsg.Server: [{Module, Id, State}].
func (m systemOf) State() any {
	l := wire.List{}
	for e := range m.all() {
		l = append(l, wire.Tuple{e.id.Module, e.id.part(), stateOf(e.h)})
	}
	return l
}

// part is Id of {Module, Id}, false for none.
func (i ID) part() any {
	if i.ID == nil {
		return wire.AtomFalse
	}
	return i.ID
}

// stateOf is a handler's state as sys:get_state shows it.
func stateOf(h Handler) any {
	if s, ok := h.(sys.Stater); ok {
		return sysmsg.Given(s.State())
	}
	return sysmsg.Term(h)
}

// Replace is part of sysmsg.Server. The new state is a list like State's; handlers whose
// state is the same as before do not change.
func (m systemOf) Replace(state any) error {
	l, ok := state.(wire.List)
	if !ok || len(l) != m.n {
		return fmt.Errorf("event: the new state is not a list of {Module, Id, State}, one for each handler")
	}
	i := -1
	for e := range m.all() {
		i++
		t, ok := l[i].(wire.Tuple)
		if !ok || len(t) != 3 || t[0] != e.id.Module || !wire.Equal(t[1], e.id.part()) {
			return fmt.Errorf("event: %s is another handler in the new state", e.id)
		}
		if wire.Equal(t[2], stateOf(e.h)) {
			continue
		}
		s, ok := e.h.(sys.StateSetter)
		if !ok {
			return fmt.Errorf("event: %s has no SetState", e.id)
		}
		if err := s.SetState(t[2]); err != nil {
			return err
		}
	}
	return nil
}

// Status is part of sysmsg.Server: the three parts that format_status of gen_event
// returns.
func (m systemOf) Status() any {
	parent := m.c.Self()
	if m.child {
		parent = m.c.Parent()
	}
	text := func(t string) any { return wire.Charlist(t) }
	handlers := wire.List{}
	for e := range m.all() {
		var owner any = wire.AtomFalse
		if !e.owner.IsZero() {
			owner = e.owner
		}
		handlers = append(handlers, wire.Tuple{wire.Atom("handler"), e.id.Module, e.id.part(), stateOf(e.h), owner})
	}
	return wire.List{
		wire.Tuple{wire.Atom("header"), text("Status for event handler " + sysmsg.DisplayName(m.c))},
		wire.Tuple{wire.Atom("data"), wire.List{
			wire.Tuple{text("Status"), m.sys.State()},
			wire.Tuple{text("Logged Events"), m.sys.Logged()},
			wire.Tuple{text("Parent"), parent},
		}},
		wire.Tuple{wire.Atom("items"), wire.Tuple{text("Installed handlers"), handlers}},
	}
}

// ChangeCode is part of sysmsg.Server.
func (m systemOf) ChangeCode(module wire.Atom, old, extra any) error {
	for e := range m.all() {
		if c, ok := e.h.(sys.CodeChanger); ok && e.id.Module == module {
			if err := c.CodeChange(module, old, extra); err != nil {
				return err
			}
		}
	}
	return nil
}

// End is part of sysmsg.Server.
func (m systemOf) End(c *node.Context, reason any) error { return m.ends(reason) }

// Enter is part of sysmsg.Enterer.
func (m systemOf) Enter(c *node.Context) { m.c = c }

// Resumed is part of sysmsg.Enterer.
func (m systemOf) Resumed(*node.Context) error { return nil }
