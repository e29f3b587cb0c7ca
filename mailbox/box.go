package mailbox

import "context"

// Box is a mailbox that a user supplies in place of the default mailbox. A bounded
// mailbox is one. Any goroutine may call Push, Len and Close; only the reader calls
// Pop and Done.
//
// A Box starts awake: the reader will look without a wake-up. It becomes armed when Pop
// finds nothing; the first Push after that answers Wake, the others Queued.
//
// Pop and Done are called while the reader's stage is held, and Len may be: they must be
// quick, and must not wait for anything that a send holds. Observers of the process call Len,
// too, at any time.
type Box interface {
	// Push adds a message and reports the outcome.
	Push(msg any) Result
	// Pop removes and returns the next message; false, and the box is armed, if
	// there is none.
	Pop() (msg any, ok bool)
	// Done says that the reader has handled a message that it popped: until
	// then the message counts towards a bound.
	Done()
	// Len returns the number of messages that count.
	Len() int
	// Close refuses later messages, and ends the wait of senders that wait until a message fits.
	Close()
}

// Forcer is a Box that takes a message past its bound: an exit signal or a Down,
// of which a process gets no more than it has links and monitors.
type Forcer interface {
	// Force is a Push that never answers Full.
	Force(msg any) Result
}

// Waiter is a Box that can make its senders wait instead of answering Full.
type Waiter interface {
	// Blocks reports whether a sender that gets Full should wait.
	Blocks() bool
	// PushWait is Push for a sender that waits until msg fits. It answers anything but Full; or, if ctx
	// ends before msg is in the box, the cause of that. Senders should get in in the order in which they came.
	PushWait(ctx context.Context, msg any) (Result, error)
}
