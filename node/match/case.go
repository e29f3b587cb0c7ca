package match

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/actornode/actornode/internal/kernel/values"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// Case is a part of a Match, for [New]: what [On], [Do], [Reply], [Project] and [After] return, and any *[Match],
// which stands for its cases.
type Case interface{ addTo(m *Match) }

// CaseOf is a case for messages of type M. It never changes: its methods return new cases.
type CaseOf[M any] struct {
	guards []func(M) bool
	run    func(who any, m M) error
	direct func(who, msg any) error // run of a message that is an M, or nil
	parts  *parts[M]                // instead of run: for a projection
	who    reflect.Type
	varies bool // see Match.varies
}

// parts is a case in two steps: a projection returns a value, and the action takes it.
type parts[M any] struct {
	bind func(m M) (bound any, ok bool)
	run  func(who, bound any) error
}

// On is the case of a message of type M: it calls f with the message. If M is an interface, the case takes all messages
// that implement it; any is the wildcard. If the etf tag of a struct M makes it a tuple with a first atom, the case also
// takes that term, as Erlang nodes send it: see package wire/etf.
func On[M any](f func(m M)) CaseOf[M] {
	mustBe(f != nil, "On", "the function is nil")
	return CaseOf[M]{
		run: func(_ any, m M) error {
			f(m)
			return nil
		},
		direct: func(_, msg any) error {
			m, _ := msg.(M) // fails only if M is an interface and msg is nil
			f(m)
			return nil
		},
	}
}

// Do is On for a function that also takes the process: the *[node.Context] of an Actor, or the *[node.Process]. An
// Actor's Receive returns the error of f; for a Process, [Receive] returns it.
func Do[C *node.Context | *node.Process, M any](f func(c C, m M) error) CaseOf[M] {
	mustBe(f != nil, "Do", "the function is nil")
	return CaseOf[M]{
		who: reflect.TypeFor[C](),
		run: func(who any, m M) error { return f(who.(C), m) },
		direct: func(who, msg any) error {
			m, _ := msg.(M)
			return f(who.(C), m)
		},
	}
}

// Reply is the case of a request of type Q, sent by [node.Call] or Erlang's gen_server:call: f returns the
// reply, or an error that fails the call. The process goes on, unless the error is from [node.ExitWith].
func Reply[C *node.Context | *node.Process, Q, R any](f func(c C, q Q) (R, error)) Case {
	mustBe(f != nil, "Reply", "the function is nil")
	return newRequests(f)
}

// If returns the case with a guard: a message for which the guard returns false is for a later case. If there are
// several guards, all must return true. In a receive a guard must not use the process.
func (c CaseOf[M]) If(guard func(m M) bool) CaseOf[M] {
	mustBe(guard != nil, "If", "the guard is nil")
	c.varies = true
	return c.with(guard)
}

// with is If with a guard that always gives the same answer for a message.
func (c CaseOf[M]) with(guard func(m M) bool) CaseOf[M] {
	c.guards = append(c.guards[:len(c.guards):len(c.guards)], guard)
	return c
}

// Is returns the case for messages that equal v: by ==, or as terms if Go cannot compare them.
func (c CaseOf[M]) Is(v M) CaseOf[M] {
	if value := reflect.ValueOf(v); !value.IsValid() || value.Comparable() {
		want := any(v)
		return c.with(func(m M) bool { return any(m) == want })
	}
	return c.If(func(m M) bool { return wire.Equal(any(m), any(v)) })
}

