package deadletter

import (
	"time"

	"github.com/actornode/actornode/wire"
)

// Letter is a message that could not be delivered. One of To, Name and Alias says whom it
// was for.
type Letter struct {
	Cause   Cause
	To      wire.PID
	Name    wire.Atom
	Alias   wire.Ref
	Node    wire.Atom // of another node: which one; "": it was for a process of this one
	Message any
	Why     error // NotConnected, NotATerm: more about the cause; nil: not known
	At      time.Time
}

// Stream is a view of the dead letters from the time it was opened.
type Stream struct {
	C      <-chan Letter // closed by Close and by the node's stop
	missed func() uint64
	end    func()
}

// NewStream returns a Stream that reads c. missed counts what did not fit into c, and end closes it.
func NewStream(c <-chan Letter, missed func() uint64, end func()) *Stream {
	return &Stream{C: c, missed: missed, end: end}
}

// Missed returns how many dead letters did not fit into the stream's buffer.
func (s *Stream) Missed() uint64 { return s.missed() }

// Close ends the stream. What is in C can still be read.
func (s *Stream) Close() { s.end() }
