package limits

import (
	"errors"
	"sync/atomic"
	"time"
)

// Shed decides what a node that is short of memory refuses: everything that other nodes want to start, and all connections
// except one a second from other machines, and some more from this one, so that an operator can inspect the node. Its zero
// value refuses nothing. It may be used concurrently.
type Shed struct {
	on      atomic.Bool
	refused atomic.Uint64

	other, here turn // connections from other machines, and from this one
}

// Connections accepted per second while memory is short. Programs on the machine itself, such as the command line, have
// places of their own: peers that reconnect again and again from elsewhere do not take them.
const (
	otherPerSecond = 1
	herePerSecond  = 8
)

// turn counts the connections accepted within one second: the Unix time in the upper bits, and the number in the lower.
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

// Set sets whether the node is short of memory.
func (s *Shed) Set(on bool) { s.on.Store(on) }

// State returns what was set, and the number of refusals.
func (s *Shed) State() (on bool, refused uint64) { return s.on.Load(), s.refused.Load() }

// Refuses reports whether something that another node wants to start is refused.
func (s *Shed) Refuses() bool {
	if !s.on.Load() {
		return false
	}
	s.refused.Add(1)
	return true
}

// ErrShort is the reason for refusing a connection.
var ErrShort = errors.New("node: this node is short of memory and accepts only few new connections a second")

// Room returns why a node that wants to connect, and has not proved its identity yet, is refused, or nil. here reports that
// it is on this machine.
func (s *Shed) Room(now time.Time, here bool) error {
	t, most := s.turn(here)
	if !s.on.Load() || t.count(now.Unix()) < most {
		return nil
	}
	s.refused.Add(1)
	return ErrShort
}

// Take accepts a node that has proved its identity, or returns why not.
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
