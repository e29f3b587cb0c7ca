package admission

import (
	"errors"
	"sync/atomic"
	"time"
)

// Shed decides what is refused by a node that is short of memory: all that other nodes want
// to start, and all connections but one a second, so that an operator can look at the node.
// Its zero value refuses nothing. It may be used from anywhere.
type Shed struct {
	on      atomic.Bool
	refused atomic.Uint64
	last    atomic.Int64 // when a connection was let in last, in seconds since 1970
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
var ErrShort = errors.New("node: this node is short of memory and accepts only one new connection a second")

// Room returns why a node that wants to connect, and has proved nothing yet, is
// refused; nil: it is not.
func (s *Shed) Room(now time.Time) error {
	if !s.on.Load() || s.last.Load() != now.Unix() {
		return nil
	}
	s.refused.Add(1)
	return ErrShort
}

// Take lets a node in that has proved who it is, or returns why not.
func (s *Shed) Take(now time.Time) error {
	last, second := s.last.Load(), now.Unix()
	if !s.on.Load() || last != second && s.last.CompareAndSwap(last, second) {
		return nil
	}
	s.refused.Add(1)
	return ErrShort
}
