package match

import (
	"reflect"
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
	"github.com/actornode/actornode/node"
)

// Match is several cases, built once by [New]. It never changes, so any number of processes may use it at the same
// time. It is an Actor: spawn it, or pass it to Become and Push. A Process uses it with
// [Receive].
type Match struct {
	rules   []entry // all, in their order
	table   table
	who     reflect.Type // what the cases' functions take: an Actor's Context, or a Process; nil: neither
	total   bool         // some case takes every message
	varies  bool         // a user's function says whether a case fits: it may take later what it leaves now
	timeout *timeout

	actors, processes bool // may use it
}

// entry is a rule and its type.
type entry struct {
	typ  reflect.Type // an interface: all types that implement it
	rule rule
}

// rule is what a Match does with one message.
type rule struct {
	// bind looks at a message: it returns what to pass to run, and whether to call run. Nil: the message, always.
	bind func(who, msg any) (bound any, ok bool)
	run  func(who, bound any) error
}

// New makes a Match. The first case that fits takes a message. New panics if there is no case, or After
// twice, or if one function takes a *node.Context and another a *node.Process.
func New(cases ...Case) *Match {
	mustBe(len(cases) > 0, "New", "there is no case")
	m := &Match{}
	for i, c := range cases {
		mustBe(!isNil(c), "New", "case %d is nil", i)
		c.addTo(m)
	}
	all := m.rules
	if m.timeout != nil && m.who != processType { // before a wildcard
		all = append([]entry{{timeoutType, rule{run: func(who, _ any) error { return m.timeout.run(who) }}}}, all...)
	}
	m.table = newTable(all)
	m.actors, m.processes = m.who != processType, m.who != contextType
	return m
}

// isNil reports whether c is nil, or a nil *Match.
func isNil(c Case) bool {
	m, ok := c.(*Match)
	return c == nil || ok && m == nil
}

// Or returns a Match with the cases of m followed by others: orElse of Scala, or_else of libcppa.
func (m *Match) Or(others ...Case) *Match { return New(append([]Case{m}, others...)...) }

// addTo is part of Case.
func (m *Match) addTo(to *Match) {
	to.belongsTo(m.who)
	for _, e := range m.rules {
		to.add(e.typ, e.rule)
	}
	to.varies = to.varies || m.varies
	if m.timeout != nil {
		m.timeout.addTo(to)
	}
}

// belongsTo records what a case's function takes.
func (m *Match) belongsTo(who reflect.Type) {
	if who == nil {
		return
	}
	mustBe(m.who == nil || m.who == who, "New", "one case takes a %v, another a %v", m.who, who)
	m.who = who
}

func (m *Match) add(t reflect.Type, r rule) {
	m.rules = append(m.rules, entry{t, r})
	m.total = m.total || t == anyType && r.bind == nil
}

var anyType = reflect.TypeFor[any]()

// find returns the rule for a message, and what to run it with; nil: no case fits.
func (m *Match) find(who, msg any) (*rule, any) {
	rules := m.table.of(msg)
	for i := range rules {
		r := &rules[i]
		if r.bind == nil {
			return r, msg
		}
		if bound, ok := r.bind(who, msg); ok {
			return r, bound
		}
	}
	return nil, nil
}

// Init is part of node.Initializer: the time of After begins.
func (m *Match) Init(c *node.Context) error {
	m.mustTake(m.actors, "an Actor")
	begin(c, m)
	return nil
}

// Receive is part of node.Actor. It leaves a message that no case fits in the mailbox for another behaviour, with
// [node.ErrUnhandled]; a last case On(func(any) {…}) takes such messages.
func (m *Match) Receive(c *node.Context, msg any) error {
	r, bound := m.find(c, msg)
	if r == nil {
		return node.ErrUnhandled
	}
	return r.run(c, bound)
}

// mustTake panics unless it is true: the functions of m take something else.
func (m *Match) mustTake(it bool, name string) {
	if !it {
		mustBe(false, "Receive", "the cases take a %v, and this is %s", m.who, name)
	}
}

