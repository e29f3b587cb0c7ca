package statem

import (
	"context"
	"errors"
	"log/slog"
	"reflect"

	"github.com/actornode/actornode/internal/kernel/calls"
	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/genserver"
	"github.com/actornode/actornode/wire"
)

// Interfaces that a machine's data may also implement. [sys.Stater], [sys.StateSetter] and
// [sys.CodeChanger] are for system messages: what they call the state is the data here.
type (
	// Initializer is called before the first message, and may return the state in which the
	// machine starts; nil means the first state given to Define. An
	// error means that the machine cannot start; [node.ErrIgnore], that it need not.
	Initializer[M any] interface {
		Init(c *Context) (State[M], error)
	}

	// Terminator is called before the machine ends: by an error or a panic
	// of a state, Context.Stop, a system message, or the exit of the parent if the
	// machine traps exits. Another exit signal ends the machine without Terminate.
	Terminator interface {
		Terminate(c *Context, reason any)
	}
)

// machine is a machine as an Actor.
type machine[M any] struct {
	Context
	queue
	kind   *Kind[M]
	data   M
	state  *stateFunc[M]
	child  bool  // started with a link to its parent, whose exit ends it
	done   bool  // Terminate has been called
	logged bool  // its end has been logged
	last   Event // the current event
}

// BehaviourName is part of node.BehaviourNamer.
func (m *machine[M]) BehaviourName() string { return reflect.TypeFor[M]().String() }

// Init is part of node.Initializer.
func (m *machine[M]) Init(c *node.Context) (err error) {
	m.Context.ActorContext = c
	if p := c.Parent(); !p.IsZero() {
		m.child = c.Inside(process.Key{}).Linked(p)
	}
	m.start = func(t *timeout, s setting) *node.Timer {
		timer, _ := m.SendAfter(s.d, m.Self(), t) // fails when the node is stopping
		return timer
	}
	m.stop = func(t *node.Timer) { t.Cancel() }
	m.enter(m.kind.states[0])
	if i, ok := any(m.data).(Initializer[M]); ok {
		first, err := i.Init(&m.Context)
		switch {
		case err != nil:
			return err
		case m.act.stop:
			return node.ExitWith(m.act.reason)
		case first != nil:
			s := m.kind.find(first)
			if s == nil {
				return errNoState
			}
			m.enter(s)
		}
	}
	c.Announce() // answer a waiting starter: Init has returned
	ended := false
	defer func() {
		if !ended {
			err = m.crashed(recover())
		}
	}()
	err = m.begin()
	ended = true
	return err
}

// begin makes the first enter call and does what Init asked for.
func (m *machine[M]) begin() error {
	m.last = Event{Type: TypeInternal, Content: wire.Atom("init_state")}
	m.act.repeat, m.act.postpone = true, false
	if err := m.transition(m.last, m.state); err != nil {
		return err
	}
	if e, ok := m.next(); ok {
		return m.run(e)
	}
	return nil
}

// Receive is part of node.Actor.
func (m *machine[M]) Receive(c *node.Context, msg any) (err error) {
	m.Context.ActorContext = c
	ended := false
	defer func() {
		if !ended {
			err = m.crashed(recover())
		}
	}()
	err = m.receive(c, msg)
	ended = true
	return err
}

// receive turns a message into an event.
func (m *machine[M]) receive(c *node.Context, msg any) error {
	e := Event{Type: TypeInfo, Content: msg}
	switch v := msg.(type) {
	case *timeout:
		var ok bool
		if e, ok = m.over(v); !ok {
			return nil // cancelled, but already in the mailbox
		}
	case node.Exited:
		if m.child && v.From == c.Parent() || sysmsg.IsStop(v) {
			m.last = Event{}
			return m.ends(v.Reason)
		}
	default:
		if r, ok := sysmsg.Parse(c.Node(), msg); ok {
			m.last = Event{}
			m.sys.Alone = !m.child
			return m.sys.Handle(c, systemOf[M]{m}, r)
		}
		if r, ok := c.Node().AsRequest(msg); ok {
			e = Event{TypeCall, r.Body, r.From}
			if m.isGivenUp(e) {
				return nil
			}
		} else if body, ok := node.AsCast(msg); ok {
			e.Type, e.Content = TypeCast, body
		}
	}
	if m.sys.Debugging() {
		m.sys.In(c, e)
	}
	return m.run(e)
}

// run handles an event, and then all events that come before the mailbox.
func (m *machine[M]) run(e Event) error {
	for ok := true; ok; e, ok = m.next() {
		if m.isGivenUp(e) { // while it was postponed
			continue
		}
		m.last, m.from, m.act = e, e.from, actions{}
		next, err := m.state.f(m.data, &m.Context, e)
		if err != nil {
			if err = m.failed(e, err); err != nil {
				return m.ends(node.ReasonOf(err))
			}
		}
		target := m.state
		if next != nil {
			if target = m.kind.find(next); target == nil {
				return m.ends(&node.Crash{Reason: errNoState})
			}
		}
		if m.act.stop {
			return m.ends(m.act.reason)
		}
		if err := m.transition(e, target); err != nil {
			return err
		}
		if !m.idle() && !m.Node().IsAlive(m.Self()) {
			return node.ErrStop // killed: nothing else would end this loop
		}
	}
	m.last, m.from, m.act = Event{}, node.From{}, actions{} // keep nothing alive
	return nil
}

