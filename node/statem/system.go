package statem

import (
	"fmt"
	"maps"
	"slices"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/sys"
	"github.com/actornode/actornode/wire"
)

// systemOf is a machine as system messages see it.
type systemOf[M any] struct{ *machine[M] }

// Module is part of sysmsg.Server.
func (m systemOf[M]) Module() wire.Atom { return "gen_statem" }

// State is part of sysmsg.Server: {State, Data}.
func (m systemOf[M]) State() any { return m.term() }

func (m *machine[M]) term() any { return wire.Tuple{m.Context.state, m.dataTerm()} }

func (m *machine[M]) dataTerm() any {
	if s, ok := any(m.data).(sys.Stater); ok {
		return sysmsg.Given(s.State())
	}
	return sysmsg.Term(m.data)
}

// Replace is part of sysmsg.Server. As in OTP nothing else happens: no enter
// call, and postponed events and timeouts stay as they are.
func (m systemOf[M]) Replace(state any) error {
	t, ok := state.(wire.Tuple)
	if !ok || len(t) != 2 {
		return fmt.Errorf("statem: the new state is not {State, Data}")
	}
	s := m.kind.named(t[0])
	if s == nil {
		return fmt.Errorf("%w: %s", errNoState, sysmsg.Words(t[0]))
	}
	if data, ok := t[1].(M); ok {
		m.data = data
	} else if setter, ok := any(m.data).(sys.StateSetter); ok {
		if err := setter.SetState(t[1]); err != nil {
			return err
		}
	} else if !wire.Equal(t[1], m.dataTerm()) {
		return fmt.Errorf("statem: the new data is not of the type that %s uses, which has no SetState", m.BehaviourName())
	}
	m.enter(s)
	return nil
}

// Status is part of sysmsg.Server: the three parts that format_status of gen_statem
// returns.
func (m systemOf[M]) Status() any {
	parent := m.Self()
	if m.child {
		parent = m.Parent()
	}
	text := func(t string) any { return wire.Charlist(t) }
	times := wire.List{}
	for _, typ := range slices.Sorted(maps.Keys(m.times)) {
		t := m.times[typ]
		times = append(times, wire.Tuple{t.typ.term(), sysmsg.Term(t.content)})
	}
	return wire.List{
		wire.Tuple{wire.Atom("header"), text("Status for state machine " + sysmsg.DisplayName(m))},
		wire.Tuple{wire.Atom("data"), wire.List{
			wire.Tuple{text("Status"), m.sys.State()},
			wire.Tuple{text("Parent"), parent},
			wire.Tuple{text("Modules"), wire.List{wire.AtomOf(m.BehaviourName())}},
			wire.Tuple{text("Time-outs"), wire.Tuple{len(times), times}},
			wire.Tuple{text("Logged Events"), m.sys.Logged()},
			wire.Tuple{text("Postponed"), m.postponedTerm()},
		}},
		wire.Tuple{wire.Atom("data"), wire.List{wire.Tuple{text("State"), m.term()}}},
	}
}

// postponedTerm lists the postponed events, the last first, as gen_statem keeps them.
func (m *machine[M]) postponedTerm() wire.List {
	l := wire.List{}
	for i := len(m.postponed) - 1; i >= 0; i-- {
		l = append(l, m.postponed[i].term())
	}
	return l
}

// ChangeCode is part of sysmsg.Server.
func (m systemOf[M]) ChangeCode(module wire.Atom, old, extra any) error {
	if c, ok := any(m.data).(sys.CodeChanger); ok {
		return c.CodeChange(module, old, extra)
	}
	return nil
}

// End is part of sysmsg.Server.
func (m systemOf[M]) End(c *node.Context, reason any) error { return m.ends(reason) }

// Enter is part of sysmsg.Enterer.
func (m systemOf[M]) Enter(c *node.Context) { m.Context.ActorContext, m.last = c, Event{} }

// Resumed is part of sysmsg.Enterer.
func (m systemOf[M]) Resumed(*node.Context) error { return nil }
