package links

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// MessageWriter is optional for a link: Write for an OpSend from one process to another,
// without a Frame.
type MessageWriter interface {
	Send(from, to wire.PID, msg any) (buffered int, err error)
	// SendBytes is Send for a binary, which it copies before it returns. It is for short binaries between processes that
	// have exchanged messages before. If taken is false, it has done nothing, and Send must be used.
	SendBytes(from, to wire.PID, b []byte) (buffered int, taken bool)
}

// LookAhead is optional for a link: More reports whether Read will certainly return without waiting for the peer. It is for
// the reading goroutine.
type LookAhead interface{ More() bool }

// BatchReader is optional for a link: Batch puts the next binaries for a process into msgs and returns their number, at
// most len(msgs). It does not wait, and stops before any other frame, including messages with further fields, which Read
// returns. It is for the reading goroutine, after an OpSend to that process.
type BatchReader interface {
	Batch(to wire.PID, msgs []any) int
}

// LongLimiter is optional for a link that limits the number of concurrent long messages: LongFull reports whether Write
// would return ErrLong for another one. It is for the goroutine that calls Flush.
type LongLimiter interface{ LongFull() bool }

// ErrLong is the dist.ErrLater that Write returns for a long message while the maximum number is being sent: until Flush
// has sent the last part of one of these, no other long message is accepted from any sender.
var ErrLong = fmt.Errorf("%w, or too many of other senders", dist.ErrLater)

// TryFlusher is optional for a link: Try is Flush(false) for the goroutine that has just written, even while another calls
// Flush: it sends the data that the connection accepts at once, without waiting. If more is true, data is left, or an error
// has occurred, and Flush must be called.
type TryFlusher interface{ Try() (more bool) }

// BusyReader is optional for a link: Await busy-waits up to d for input and reports
// whether any arrived. between, if not nil, is called between polls, and may prolong the
// wait by one call. It is for the goroutine that reads.
type BusyReader interface {
	Await(d time.Duration, between func()) (came bool)
}

// Requester is optional for a link: Requests reports whether the Payload of an OpSend may be a
// [*Request] or a [*Reply], which Read returns, too. The result of Read is valid until the next Read.
type Requester interface{ Requests() bool }

// Request is the Payload of an OpSend from a process to another, or to a name. It means an OpMonitor with Ref, followed by
// the message {'$gen_call', {From, [alias|Ref]}, Body}.
type Request struct {
	Ref  wire.Ref
	Body any
	// Wait is how long the caller will wait for the reply, from 1 ms to MostWait; 0: that is unknown, or longer. It is sent in
	// ms, rounded up, to a peer that reads it.
	Wait time.Duration
}

// MostWait is the longest Wait of a Request: an int of 32 bits, in ms.
const MostWait = math.MaxInt32 * time.Millisecond

// WaitMillis returns the Wait of a Request as it is sent.
func WaitMillis(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// ReadWait returns the Wait of a Request that was sent as ms.
func ReadWait(ms uint64) (time.Duration, error) {
	if ms == 0 || ms > uint64(MostWait/time.Millisecond) {
		return 0, fmt.Errorf("a caller that waits for %d ms", ms)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// Reply is the Payload of an OpSend to the alias Ref, by the node of the receiver of the Request with that Ref. It means
// the message {[alias|Ref], Value}, and ends the monitor, so that no OpDemonitor follows.
type Reply struct{ Value any }

// WithTerm stores term in payload, if that is a [*Request] or a [*Reply], and returns payload; otherwise it returns term.
func WithTerm(payload, term any) any {
	switch p := payload.(type) {
	case *Request:
		p.Body = term
	case *Reply:
		p.Value = term
	default:
		return term
	}
	return payload
}

// Checker is optional for a link: Check returns the [*wire.EncodeError] that Write would return because of a message's
// contents, without sending it. It is for messages that will be written later. Any goroutine may call it. A protocol that
// is a Checker checks for links whose peer is not known yet: a refused message cannot be sent to any peer.
type Checker interface {
	Check(to wire.Dest, msg any) error
}

// Counter is optional for a link, for monitoring. Any goroutine may call it.
type Counter interface {
	// Gauge returns the total number of signals written, and the number of bytes that wait for Flush.
	Gauge() (written uint64, waiting int)
}

// Progress is optional for a link, to observe whether the peer reads. Any goroutine may call it; it does not block.
type Progress interface {
	// Taken returns the number of bytes that the connection has accepted, without ticks if they can be distinguished, and
	// how many of these the peer's system has not received, if known. If steady is false, unchanged numbers mean nothing:
	// there is currently no connection, or it may have broken and the link is about to notice that.
	Taken() (sent uint64, unsent int, steady bool)
}

// Explainer is optional for a link: Explain sends the peer the reason for the following Close, if the peer still reads, and
// returns within 1 s. Other calls may fail from then on.
type Explainer interface{ Explain(why string) }

// Chooser is optional for a transport: it dials differently for some protocols.
type Chooser interface {
	DialFor(ctx context.Context, protocol, addr string, peer wire.Atom) (net.Conn, error)
}

// Tails is optional for a dist.Budget: it counts the unacknowledged bytes that sessions keep. Any goroutine may call it.
type Tails interface {
	// TailChanged reports that a session keeps now bytes, and kept was bytes before.
	TailChanged(was, now int)
	// TailRoom returns the number of bytes that a session with the limit most may currently keep.
	TailRoom(most int) int
}

// Hosted is optional for a link: SetHost sets the *peers.Peer that reads from it, so that references to objects of nodes can
// be made: see termof.References. It is for the reading goroutine, before the first Read.
type Hosted interface{ SetHost(n any) }

// Unreadable replaces the payload of a signal, the Body of a [*Request], or the Value of a [*Reply], if all its bytes are
// present but it cannot be read: it exceeds a limit, or does not fit a type. The link can continue. For a spawn request it
// is the Payload.
type Unreadable struct {
	Err error // the reason
	// Term is the readable part. In a tuple of 2 or 3 elements, unreadable elements may be nil, so that the caller of a
	// request can be notified.
	Term any
}

// Error returns the text of Err.
func (u *Unreadable) Error() string { return u.Err.Error() }

// Unwrap returns Err.
func (u *Unreadable) Unwrap() error { return u.Err }

// UnreadableIn returns the Unreadable in the payload of a frame, or nil.
func UnreadableIn(payload any) *Unreadable {
	switch m := payload.(type) {
	case *Unreadable:
		return m
	case *Request:
		payload = m.Body
	case *Reply:
		payload = m.Value
	default:
		return nil
	}
	u, _ := payload.(*Unreadable)
	return u
}

// ErrResumed is returned by Accept of a protocol with sessions if the connection resumes an existing link.
var ErrResumed = errors.New("dist: the connection resumed an interrupted link")
