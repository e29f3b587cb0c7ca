package node

import (
	"time"
	"unsafe"

	"github.com/actornode/actornode/internal/kernel/runner"
)

// Process is a process as its own blocking code sees it: the argument of a
// [ProcessFunc], or a handle that any goroutine got from [Node.Open]. It belongs to
// one goroutine.
type Process struct {
	own runner.Blocking // first: see function.Run, and process.Process for the cache lines
	core
}

// function is the code of a Process as its runner knows it.
type function ProcessFunc

// Run is part of body. s is the first field of a Process, and so has its address. A field for that would make a Process
// larger than a size that the allocator aligns to cache lines.
func (f function) Run(s *runner.Blocking) error { return f((*Process)(unsafe.Pointer(s))) }

// Close ends a handle with a reason; nil is normal. Open handles end with the
// node at the latest.
func (s *Process) Close(reason any) {
	if reason == nil {
		reason = Normal
	}
	s.own.Close(reason)
}

// Infinity is the timeout that never runs out.
const Infinity time.Duration = runner.Infinity

// Receive takes the oldest message, waiting for one if need be. If the process
// is killed, a Process's goroutine is unwound, its deferred calls included; a
// handle gets [Exited] with its own PID.
func (s *Process) Receive() any { return s.own.Receive() }

// ReceiveMatch takes the oldest message for which match returns true; the others stay, in order. match must not use s.
func (s *Process) ReceiveMatch(match func(any) bool) any { return s.own.ReceiveMatch(match) }

// ReceiveWithin is Receive, or ReceiveMatch if match is not nil, with a timeout: [ErrTimeout] after d. With d = 0 it
// looks only at what is in the mailbox already; [Infinity] waits for ever; d < 0 is [ErrArgument].
func (s *Process) ReceiveWithin(d time.Duration, match func(any) bool) (any, error) {
	return s.own.ReceiveWithin(d, match)
}

// Mark marks the end of the mailbox, and returns a receive that begins there: [Process.ReceiveWithin] for a message
// that has come since. It does not look at what waits already: the answer to what is sent after Mark costs the same
// whether 10 messages wait or 1,000,000. Call it as often as you like; the mark is forgotten once nothing refers to it.
// Mark before you make the reference, alias or monitor by which you know the message. OTP has no such call: its
// compiler sees that a receive is for a new reference, and marks the mailbox where that is made. In a mailbox with
// Bounds, or of your own, what no receive has looked at yet counts as later.
func (s *Process) Mark() (receive func(d time.Duration, match func(any) bool) (any, error)) {
	mark := s.own.Mark()
	return func(d time.Duration, match func(any) bool) (any, error) { return s.own.ReceiveBehind(mark, d, match) }
}

// ReceiveOf takes the oldest message of type T. If the previous receive was for the same T, it does not look again at
// what that left. ReceiveMatch and ReceiveWithin do: nobody can tell whether two functions are the same, and one may
// want later what it left before.
func ReceiveOf[T any](s *Process) T {
	m, _ := s.own.ReceiveKind(func(m any) bool { _, ok := m.(T); return ok }, (*T)(nil)).(T)
	return m
}

// ReceiveOfWithin is ReceiveOf with a timeout; see [Process.ReceiveWithin].
func ReceiveOfWithin[T any](s *Process, d time.Duration) (T, error) {
	m, err := s.own.ReceiveKindWithin(d, func(m any) bool { _, ok := m.(T); return ok }, (*T)(nil))
	t, _ := m.(T)
	return t, err
}
