package runner

import (
	"time"

	"github.com/actornode/actornode/internal/mailbox/inbox"
)

// begin is where a receive starts to scan: at the oldest message if it is zero.
//
// A receive does not check messages that it would skip again. There are two ways to know these. A mark restricts the receive
// to younger messages. And a receive that only checks the type of a message skips what the previous one has skipped, if that
// checked the same type: the cursor of the queue is behind those. Other functions cannot be compared, and one that has
// skipped a message may want it later, because of what it has seen meanwhile.
type begin struct {
	mark *inbox.Position // start behind it; if nil, at the oldest message
	kind any             // the same for all receives that match the same messages, whenever they check; nil if unknown
}

// seek moves the cursor to the start of a receive. The caller owns the queue.
//
// The short receives rewind the cursor, and do not skip anything: what a kind implies about the messages before the cursor
// stays true.
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

// ReceiveKind is ReceiveMatch for a match of a kind: see begin.
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
		s.QueueMu.Lock()
		defer s.QueueMu.Unlock()
	}
	if !p.Boxed { // the number of messages taken from a box is its user's affair
		p.Refill()
	}
	return w.ends.End(&p.Queue)
}

// ReceiveBehind is ReceiveWithin for messages received after mark.
func (s *Blocking) ReceiveBehind(mark *inbox.Position, d time.Duration, match func(any) bool) (any, error) {
	m, err := s.receive(match, d, begin{mark: mark})
	s.ended(err)
	return m, err
}
