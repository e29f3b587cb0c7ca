package limits

import (
	"errors"
	"sync/atomic"
	"time"
)

// Shed decides what is refused by a node that is short of memory: all that other nodes want
// to start, and all connections but one a second from other machines, and some more from this one, so that an operator
// can look at the node. Its zero value refuses nothing. It may be used from anywhere.
type Shed struct {
	on      atomic.Bool
	refused atomic.Uint64

	other, here turn // connections from other machines, and from this one
}

// Connections that are let in within a second, while memory is short. What runs on the machine itself, such as the command
// line, has places of its own: peers that come again and again from elsewhere do not take them.
const (
	otherPerSecond = 1
	herePerSecond  = 8
)

// turn counts what was let in within one second: the second since 1970 in the upper bits, and how many in the lower.
type turn struct{ v atomic.Int64 }

const turnBits = 8

func (t *turn) count(second int64) int64 {
	if v := t.v.Load(); v>>turnBits == second {
		return v & (1<<turnBits - 1)
	}
	return 0
}

func (t *turn) take(second, most int64) bool {
	for {
		v, n := t.v.Load(), t.count(second)
		if n >= most {
			return false
		}
		if t.v.CompareAndSwap(v, second<<turnBits|(n+1)) {
			return true
		}
	}
}

// Set says whether the node is short of memory.
func (s *Shed) Set(on bool) { s.on.Store(on) }

// State returns what was set, and how often something has been refused for it.
func (s *Shed) State() (on bool, refused uint64) { return s.on.Load(), s.refused.Load() }

// Refuses reports whether something that another node wants to start is refused.
func (s *Shed) Refuses() bool {
	if !s.on.Load() {
		return false
	}
	s.refused.Add(1)
	return true
}

// ErrShort is why a connection is refused.
var ErrShort = errors.New("node: this node is short of memory and accepts only few new connections a second")

// Room returns why a node that wants to connect, and has proved nothing yet, is
// refused; nil: it is not. here: it is on this machine.
func (s *Shed) Room(now time.Time, here bool) error {
	t, most := s.turn(here)
	if !s.on.Load() || t.count(now.Unix()) < most {
		return nil
	}
	s.refused.Add(1)
	return ErrShort
}

// Take lets a node in that has proved who it is, or returns why not.
func (s *Shed) Take(now time.Time, here bool) error {
	t, most := s.turn(here)
	if !s.on.Load() || t.take(now.Unix(), most) {
		return nil
	}
	s.refused.Add(1)
	return ErrShort
}

func (s *Shed) turn(here bool) (t *turn, most int64) {
	if here {
		return &s.here, herePerSecond
	}
	return &s.other, otherPerSecond
}
