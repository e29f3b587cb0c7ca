package match

import (
	"time"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/internal/filter"
)

// Timeout is the message that an Actor gets when it has handled no other for some time: see [SetTimeout].
type Timeout struct{}

// SetTimeout sends the Actor whose handler runs a [Timeout] when it has handled no message for d, and again after each
// further d without one. The time begins when the handler of the last message returns; messages that
// a behaviour leaves with [node.ErrUnhandled] do not count. It holds until Become, Push or Unbecome, to whatever
// behaviour, or another SetTimeout: [node.Infinity] ends it. A Timeout that the behaviour leaves is dropped. With 0 it
// comes once, when what is then in the mailbox has been handled. A cancelled Timeout does not come.
//
// It panics if d is negative, and in a method of an active object.
func SetTimeout(c *node.Context, d time.Duration) {
	mustBe(d >= 0, "SetTimeout", "the time is negative: %v", d)
	before := filter.Existing(c)
	s, ok := filter.PartOf[*silence](before)
	if !ok {
		if d == node.Infinity {
			return
		}
		var err error
		before, err = filter.Of(c)
		mustBe(err == nil, "SetTimeout", "%v", err)
		s = &silence{filter: before, d: node.Infinity}
		before.Add(s)
	}
	s.set(c, d)
}

// Unbecome is c.Unbecome for an Actor that ends when its stack of behaviours is empty, as in libcppa: it returns to the
// behaviour before the last Push. If there is none, it returns [node.ErrStop], with which a handler ends the Actor
// normally:
//
//	return match.Unbecome(c)
func Unbecome(c *node.Context) error {
	if !c.Unbecome() {
		return node.ErrStop
	}
	return nil
}

// begin starts the time of After, if m has one.
func begin(c *node.Context, m *Match) {
	if m.timeout != nil && m.timeout.d != node.Infinity {
		SetTimeout(c, m.timeout.d)
	}
}

// Became is for package node: m has become the behaviour of the Actor.
func (m *Match) Became(_ process.Key, c *node.Context, _ node.Actor) {
	m.mustTake(m.actors, "an Actor")
	begin(c, m)
}

// Became is part of filter.Becomer.
func (s *silence) Became() { s.d = node.Infinity }

// silence implements the timeout of one Actor. A handled message costs a look at the clock: the running timer is left
// alone, and if it fires too early, another is started for the rest.
//
// Invariants, when no handler runs:
//
//  1. If d is not Infinity a timer runs, or its tick is in the mailbox: current. It is due at since + d at the latest.
//  2. late counts other ticks in the mailbox or on their way to it; each is taken from there and does nothing.
type silence struct {
	filter  *filter.Filter
	d       time.Duration // Infinity: no timeout
	since   time.Duration // when the last message was handled, or d was set
	current *tick
	late    int
}

// tick is the message of a timer.
type tick struct {
	of    *silence
	due   time.Duration
	timer *node.Timer
}

// Immutable keeps a node that copies messages from copying it: see package isolation. Only the process that started the
// timer reads it.
func (*tick) Immutable() {}

// now is the time since the node's start, by the monotonic clock.
func (s *silence) now() time.Duration {
	sys := s.filter.Process().System
	return sys.Env.Since(sys.Clock.Start())
}

// set starts a timeout.
func (s *silence) set(c *node.Context, d time.Duration) {
	s.d = d
	if d == node.Infinity {
		return // Received cancels the timer
	}
	s.since = s.now()
	if s.current != nil && s.current.due > s.since+d {
		s.callOff()
	}
	if s.current == nil {
		s.start(c, d)
	}
}

// start starts a timer. It can only fail if the node or the process ends.
func (s *silence) start(c *node.Context, d time.Duration) {
	t := &tick{of: s, due: s.now() + d}
	if timer, err := c.SendAfter(d, c.Self(), t); err == nil {
		t.timer, s.current = timer, t
	}
}

// callOff stops the timer. Its tick may already be on its way to the mailbox.
func (s *silence) callOff() {
	if _, ok := s.current.timer.Cancel(); !ok {
		s.late++
	}
	s.current = nil
}

// Receive is part of filter.Part: it takes the ticks.
func (s *silence) Receive(c *node.Context, msg any) (taken bool, err error) {
	t, ok := msg.(*tick)
	if !ok || t.of != s {
		return false, nil
	}
	if t != s.current {
		s.late--
		return true, nil
	}
	s.current = nil
	if s.d == node.Infinity {
		return true, nil
	}
	if left := s.since + s.d - s.now(); left > 0 {
		s.start(c, left)
		return true, nil
	}
	if s.d == 0 {
		s.d = node.Infinity
	}
	err = s.filter.Deliver(c, Timeout{})
	if err == node.ErrUnhandled {
		err = nil
	}
	s.Received(c, err)
	return true, err
}

// Received is part of filter.Part.
func (s *silence) Received(c *node.Context, err error) {
	switch {
	case s.d == node.Infinity:
		if s.current != nil {
			s.callOff()
		}
	case err == nil:
		s.since = s.now()
		if s.current == nil {
			s.start(c, s.d)
		}
	}
}

// Needed is part of filter.Part.
func (s *silence) Needed() bool { return s.d != node.Infinity || s.current != nil || s.late > 0 }