// isGivenUp reports whether e is a request that is not handled, because its caller no longer waits: see [Kind.Late].
func (m *machine[M]) isGivenUp(e Event) bool {
	return e.Type == TypeCall && !m.kind.late && !e.from.Pending()
}

// failed handles the error of a state function. An error that it
// returns ends the machine.
func (m *machine[M]) failed(e Event, err error) error {
	m.act.postpone = false
	switch {
	case calls.IsExit(err):
		return err
	case errors.Is(err, ErrUnhandled) && e.Type == TypeCall:
		m.fail(e.from, m.unhandled(e))
	case errors.Is(err, ErrUnhandled):
		if log := m.Node().Log(); log.Enabled(context.Background(), slog.LevelWarn) {
			log.Warn("unexpected event", "machine", sysmsg.DisplayName(m), "kind", m.BehaviourName(),
				"state", string(m.state.name), "event", e.brief(m.Node()))
		}
	case e.Type == TypeCall:
		m.fail(e.from, err)
	default:
		return err
	}
	return nil
}

func (m *machine[M]) unhandled(e Event) error {
	return &genserver.UnhandledError{Server: m.BehaviourName(), State: m.state.name, Request: e.Content}
}

func (m *machine[M]) fail(from node.From, err error) {
	m.act.taken = true
	from.Fail(err)
	if m.sys.Debugging() {
		m.sys.Out(m.Context.ActorContext, wire.Tuple{wire.AtomError, values.ErrorTerm(err)}, from, m.state.name)
	}
}

// transition goes to the state target, which may be the current one, and does
// what the state function asked for.
func (m *machine[M]) transition(e Event, target *stateFunc[M]) error {
	changed := target != m.state
	if m.act.bad == nil && m.kind.enter && (changed || m.act.repeat) {
		if err := m.call(target); err != nil {
			return err
		}
	}
	if m.act.bad != nil {
		m.enter(target)
		return m.ends(&node.Crash{Reason: m.act.bad})
	}
	if e.Type == TypeCall && !m.act.taken && !m.act.postpone && e.from.Pending() {
		m.fail(e.from, m.unhandled(e))
	}
	if m.sys.Debugging() {
		what := wire.Atom("consume")
		if m.act.postpone {
			what = "postpone"
		}
		m.sys.Event(m.Context.ActorContext, wire.Tuple{what, e, m.state.name, target.name})
	}
	m.enter(target)
	m.transit(e, changed, &m.act)
	return nil
}

// enter makes s the current state.
func (m *machine[M]) enter(s *stateFunc[M]) { m.state, m.Context.state = s, s.name }

// call makes the enter call of a state, and repeats it as long as the state calls Repeat.
func (m *machine[M]) call(target *stateFunc[M]) error {
	was := m.state
	m.Context.state, m.entering = target.name, true
	for again := true; again; again = m.act.repeat && m.act.bad == nil && m.Node().IsAlive(m.Self()) {
		m.act.repeat = false
		next, err := target.f(m.data, &m.Context, Event{Type: TypeEnter, Content: Entered{was.name}})
		if err != nil && !errors.Is(err, ErrUnhandled) {
			m.Context.state, m.entering = was.name, false // as in OTP: target was not entered
			return m.ends(node.ReasonOf(err))
		}
		if next != nil && m.kind.find(next) != target {
			m.misuse("an enter call changes the state")
		}
		if m.act.stop {
			m.entering = false
			m.enter(target)
			return m.ends(m.act.reason)
		}
	}
	m.entering = false
	return nil
}

// crashed ends the machine after a panic.
func (m *machine[M]) crashed(cause any) error {
	crash := node.Panicked(cause)
	m.Context.state, m.entering = m.state.name, false
	return m.ends(crash)
}

// ends ends the machine, except on an exit signal.
func (m *machine[M]) ends(reason any) error {
	logged := m.logged || !m.Node().IsAlive(m.Self())
	m.logged = true
	err := m.end(reason)
	if logged {
		return err
	}
	return sysmsg.Terminating(m.Context.ActorContext, "state machine", m.BehaviourName(), err, func() []any {
		return []any{"last_event", m.last.brief(m.Node()), "state", string(m.state.name), "data", sysmsg.BriefState(m.data),
			"postponed", len(m.postponed)}
	})
}

// MayTerminate tells package lifetime whether the data has Terminate.
func (m *machine[M]) MayTerminate() bool {
	_, ok := any(m.data).(Terminator)
	return ok
}

// Terminate is part of lifetime.Terminator.
func (m *machine[M]) Terminate(c *node.Context, reason any) error {
	m.Context.ActorContext = c
	return m.end(reason)
}

// end calls Terminate, once and only if the process has not been killed, and
// returns the error that ends the process.
func (m *machine[M]) end(reason any) error {
	m.clear()
	t, ok := any(m.data).(Terminator)
	if !ok || m.done || !m.Node().IsAlive(m.Self()) {
		return node.ExitWith(reason)
	}
	m.done = true
	if crash := sysmsg.Guard(func() { t.Terminate(&m.Context, reason) }); crash != nil {
		return node.ExitWith(crash)
	}
	return node.ExitWith(reason)
}
