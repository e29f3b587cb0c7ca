package main

import (
	"fmt"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// sent is the record of a sent number.
type sent struct {
	up    bool
	downs int
}

const remembered = 1 << 16

// sender sends numbers to the echo server of a target, which sends them back.
type sender struct {
	t       *target
	pace    due
	first   time.Time
	name    int
	payload []byte

	next, want int // the next number to send, the lowest that may still return
	history    [remembered]sent
	gaps       []gap // not evaluated yet
}

// gap is a range of numbers that have not returned. It is evaluated later, since the end of a connection may become known
// only after messages of the next one.
type gap struct {
	from, to int // excluding to
	was      sent
	at       time.Time
}

const judgeAfter = 2 * time.Second

type tick struct{}

func (s *sender) Init(c *node.Context) error {
	_, err := c.SendInterval(pace, c.Self(), tick{})
	return err
}

func (s *sender) Receive(c *node.Context, msg any) error {
	switch m := msg.(type) {
	case tick:
		return s.send(c)
	case wire.Tuple: // {EchoPid, {Number, Payload}}
		s.back(m)
	default:
		return fmt.Errorf("sender %d got %v, which nobody sends", s.name, m)
	}
	return nil
}

// send sends what is due.
//
//actornode:blocks the lock of a target is held for a moment
func (s *sender) send(c *node.Context) error {
	n, skipped := s.pace.now(time.Now())
	s.t.mu.Lock()
	now := sent{s.t.up, s.t.downs}
	s.t.report.Skipped += skipped
	s.judge()
	s.t.report.Sent += n
	s.t.mu.Unlock()
	for range n {
		s.history[s.next%remembered] = now
		if err := c.Send(s.t.echo, wire.Tuple{c.Self(), wire.Tuple{s.next, s.payload}}); err != nil {
			return err
		}
		s.next++
	}
	return nil
}

// back checks a returned number.
func (s *sender) back(m wire.Tuple) {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	r := &s.t.report
	var got int64
	if inner, ok := m[len(m)-1].(wire.Tuple); ok && len(inner) == 2 {
		got, ok = wire.AsInt(inner[0])
		if payload, is := inner[1].([]byte); !ok || !is || len(payload) != len(s.payload) {
			r.Wrong++
			s.t.violation("sender %d got %v", s.name, m)
			return
		}
	}
	number := int(got)
	switch {
	case number >= s.next:
		r.Wrong++
		s.t.violation("sender %d got %d, which it has not sent", s.name, number)
		return
	case number == s.want-1:
		r.Doubled++
		s.t.violation("sender %d got %d twice", s.name, number)
		return
	case number < s.want:
		r.Reordered++
		s.t.violation("sender %d got %d after %d", s.name, number, s.want-1)
		return
	}
	r.Back++
	if r.FirstBack.IsZero() {
		r.FirstBack = time.Now()
	}
	for s.want < number {
		from, was := s.want, s.history[s.want%remembered]
		for ; s.want < number && s.history[s.want%remembered] == was; s.want++ {
		}
		r.Lost += s.want - from
		if was.up && s.next-from < remembered {
			s.gaps = append(s.gaps, gap{from, s.want, was, time.Now()})
		}
	}
	s.want = number + 1
}

// judge checks whether the connections of the gaps have ended. s.t.mu is held.
func (s *sender) judge() {
	for len(s.gaps) > 0 && time.Since(s.gaps[0].at) > judgeAfter {
		g := s.gaps[0]
		s.gaps = s.gaps[1:]
		if g.was.downs == s.t.downs {
			s.t.report.LostWithout += g.to - g.from
			s.t.violation("sender %d: %d to %d are missing though the connection has not ended", s.name, g.from, g.to-1)
		}
	}
}
