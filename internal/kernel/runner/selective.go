package runner

import (
	"time"

	"github.com/actornode/actornode/internal/mailbox/inbox"
)

// begin is where a receive begins to look: at the oldest message, if it is zero.
//
// A receive does not look at what it would leave again. Two things say what that is. A mark says that
// the receive is for what is younger. And a receive that asks for the type of a message alone leaves
// what the one before it has left, if that has asked for the same type: the cursor of the queue stands
// behind that. Other functions cannot be told apart, and one that has left a message may want it
// later, because of what it has seen meanwhile.
type begin struct {
	mark *inbox.Position // behind it; nil: at the oldest message
	kind any             // the same for all receives that want the same of a message, whenever they look at it; nil: it is not known
}

// seek puts the cursor where a receive begins. The caller owns the queue.
//
// The short receives rewind the cursor, and do not pass over anything: what a kind says of the
// messages in front of the cursor stays true.
func (s *Blocking) seek(from begin) {
	w := s.waits
	switch {
	case w == nil:
	case from.kind != nil && w.kind == from.kind:
		return
	default:
		w.kind = from.kind
	}
	if from.mark != nil {
		s.Own.Queue.Seek(from.mark)
	} else {
		s.Own.Queue.Rewind()
	}
}

// ReceiveKind is ReceiveMatch for a match that is of a kind: see begin.
func (s *Blocking) ReceiveKind(match func(any) bool, kind any) any {
	m, err := s.ReceiveKindWithin(Infinity, match, kind)
	if err != nil {
		return s.die()
	}
	return m
}

// ReceiveKindWithin is ReceiveKind with a timeout.
func (s *Blocking) ReceiveKindWithin(d time.Duration, match func(any) bool, kind any) (any, error) {
	m, err := s.receive(match, d, begin{kind: kind})
	s.ended(err)
	if s.waits == nil && s.Own.Queue.Passed() {
		s.prepare().kind = kind
	}
	return m, err
}

// Mark returns the end of the mailbox.
func (s *Blocking) Mark() (end *inbox.Position) {
	p, w := &s.Own, s.prepare()
	if s.Coroutine != nil {
		s.enter()
		defer s.Worker.Leave()
	} else {
		s.Bias.Enter()
		defer s.Bias.Leave()
	}
	if !p.Boxed { // how many messages a box has given out is its user's affair
		p.Refill()
	}
	return w.ends.End(&p.Queue)
}

// ReceiveBehind is ReceiveWithin for what has come since a mark.
func (s *Blocking) ReceiveBehind(mark *inbox.Position, d time.Duration, match func(any) bool) (any, error) {
	m, err := s.receive(match, d, begin{mark: mark})
	s.ended(err)
	return m, err
}
