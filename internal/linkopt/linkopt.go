// Package linkopt has the interfaces that links of the protocols of this module have beside
// those of package dist, so that a node writes and reads faster and sees more. A link
// without them works. A node asks once for each when the connection is made.
//
//   - [MessageWriter], [TryFlusher]: faster ways to write.
//   - [LookAhead], [BatchReader], [BusyReader]: faster ways to read.
//   - [Counter], [Progress]: what is told of a link.
//
// It has no state and starts no goroutine. Each method says which goroutine may call it.
package linkopt

import (
	"time"

	"github.com/actornode/actornode/wire"
)

// MessageWriter is what a link may have beside: Write for an OpSend from one process to
// another, without a Frame.
type MessageWriter interface {
	Send(from, to wire.PID, msg any) (buffered int, err error)
	// SendBytes is Send for a binary that is copied before SendBytes returns. It is for
	// short ones, and those from and to whom messages have gone: taken says whether this
	// is such a one; if not, nothing has happened, and Send takes it.
	SendBytes(from, to wire.PID, b []byte) (buffered int, taken bool)
}

// LookAhead is what a link may have beside: More reports whether Read is sure to return
// without waiting for the peer. It is for the goroutine that reads.
type LookAhead interface{ More() bool }

// BatchReader is what a link may have beside: Batch puts the binaries that are sent to a
// process next into msgs and returns how many messages that are, at most len(msgs). It
// does not wait, and stops before whatever else comes, a message with more to it
// included: that is Read's. It is for the goroutine that reads, after an OpSend to that
// process.
type BatchReader interface {
	Batch(to wire.PID, msgs []any) int
}

// TryFlusher is what a link may have beside: Try is Flush(false) for whoever has just
// written, on any goroutine and beside the one that calls Flush: it sends what the
// connection takes at once, and does not wait. more: something is left, or something is
// wrong, and Flush must be called.
type TryFlusher interface{ Try() (more bool) }

// BusyReader is what a link may have beside: Await busy-waits up to d for input and reports
// whether any arrived. between, if not nil, is called between polls, and may prolong the
// wait by one call. It is for the goroutine that reads.
type BusyReader interface {
	Await(d time.Duration, between func()) (came bool)
}

// Counter is what a link may have beside, for those who watch. Any goroutine may call
// it.
type Counter interface {
	// Gauge returns how many signals have been written in all, and how many bytes
	// wait for Flush.
	Gauge() (written uint64, waiting int)
}

// Progress is what a link may have beside, for those who look whether the peer takes what
// is sent to it. Any goroutine may call it, and it waits for nothing.
type Progress interface {
	// Taken returns how many bytes the connection has taken, without ticks where
	// they can be told apart, and how many of these the peer's system has not taken, as
	// far as that is known. steady is false while nothing follows if that stays the
	// same: there is no connection for the moment, or perhaps it has broken and the link
	// is about to find that out.
	Taken() (sent uint64, unsent int, steady bool)
}
