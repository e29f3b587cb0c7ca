package links

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/dist"
)

// MessageWriter is optional for a link: Write for an OpSend from one process to another,
// without a Frame.
type MessageWriter interface {
	Send(from, to wire.PID, msg any) (buffered int, err error)
	// SendBytes is Send for a binary that is copied before SendBytes returns. It is for
	// short ones between processes that have exchanged messages before. taken reports whether
	// it is such a one; if not, nothing has happened, and Send takes it.
	SendBytes(from, to wire.PID, b []byte) (buffered int, taken bool)
}

// LookAhead is optional for a link: More reports whether Read is sure to return
// without waiting for the peer. It is for the goroutine that reads.
type LookAhead interface{ More() bool }

// BatchReader is optional for a link: Batch puts the binaries that are sent to a
// process next into msgs and returns how many messages that are, at most len(msgs). It
// does not wait, and stops before anything else, a message with more to it
// included, which Read returns. It is for the goroutine that reads, after an OpSend to that
// process.
type BatchReader interface {
	Batch(to wire.PID, msgs []any) int
}

// LongLimiter is optional for a link that bounds how many long messages are under way: LongFull reports
// whether Write would answer ErrLong to another. It is for the goroutine that calls Flush.
type LongLimiter interface{ LongFull() bool }

// ErrLong is the dist.ErrLater that Write answers to a long message while as many as may be are under way: until
// Flush has sent the last part of one of these, no other long message is taken, from any sender.
var ErrLong = fmt.Errorf("%w, or too many of other senders", dist.ErrLater)

// TryFlusher is optional for a link: Try is Flush(false) for the goroutine that has just
// written, even while another calls Flush: it sends what the
// connection takes at once, and does not wait. If more is true, something is left, or an
// error has come up, and Flush must be called.
type TryFlusher interface{ Try() (more bool) }

// BusyReader is optional for a link: Await busy-waits up to d for input and reports
// whether any arrived. between, if not nil, is called between polls, and may prolong the
// wait by one call. It is for the goroutine that reads.
type BusyReader interface {
	Await(d time.Duration, between func()) (came bool)
}

// Requester is optional for a link: Requests reports whether the Payload of an OpSend may be a
// [*Request] or a [*Reply], which Read returns, too. What Read returns is good until the next Read.
type Requester interface{ Requests() bool }

// Request is the Payload of an OpSend from a process to another, or to a name: that is an
// OpMonitor with Ref, and then the message {'$gen_call', {From, [alias|Ref]}, Body}.
type Request struct {
	Ref  wire.Ref
	Body any
}

// Reply is the Payload of an OpSend to the alias Ref, by the node of the process that a Request
// with that Ref was for: that is the message {[alias|Ref], Value}, and the end of the monitor, so
// that no OpDemonitor follows.
type Reply struct{ Value any }

// WithTerm puts the term that a message carries into its payload, if that is a [*Request] or a [*Reply], and returns the
// payload; else the term is the payload.
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

// Checker is optional for a link: Check returns the error that Write would return because of what
// is in a message, a [*wire.EncodeError], and sends nothing. It is for a message that is
// to be written later. Any goroutine may call it. A protocol that is a Checker says it for links whose peer is not known
// yet: what it refuses can be sent to no peer.
type Checker interface {
	Check(to wire.Dest, msg any) error
}

// Counter is optional for a link, for monitoring. Any goroutine may call it.
type Counter interface {
	// Gauge returns how many signals have been written in all, and how many bytes
	// wait for Flush.
	Gauge() (written uint64, waiting int)
}

// Progress is optional for a link, to see whether the peer takes what is sent to it. Any
// goroutine may call it, and it waits for nothing.
type Progress interface {
	// Taken returns how many bytes the connection has taken, without ticks where
	// they can be distinguished, and how many of these the peer's system has not taken, as
	// far as that is known. steady is false while nothing follows if that stays the
	// same: there is no connection for the moment, or perhaps it has broken and the link
	// is about to find that out.
	Taken() (sent uint64, unsent int, steady bool)
}

// Explainer is optional for a link: Explain sends the peer the reason for which Close is
// about to be called, if the peer still takes it, and returns within 1 s. Other calls may
// fail from then on.
type Explainer interface{ Explain(why string) }

// Chooser is optional for a transport: it dials in another way for some protocols.
type Chooser interface {
	DialFor(ctx context.Context, protocol, addr string, peer wire.Atom) (net.Conn, error)
}

// Tails is optional for a dist.Budget: it counts what a session keeps until its peer has acknowledged it. Any goroutine may
// call it.
type Tails interface {
	// TailChanged is told that a session keeps so many bytes now, and kept was before.
	TailChanged(was, now int)
	// TailRoom returns how many bytes a session may keep for now that may keep most.
	TailRoom(most int) int
}

// Hosted is optional for a link: SetHost says which node, a *node.Node, reads from it, so that
// references to what lives on nodes can be made: see termof.References. It is for the goroutine that
// reads, before the first Read.
type Hosted interface{ SetHost(n any) }

// ForPeers is optional for the Values of package erldist: two nodes that have it tell each other the shapes of their
// Go types.
type ForPeers interface{ ForPeer() PeerValues }

// PeerValues are the Go values that are sent to one peer. Any goroutine may call the methods.
type PeerValues interface {
	// Append is that of the Values. It fails for a value of a type that has another shape at the peer, as far as that
	// has been told.
	Append(dst []byte, value any) ([]byte, error)
	// AppendShape appends what the peer is told of the nth type, from 0, or nothing if that is too long. more: there is
	// an nth type.
	AppendShape(dst []byte, n int) (_ []byte, more bool)
	// Put takes what AppendShape of the peer has appended for a type. How much is kept is bounded.
	Put(shape []byte) error
}

// Unreadable is what Read returns in the place of what a signal carries, of the Body of a [*Request], or of the Value
// of a [*Reply], if all bytes of that are there and it cannot be taken: it is beyond a limit, or refers to what is not in
// it. The link goes on. Of a spawn request it is the Payload.
type Unreadable struct {
	Err error // says why
	// Term is what could be read. Of a tuple of 2 or 3 elements those that cannot be read may be nil: so whoever has made
	// a call can be told.
	Term any
}

// Error says why.
func (u *Unreadable) Error() string { return u.Err.Error() }

// Unwrap returns Err.
func (u *Unreadable) Unwrap() error { return u.Err }

// UnreadableIn returns what the payload of a frame has in the place of what cannot be taken, nil: it has nothing of the kind.
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

// ErrResumed is what Accept of a protocol with sessions returns for a connection that goes on as
// part of a link that is there already.
var ErrResumed = errors.New("dist: the connection resumed an interrupted link")
