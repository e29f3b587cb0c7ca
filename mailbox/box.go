package mailbox

import "context"

// Box is a mailbox that a user supplies instead of the default one. A bounded mailbox is a Box. Any goroutine may call
// Push, Len and Close; only the reader calls Pop and Done.
//
// A Box starts awake: the reader will call Pop without a wake-up. It becomes armed when Pop finds nothing; the first Push
// after that returns Wake, the others Queued.
//
// Pop and Done, and sometimes Len, are called while the reader's stage is held: they must be quick, and must not wait for
// anything that a send holds. Observers of the process may call Len at any time.
type Box interface {
	// Push adds a message and reports the outcome.
	Push(msg any) Result
	// Pop removes and returns the next message. If there is none, it arms the box and returns false.
	Pop() (msg any, ok bool)
	// Done reports that the reader has handled a popped message. Until then the message counts towards the limits.
	Done()
	// Len returns the number of messages that count.
	Len() int
	// Close refuses later messages and releases senders that wait for space.
	Close()
}

// Forcer is a Box that can accept a message beyond its limits: an exit signal or a Down. A process gets no more of these
// than it has links and monitors.
type Forcer interface {
	// Force is a Push that never returns Full.
	Force(msg any) Result
}

// Waiter is a Box whose senders can wait instead of getting Full.
type Waiter interface {
	// Blocks reports whether a sender that gets Full should wait.
	Blocks() bool
	// PushWait is Push for a sender that waits until msg fits. It returns any Result except Full, or the cause of ctx's end
	// if ctx ends before msg is in the box. Senders should be served in order of arrival.
	PushWait(ctx context.Context, msg any) (Result, error)
}