// Project is the case of a message of type M for which f returns true: c then takes the value that f returns, if its
// guards allow it. f is called once for each look at a message; in a receive it must not use the process.
//
//	match.Project(number, match.On(func(n int) { sum += n }))     // func number(s string) (int, bool)
func Project[M, V any](f func(m M) (V, bool), c CaseOf[V]) CaseOf[M] {
	mustBe(f != nil, "Project", "the function is nil")
	mustBe(c.run != nil || c.parts != nil, "Project", "the case is the zero value")
	kept := newKept[V]()
	return CaseOf[M]{who: c.who, varies: true, parts: &parts[M]{
		bind: func(m M) (any, bool) {
			v, ok := f(m)
			if !ok || !c.allows(v) {
				return nil, false
			}
			if c.parts != nil {
				return c.parts.bind(v)
			}
			return kept.put(v), true
		},
		run: func(who, bound any) error {
			if c.parts != nil {
				return c.parts.run(who, bound)
			}
			return c.run(who, kept.take(bound))
		},
	}}
}

// allows reports whether all guards return true.
func (c *CaseOf[M]) allows(m M) bool {
	for _, guard := range c.guards {
		if !guard(m) {
			return false
		}
	}
	return true
}

// addTo is part of Case.
func (c CaseOf[M]) addTo(m *Match) {
	mustBe(c.run != nil || c.parts != nil, "New", "a case is the zero value")
	m.belongsTo(c.who)
	m.varies = m.varies || c.varies
	t := reflect.TypeFor[M]()
	m.add(t, c.rule(t))
	if k, ok := values.TaggedOf(t); ok {
		m.add(reflect.TypeFor[wire.Tuple](), c.term(k))
	}
}

// rule is c for messages that are of type M.
func (c CaseOf[M]) rule(t reflect.Type) rule {
	always := t.Kind() != reflect.Interface || t == anyType
	r := rule{run: c.direct}
	if always && c.parts == nil && len(c.guards) == 0 {
		return r
	}
	r.bind = func(_, msg any) (any, bool) {
		m, ok := msg.(M)
		if !ok && (msg != nil || t.NumMethod() > 0) || !c.allows(m) {
			return nil, false
		}
		if c.parts != nil {
			return c.parts.bind(m)
		}
		return msg, true
	}
	if c.parts != nil {
		r.run = c.parts.run
	}
	return r
}

// term is c for tuples that an M stands for.
func (c CaseOf[M]) term(k values.TaggedKind) rule {
	kept := newKept[M]()
	r := rule{
		bind: func(who, msg any) (any, bool) {
			t := msg.(wire.Tuple)
			if !k.Fits(t) {
				return nil, false
			}
			m := kept.get()
			if !k.Read(nodeOf(who), t, m) || !c.allows(*m) {
				kept.drop(m)
				return nil, false
			}
			if c.parts == nil {
				return m, true
			}
			bound, ok := c.parts.bind(*m)
			kept.drop(m)
			return bound, ok
		},
		run: func(who, bound any) error { return c.run(who, kept.take(bound)) },
	}
	if c.parts != nil {
		r.run = c.parts.run
	}
	return r
}

// nodeOf returns the node of a process.
func nodeOf(who any) any {
	if p, ok := who.(interface{ Node() *node.Node }); ok {
		return p.Node()
	}
	return nil
}

// kept stores values between a look at a message and its action, without allocating.
type kept[V any] struct{ pool sync.Pool }

func newKept[V any]() *kept[V] { return &kept[V]{sync.Pool{New: func() any { return new(V) }}} }

func (k *kept[V]) get() *V { return k.pool.Get().(*V) }

// put returns v in a place.
func (k *kept[V]) put(v V) any {
	p := k.get()
	*p = v
	return p
}

// take returns the value in a place, and frees the place for others.
func (k *kept[V]) take(place any) V {
	p := place.(*V)
	v := *p
	k.drop(p)
	return v
}

func (k *kept[V]) drop(p *V) {
	var none V
	*p = none
	k.pool.Put(p)
}

// mustBe panics unless ok: the program uses the package wrongly, at each start.
func mustBe(ok bool, where, format string, args ...any) {
	if !ok {
		panic("match: " + where + ": " + fmt.Sprintf(format, args...))
	}
}