var (
	timeoutType = reflect.TypeFor[Timeout]()
	contextType = reflect.TypeFor[*node.Context]()
	processType = reflect.TypeFor[*node.Process]()
)

// Receive takes the oldest message that a case of m fits, and runs the case; it leaves other messages in the mailbox,
// in their places. It waits for a message if need be, at most for the time of m's [After], which then runs. It returns
// what the case returns, or nil. If a handle has been killed, it returns [node.ErrExited]; the
// goroutine of a process is unwound.
//
// If the previous receive was with m, too, Receive does not look again at what that left, as with [node.ReceiveOf],
// unless m has a guard or a projection, which may take later what it left before. See also [ReceiveSince].
//
// It belongs to the goroutine of p. A case may receive, too, with m or another Match.
func Receive(p *node.Process, m *Match) error {
	m.mustTake(m.processes, "a Process")
	var r *rule
	var bound any
	if m.total && m.timeout == nil {
		msg := p.Receive()
		if e, ok := msg.(node.Exited); ok && e.From == p.Self() {
			return node.ErrExited
		}
		r, bound = m.find(p, msg)
		return r.run(p, bound)
	}
	fits := func(msg any) bool {
		r, bound = m.find(p, msg)
		return r != nil
	}
	var err error
	if m.varies {
		_, err = p.ReceiveWithin(m.within(), fits)
	} else {
		_, err = blocking(p).ReceiveKindWithin(m.within(), fits, m)
	}
	return m.received(p, r, bound, err)
}

// ReceiveSince is [Receive] for messages that came after a mark: since is what [node.Process.Mark] of p returned. It does
// not look at older messages, however many there are.
//
//	since := p.Mark()
//	p.Send(server, Ask{p.Self()})
//	err := match.ReceiveSince(p, since, answers)
func ReceiveSince(p *node.Process, since func(d time.Duration, match func(msg any) bool) (any, error), m *Match) error {
	m.mustTake(m.processes, "a Process")
	var r *rule
	var bound any
	_, err := since(m.within(), func(msg any) bool {
		r, bound = m.find(p, msg)
		return r != nil
	})
	return m.received(p, r, bound, err)
}

// blocking returns p as package runner knows it.
func blocking(p *node.Process) *runner.Blocking {
	return runner.BlockingOf(p.Inside(process.Key{}).Acting())
}

// within is how long a receive waits.
func (m *Match) within() time.Duration {
	if m.timeout != nil {
		return m.timeout.d
	}
	return node.Infinity
}

// received ends a receive.
func (m *Match) received(p *node.Process, r *rule, bound any, err error) error {
	switch {
	case err == nil:
		return r.run(p, bound)
	case err == node.ErrTimeout && m.timeout != nil:
		return m.timeout.run(p)
	}
	return err
}

// timeout is the case After.
type timeout struct {
	d   time.Duration
	who reflect.Type
	run func(who any) error
}

// After is the case that runs when no message that fits another case has come for d. A receive counts from its
// beginning. An Actor counts from the last message that it handled, or since the Match became its behaviour, again and
// again; see [SetTimeout]. With 0 a receive looks only at what is in the mailbox; [node.Infinity] is no timeout. A Match
// has at most one After.
func After[F func() | func(*node.Context) error | func(*node.Process) error](d time.Duration, f F) Case {
	mustBe(d >= 0, "After", "the time is negative: %v", d)
	t := timeout{d: d}
	switch f := any(f).(type) {
	case func():
		mustBe(f != nil, "After", "the function is nil")
		t.run = func(any) error {
			f()
			return nil
		}
	case func(*node.Context) error:
		mustBe(f != nil, "After", "the function is nil")
		t.who, t.run = contextType, func(who any) error { return f(who.(*node.Context)) }
	case func(*node.Process) error:
		mustBe(f != nil, "After", "the function is nil")
		t.who, t.run = processType, func(who any) error { return f(who.(*node.Process)) }
	}
	return t
}

// addTo is part of Case.
func (t timeout) addTo(m *Match) {
	mustBe(m.timeout == nil, "New", "two cases are After")
	m.belongsTo(t.who)
	m.timeout = &t
}
